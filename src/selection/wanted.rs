//! What is asked for where an algorithm may be chosen: by a variable, a rule, or the program itself.

use super::error::describe_choice_error;
use crate::algorithm::{Choice, ChoiceError, Operation, parse_choice};

/// What the variable of an operation, or a rule, asks for.
#[allow(clippy::large_enum_variant, reason = "a box would add a step to every decision; rules files have few")]
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Wanted {
    /// Nothing: what comes next decides (rules after variables, default tables after rules).
    #[default]
    Auto,
    /// The MPI library's own.
    Native,
    /// This algorithm, wherever its needs are met.
    Algorithm(Choice),
}

impl Wanted {
    /// Reads `auto`, `native`, or a choice.
    ///
    /// # Errors
    /// What is wrong with the choice, in words.
    pub fn parse(operation: Operation, text: &str) -> Result<Self, String> {
        let name = text.split(':').next().unwrap_or(text).trim();
        match text.trim() {
            "auto" => Ok(Self::Auto),
            "native" => Ok(Self::Native),
            _ if matches!(name, "auto" | "native") => Err(format!("{name} has no parameters; accepted: {name} alone")),
            text => parse_choice(operation, text)
                .map(Self::Algorithm)
                .map_err(|error| describe_choice_error(&with_words(error, name))),
        }
    }
}

/// The same with the words that stand for no algorithm among what is accepted, unless it is of an algorithm inside
/// another one.
fn with_words(error: ChoiceError, name: &str) -> ChoiceError {
    match error {
        ChoiceError::Algorithm { operation, found, accepted } if found == name && !accepted.is_empty() => {
            ChoiceError::Algorithm { operation, found, accepted: format!("auto, native, {accepted}") }
        }
        other => other,
    }
}

impl std::fmt::Display for Wanted {
    /// As `parse` reads it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Native => f.write_str("native"),
            Self::Algorithm(choice) => choice.fmt(f),
        }
    }
}
