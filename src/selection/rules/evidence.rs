//! What stands in a rules file about one of its rules, for people.

use super::learned::{Learned, MARK, is_head};

/// A rule as it is written, and what it rests on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    /// The line, its own comment included.
    pub rule: String,
    /// The comment above the row, or above the rows that it stands among; without the signs.
    pub comment: Vec<String>,
    /// What was learned of the calls, where the row stands right below that.
    pub learned: Vec<Learned>,
}

/// What line `line` (from 1) of a file in Collie's own format says; `None` if there is no such line.
pub fn evidence(text: &str, line: u32) -> Option<Evidence> {
    let lines: Vec<_> = text.lines().map(str::trim).collect();
    let place = (line as usize).checked_sub(1)?;
    let rule = (*lines.get(place)?).to_owned();
    let is_comment = |line: &&str| line.starts_with('#');
    let rows = lines[..place].iter().rev().take_while(|line| !line.is_empty() && !line.starts_with('#')).count();
    let above = &lines[..place - rows];
    let start = above.iter().rposition(|line| !is_comment(line)).map_or(0, |last| last + 1);
    let comment = &above[start..];
    let (learned, comment): (Vec<&str>, Vec<&str>) = comment.iter().partition(|line| line.starts_with(MARK));
    // What the file of what was learned begins with is about no rule, and what was learned is about one.
    let head = if learned.is_empty() { None } else { comment.iter().rposition(|line| is_head(line)) };
    let comment = comment[head.map_or(0, |last| last + 1)..].iter();
    let learned = learned.iter().filter(|_| rows == 0).filter_map(|line| Learned::read(line));
    let comment = comment.map(|line| line.trim_start_matches('#').trim().to_owned()).collect();
    Some(Evidence { rule, comment, learned: learned.collect() })
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

    #[test]
    fn what_was_learned_is_read_and_the_head_of_the_file_is_no_evidence() {
        let learned = "#: {\"machine\":\"a\",\"mpi\":\"An MPI\",\"date\":\"2026-11-22\",\"function\":\"MPI_Bcast\",\
            \"bytes_from\":8,\"bytes_to\":15,\"commutative\":true,\"ranks\":4,\"nodes\":1,\"most_on_node\":4,\
            \"oversubscribed\":false,\"algorithm\":\"linear\",\"calls\":3,\"candidates\":[]}";
        let head = "# operation ranks      bytes          algorithm\n";
        let text = format!("{head}# mine\n{learned}\n{learned}\nbcast 4 8-15 linear\nbcast 4 16 linear\n");
        let found = evidence(&text, 5).unwrap();
        assert_eq!((found.learned.len(), found.learned[0].calls, found.comment), (2, 3, vec!["mine".to_owned()]));
        assert_eq!(evidence(&text, 6).unwrap().learned, []);
        // Elsewhere such a line is a comment like others.
        assert_eq!(evidence(&format!("{head}bcast 4 8 linear\n"), 2).unwrap().comment.len(), 1);
    }
}
