//! How users write a choice of an algorithm: `knomial:radix=4,segment=32K`.

use super::{Algorithm, Choice, Kind, Operation, Parameter, Value, find, of};
use crate::operation::{parse_bytes, upper_bound};
use smallvec::SmallVec;

/// What is wrong with a written choice: what was found, and what is accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the names say it")]
pub enum ChoiceError {
    #[error("unknown {operation} algorithm '{found}'; accepted: {accepted}")]
    Algorithm { operation: Operation, found: String, accepted: String },
    #[error("{algorithm} has no parameter '{found}'; accepted: {accepted}")]
    Parameter { algorithm: &'static str, found: String, accepted: String },
    #[error("'{found}' is not a value for {parameter} of {algorithm}; accepted: {accepted}")]
    Value { algorithm: &'static str, parameter: &'static str, found: String, accepted: String },
    #[error("'{found}' sets no parameter; write name=value")]
    Form { found: String },
    #[error("parameter {parameter} of {algorithm} is set twice")]
    Twice { algorithm: &'static str, parameter: &'static str },
}

/// Reads `name` or `name:parameter=value,...`.
///
/// # Errors
/// An unknown algorithm or parameter, or a value that the parameter does not accept.
pub fn parse_choice(operation: Operation, text: &str) -> Result<Choice, ChoiceError> {
    let (name, rest) = match text.split_once(':') {
        Some((name, rest)) => (name.trim(), Some(rest)),
        None => (text.trim(), None),
    };
    let mut choice = named(operation, name)?;
    if let Some(rest) = rest {
        set_all(&mut choice, rest)?;
    }
    Ok(choice)
}

fn named(operation: Operation, name: &str) -> Result<Choice, ChoiceError> {
    find(operation, name).map(Choice::new).ok_or_else(|| ChoiceError::Algorithm {
        operation,
        found: name.to_owned(),
        accepted: of(operation).iter().map(|row| row.name).collect::<Vec<_>>().join(", "),
    })
}

fn set_all(choice: &mut Choice, list: &str) -> Result<(), ChoiceError> {
    let mut seen = SmallVec::<[&str; 4]>::new();
    for setting in split_outside_parentheses(list) {
        let form = || ChoiceError::Form { found: setting.to_owned() };
        let (name, value) = setting.split_once('=').ok_or_else(form)?;
        let algorithm = choice.algorithm;
        let row = algorithm.parameters.iter().find(|row| row.name == name.trim());
        let row = row.ok_or_else(|| ChoiceError::Parameter {
            algorithm: algorithm.name,
            found: name.trim().to_owned(),
            accepted: parameter_names(algorithm),
        })?;
        if seen.contains(&row.name) {
            return Err(ChoiceError::Twice { algorithm: algorithm.name, parameter: row.name });
        }
        seen.push(row.name);
        let value = parse_value(row, algorithm.name, value.trim())?;
        choice.set(row.name, value);
    }
    Ok(())
}

fn parameter_names(algorithm: &Algorithm) -> String {
    if algorithm.parameters.is_empty() {
        return "none".to_owned();
    }
    algorithm.parameters.iter().map(|row| row.name).collect::<Vec<_>>().join(", ")
}

/// Splits at commas that stand in no parentheses.
fn split_outside_parentheses(text: &str) -> Vec<&str> {
    let mut depth = 0usize;
    let mut parts = Vec::new();
    let mut start = 0;
    for (place, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[start..place]);
                start = place + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn parse_value(parameter: &Parameter, algorithm: &'static str, text: &str) -> Result<Value, ChoiceError> {
    let refuse = |accepted: String| ChoiceError::Value {
        algorithm,
        parameter: parameter.name,
        found: text.to_owned(),
        accepted,
    };
    let refuse_number = || refuse(accepted(parameter.kind) + &upper_bound(text));
    match parameter.kind {
        Kind::Count { least } => match text.parse::<usize>() {
            Ok(number) if number >= least => Ok(Value::Number(number)),
            _ => Err(refuse_number()),
        },
        Kind::Segment | Kind::Blocks if text == "auto" => Ok(Value::Auto),
        Kind::Blocks => match text.parse::<usize>() {
            Ok(number) if number > 0 => Ok(Value::Number(number)),
            _ => Err(refuse_number()),
        },
        Kind::Bytes | Kind::Segment => match (text, parse_bytes(text)) {
            ("none", _) => Ok(Value::Number(usize::MAX)),
            (_, Some(bytes)) if bytes > 0 => Ok(Value::Number(bytes)),
            _ => Err(refuse_number()),
        },
        Kind::Word(words) => match words.iter().find(|word| **word == text) {
            Some(word) => Ok(Value::Word(word)),
            None => Err(refuse(accepted(parameter.kind))),
        },
        Kind::Dims if text == "auto" => Ok(Value::Auto),
        Kind::Dims => {
            let sizes = text.split('x').map(|size| size.parse().ok().filter(|size| *size > 0));
            sizes.collect::<Option<_>>().map(Value::Dims).ok_or_else(|| refuse(accepted(parameter.kind)))
        }
        Kind::Inner(operation) | Kind::OnNode(operation) => {
            let (name, rest) = match text.split_once('(') {
                Some((name, rest)) => {
                    let inside = rest.strip_suffix(')');
                    (name, Some(inside.ok_or_else(|| refuse("name(parameter=value,...)".to_owned()))?))
                }
                None if text.contains(':') => {
                    return Err(refuse(
                        "an inner algorithm's parameters in parentheses: name(parameter=value,...)".to_owned(),
                    ));
                }
                None => (text, None),
            };
            let mut inner = named(operation, name.trim())?;
            if let Some(rest) = rest {
                set_all(&mut inner, rest)?;
            }
            Ok(Value::Inner(Box::new(inner)))
        }
    }
}

/// What a parameter of that kind accepts, for messages and help.
pub fn accepted(kind: Kind) -> String {
    match kind {
        Kind::Count { least } => format!("a whole number, at least {least}"),
        Kind::Blocks => "a whole number, at least 1, or auto".to_owned(),
        Kind::Bytes => "bytes (K, M, G are powers of 1024) or none".to_owned(),
        Kind::Segment => "bytes (K, M, G are powers of 1024), none, or auto".to_owned(),
        Kind::Word(words) => words.join(", "),
        Kind::Dims => "sizes such as 4x2, or auto".to_owned(),
        Kind::Inner(operation) | Kind::OnNode(operation) => {
            of(operation).iter().map(|row| row.name).collect::<Vec<_>>().join(", ")
        }
    }
}
