//! What is wrong with a configuration: where, what was found, what is accepted.

use crate::algorithm::{ChoiceError, Operation};
use std::fmt::{Display, Formatter, Result};

/// Where something is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// An environment variable.
    Variable(String),
    /// A rules file; line and column count from 1, the column in characters.
    File {
        /// As the user wrote it.
        path: String,
        /// From 1.
        line: usize,
        /// From 1, in characters.
        column: usize,
    },
}

impl Display for Location {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Variable(name) => f.write_str(name),
            Self::File { path, line, column } => write!(f, "{path}:{line}:{column}"),
        }
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct ConfigurationError {
    /// Where.
    pub place: Location,
    /// What was found and what is accepted, on one line.
    pub message: String,
}

impl ConfigurationError {
    /// Something wrong with the variable `name`.
    pub fn variable(name: &str, message: impl Into<String>) -> Self {
        Self { place: Location::Variable(name.to_owned()), message: message.into() }
    }
}

/// Mistakes that are told: a file of another kind has one in each line.
const TOLD: usize = 50;

/// Characters of a mistake that are told from its beginning, and as many from its end.
const SHOWN: usize = 1000;

/// The words of a mistake, without the middle where it quotes too much.
fn shortened(words: &str) -> String {
    let count = words.chars().count();
    if count <= 2 * SHOWN {
        return words.to_owned();
    }
    let (start, end): (String, String) =
        (words.chars().take(SHOWN).collect(), words.chars().skip(count - SHOWN).collect());
    format!("{start} [...] {end}")
}

/// Everything that is wrong, one line each, as far as it is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigurationErrors(pub Vec<ConfigurationError>);

impl Display for ConfigurationErrors {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        for (place, error) in self.0.iter().take(TOLD).enumerate() {
            if place > 0 {
                f.write_str("\n")?;
            }
            f.write_str(&shortened(&error.to_string()))?;
        }
        match self.0.len().saturating_sub(TOLD) {
            0 => Ok(()),
            more => write!(f, "\nand {more} more like these"),
        }
    }
}

impl std::error::Error for ConfigurationErrors {}

/// The accepted word that `found` is most likely meant to be, if one is near enough.
pub fn nearest<'a>(found: &str, accepted: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let found = found.to_lowercase();
    let allowed = 1 + found.chars().count() / 4;
    let distances = accepted.into_iter().map(|word| (strsim::damerau_levenshtein(&found, &word.to_lowercase()), word));
    distances.filter(|(distance, _)| *distance <= allowed).min_by_key(|(distance, _)| *distance).map(|(_, word)| word)
}

/// `; did you mean 'word'?`, or nothing.
pub fn suggestion<'a>(found: &str, accepted: impl IntoIterator<Item = &'a str>) -> String {
    nearest(found, accepted).map_or_else(String::new, |word| format!("; did you mean '{word}'?"))
}

/// The operation of that name.
///
/// # Errors
/// What is accepted, with the nearest name.
pub fn operation_named(name: &str) -> std::result::Result<Operation, String> {
    Operation::from_name(name).ok_or_else(|| {
        let names = Operation::ALL.map(Operation::name);
        let lower = name.to_lowercase();
        let nearest = suggestion(lower.trim_start_matches("mpi_"), names);
        format!("unknown operation '{name}'; accepted: {}{nearest}", names.join(", "))
    })
}

/// The words of a wrong choice, with the nearest accepted name.
pub fn describe_choice_error(error: &ChoiceError) -> String {
    let (found, accepted) = match error {
        ChoiceError::Algorithm { operation, accepted, .. } if accepted.is_empty() => {
            return format!("no {operation} algorithm is available in this version; accepted: auto, native");
        }
        ChoiceError::Algorithm { found, accepted, .. }
        | ChoiceError::Parameter { found, accepted, .. }
        | ChoiceError::Value { found, accepted, .. } => (found.as_str(), accepted.as_str()),
        ChoiceError::Form { .. } | ChoiceError::Twice { .. } => return error.to_string(),
    };
    // What a word stands for may be explained beside it: `bytes (K, M, G are powers of 1024), none, or auto`.
    let words = accepted.split(", ").map(|word| word.trim_start_matches("or "));
    let names = words.filter(|word| word.len() > 1 && !word.contains(['(', ')', ' ']));
    format!("{error}{}", suggestion(found, names))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_word() {
        let words = ["binomial", "linear", "pipeline"];
        assert_eq!(nearest("binomail", words), Some("binomial"));
        assert_eq!(nearest("Liner", words), Some("linear"));
        assert_eq!(nearest("fibonacci", words), None);
    }
}
