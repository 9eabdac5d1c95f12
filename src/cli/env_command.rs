//! The command `env`, before a launcher or behind it.

use super::program::name_of;
use std::ffi::OsString;

/// Where the last `env` of these words stands, and where its settings end.
pub fn last_env(words: &[OsString]) -> Option<(usize, usize)> {
    let at = words.iter().rposition(|word| name_of(word) == "env")?;
    Some((at, settings_end(words, at)?))
}

/// Where the options and settings of the `env` at a place end: `None` if there is no `env`, or one whose command stands
/// in an option.
pub fn settings_end(words: &[OsString], at: usize) -> Option<usize> {
    words.get(at).filter(|word| name_of(word) == "env")?;
    let mut end = at + 1;
    while let Some(word) = words.get(end).map(|word| word.to_string_lossy()) {
        if word.starts_with("-S") || word.starts_with("--split-string") {
            return None;
        }
        let has_value = ["-u", "--unset", "-C", "--chdir"].contains(&&*word);
        if !has_value && !word.starts_with('-') && !word.contains('=') {
            break;
        }
        end += 1 + usize::from(has_value);
    }
    Some(end.min(words.len()))
}

/// Whether its options take a variable away that it does not set: all of them, or this one.
pub fn takes_away(words: &[OsString], variable: &str) -> bool {
    let options: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    options.iter().any(|word| ["-i", "-", "--ignore-environment"].contains(&&**word))
        || options.windows(2).any(|pair| ["-u", "--unset"].contains(&&*pair[0]) && pair[1] == variable)
        || options.iter().any(|word| *word == format!("-u{variable}") || *word == format!("--unset={variable}"))
}
