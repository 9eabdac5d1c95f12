//! What stands in a rules file about one of its rules, for people.

/// A rule as it is written, and what it rests on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// The line, its own comment included.
    pub rule: String,
    /// The comment above the row, or above the rows that it stands among; without the signs.
    pub comment: Vec<String>,
}

/// What line `line` (from 1) of a file in Collie's own format says; `None` if there is no such line.
pub fn evidence(text: &str, line: u32) -> Option<Evidence> {
    let lines: Vec<_> = text.lines().map(str::trim).collect();
    let place = (line as usize).checked_sub(1)?;
    let rule = (*lines.get(place)?).to_owned();
    let is_comment = |line: &&&str| line.starts_with('#');
    let rows = lines[..place].iter().rev().take_while(|line| !line.is_empty() && !line.starts_with('#')).count();
    let above = &lines[..place - rows];
    let mut comment: Vec<_> = above.iter().rev().take_while(is_comment).collect();
    comment.reverse();
    let comment = comment.into_iter().map(|line| line.trim_start_matches('#').trim().to_owned()).collect();
    Some(Evidence { rule, comment })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_comment_above_the_rows() {
        let text = "# head\n\n# one\n# two\nbcast 2 * linear\nbcast * * ring # here\n\nreduce * * linear\n";
        let both = ["one".to_owned(), "two".to_owned()];
        for (line, rule) in [(5, "bcast 2 * linear"), (6, "bcast * * ring # here")] {
            let found = evidence(text, line).unwrap();
            assert_eq!((found.rule.as_str(), &found.comment[..]), (rule, &both[..]));
        }
        assert!(evidence(text, 8).unwrap().comment.is_empty());
        assert_eq!(evidence(text, 9), None);
        assert_eq!(evidence(text, 0), None);
    }
}
