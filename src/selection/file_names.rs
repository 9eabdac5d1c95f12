//! Names of files with placeholders for what tells jobs apart.

/// What users may write, and what stands there then.
pub const ACCEPTED: &str = "%p process of rank 0, %j job, %h host, %t start time, %x program, %% a percent sign";

/// Whether every `%` in `text` begins something that is known.
///
/// # Errors
/// What is not, and what is accepted.
pub fn check(text: &str) -> Result<(), String> {
    for placeholder in Parts(text).filter_map(Result::err) {
        if !matches!(placeholder, Some('p' | 'j' | 'h' | 't' | 'x' | '%')) {
            let found: String = std::iter::once('%').chain(placeholder).collect();
            return Err(format!("'{text}': '{found}' is not a placeholder; accepted: {ACCEPTED}"));
        }
    }
    Ok(())
}

/// Puts in what `value` gives for each placeholder's letter. What would lead into another folder, or read badly in a
/// name, becomes a hyphen.
pub fn expand(text: &str, value: impl Fn(char) -> String) -> String {
    let mut name = String::new();
    for part in Parts(text) {
        match part {
            Ok(plain) => name.push(plain),
            Err(Some('%') | None) => name.push('%'),
            Err(Some(letter)) => {
                let accepted = |character: char| character.is_alphanumeric() || "._-@".contains(character);
                name.extend(value(letter).chars().map(|character| if accepted(character) { character } else { '-' }));
            }
        }
    }
    name
}

/// Characters of a name, and in place of each `%` and what follows it an error with that.
struct Parts<'a>(&'a str);

impl Iterator for Parts<'_> {
    type Item = Result<char, Option<char>>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut characters = self.0.chars();
        let first = characters.next()?;
        let part = if first == '%' { Err(characters.next()) } else { Ok(first) };
        self.0 = characters.as_str();
        Some(part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_give_way_to_values() {
        let value = |letter| match letter {
            'p' => "4711".to_owned(),
            'j' => "12[3].server".to_owned(),
            'x' => "../app".to_owned(),
            letter => panic!("{letter}"),
        };
        assert_eq!(expand("runs/%x-%j.%p.json", value), "runs/..-app-12-3-.server.4711.json");
        assert_eq!(expand("100%%p.json", value), "100%p.json");
        assert_eq!(expand("plain.json", value), "plain.json");
    }

    #[test]
    fn unknown_ones_are_refused_with_those_accepted() {
        check("%p%j%h%t%x%%.json").unwrap();
        for (text, found) in [("a%q.json", "'%q'"), ("%%%", "'%'")] {
            let words = check(text).unwrap_err();
            assert!(words.contains(found) && words.contains(ACCEPTED), "{words}");
        }
    }
}
