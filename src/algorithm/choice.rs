//! An algorithm with its parameters, and how users write it: `knomial:radix=4,segment=32K`.

use super::parameter::{Default, Kind, Parameter, Parameters, Value};
use super::{Algorithm, Cost, Operation, Shape, find, of};
use smallvec::SmallVec;

/// An algorithm with all its parameters set.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The row.
    pub algorithm: &'static Algorithm,
    /// Its parameters.
    pub parameters: Parameters,
}

/// What is wrong with a written choice: what was found, and what is accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum ChoiceError {
    #[error("unknown {operation} algorithm '{found}'; accepted: {accepted}")]
    Algorithm { operation: Operation, found: String, accepted: String },
    #[error("{algorithm} has no parameter '{found}'; accepted: {accepted}")]
    Parameter { algorithm: &'static str, found: String, accepted: String },
    #[error("'{found}' is no value for {parameter} of {algorithm}; accepted: {accepted}")]
    Value { algorithm: &'static str, parameter: &'static str, found: String, accepted: String },
    #[error("'{found}' sets no parameter; write name=value")]
    Form { found: String },
    #[error("parameter {parameter} of {algorithm} is set twice")]
    Twice { algorithm: &'static str, parameter: &'static str },
}

impl Choice {
    /// The algorithm with its defaults.
    pub fn new(algorithm: &'static Algorithm) -> Self {
        let parameters = algorithm.parameters.iter().map(|row| (row.name, row.default_value())).collect();
        Self { algorithm, parameters: Parameters(parameters) }
    }

    /// What the algorithm's cost formula says.
    pub fn cost(&self, shape: &Shape) -> Cost {
        (self.algorithm.cost)(shape, &self.parameters)
    }

    /// Reads `name` or `name:parameter=value,...`.
    ///
    /// # Errors
    /// An unknown algorithm or parameter, or a value that the parameter does not accept.
    pub fn parse(operation: Operation, text: &str) -> Result<Self, ChoiceError> {
        let (name, rest) = match text.split_once(':') {
            Some((name, rest)) => (name.trim(), Some(rest)),
            None => (text.trim(), None),
        };
        let mut choice = Self::named(operation, name)?;
        if let Some(rest) = rest {
            choice.set_all(rest)?;
        }
        Ok(choice)
    }

    fn named(operation: Operation, name: &str) -> Result<Self, ChoiceError> {
        find(operation, name).map(Self::new).ok_or_else(|| ChoiceError::Algorithm {
            operation,
            found: name.to_owned(),
            accepted: of(operation).iter().map(|row| row.name).collect::<Vec<_>>().join(", "),
        })
    }

    fn set_all(&mut self, list: &str) -> Result<(), ChoiceError> {
        let mut seen = SmallVec::<[&str; 4]>::new();
        for setting in split_outside_parentheses(list) {
            let form = || ChoiceError::Form { found: setting.to_owned() };
            let (name, value) = setting.split_once('=').ok_or_else(form)?;
            let algorithm = self.algorithm;
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
            let value = row.parse(algorithm.name, value.trim())?;
            self.set(row.name, value);
        }
        Ok(())
    }

    /// Sets one parameter.
    ///
    /// # Panics
    /// If the algorithm does not have it.
    pub fn set(&mut self, name: &str, value: Value) {
        let slot = self.parameters.0.iter_mut().find(|(known, _)| *known == name);
        slot.expect("a parameter of the row").1 = value;
    }
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

/// Bytes as users write them: digits, then at most one of K, M, G (powers of 1024).
pub fn parse_bytes(text: &str) -> Option<usize> {
    let (digits, factor) = match text.as_bytes().last()? {
        b'K' | b'k' => (&text[..text.len() - 1], 1 << 10),
        b'M' | b'm' => (&text[..text.len() - 1], 1 << 20),
        b'G' | b'g' => (&text[..text.len() - 1], 1 << 30),
        _ => (text, 1),
    };
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    digits.parse::<usize>().ok()?.checked_mul(factor)
}

/// Bytes as users write them, the shortest exact form.
pub fn format_bytes(bytes: usize) -> String {
    for (letter, shift) in [('G', 30), ('M', 20), ('K', 10)] {
        if bytes >= 1 << shift && bytes.is_multiple_of(1 << shift) {
            return format!("{}{letter}", bytes >> shift);
        }
    }
    bytes.to_string()
}

impl Parameter {
    fn default_value(&self) -> Value {
        match (self.default, self.kind) {
            (Default::Count(number) | Default::Bytes(number), _) => Value::Number(number),
            (Default::Unlimited, _) => Value::Number(usize::MAX),
            (Default::Auto, _) => Value::Auto,
            (Default::Word(word), _) => Value::Word(word),
            (Default::Inner(name), Kind::Inner(operation)) => {
                Value::Inner(Box::new(Choice::new(find(operation, name).expect("the default is in the catalogue"))))
            }
            (Default::Inner(_), kind) => panic!("an algorithm is no default for {kind:?}"),
        }
    }

    /// What holds when it is not set, as users would write it.
    pub fn default_text(&self) -> String {
        self.write(&self.default_value())
    }

    /// `value` as `parse` reads it.
    fn write(&self, value: &Value) -> String {
        match (value, self.kind) {
            (Value::Number(usize::MAX), Kind::Bytes | Kind::Segment) => "none".to_owned(),
            (Value::Number(bytes), Kind::Bytes | Kind::Segment) => format_bytes(*bytes),
            (Value::Number(number), _) => number.to_string(),
            (Value::Auto, _) => "auto".to_owned(),
            (Value::Word(word), _) => (*word).to_owned(),
            (Value::Dims(sizes), _) => sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join("x"),
            (Value::Inner(inner), _) => {
                let text = inner.to_string();
                text.split_once(':').map_or(text.clone(), |(name, rest)| format!("{name}({rest})"))
            }
        }
    }

    fn parse(&self, algorithm: &'static str, text: &str) -> Result<Value, ChoiceError> {
        let refuse =
            |accepted: String| ChoiceError::Value { algorithm, parameter: self.name, found: text.to_owned(), accepted };
        match self.kind {
            Kind::Count { least } => match text.parse::<usize>() {
                Ok(number) if number >= least => Ok(Value::Number(number)),
                _ => Err(refuse(format!("a whole number from {least} on"))),
            },
            Kind::Segment | Kind::Blocks if text == "auto" => Ok(Value::Auto),
            Kind::Blocks => match text.parse::<usize>() {
                Ok(number) if number > 0 => Ok(Value::Number(number)),
                _ => Err(refuse(self.kind.accepted())),
            },
            Kind::Bytes | Kind::Segment => match (text, parse_bytes(text)) {
                ("none", _) => Ok(Value::Number(usize::MAX)),
                (_, Some(bytes)) if bytes > 0 => Ok(Value::Number(bytes)),
                _ => Err(refuse(self.kind.accepted())),
            },
            Kind::Word(words) => match words.iter().find(|word| **word == text) {
                Some(word) => Ok(Value::Word(word)),
                None => Err(refuse(self.kind.accepted())),
            },
            Kind::Dims if text == "auto" => Ok(Value::Auto),
            Kind::Dims => {
                let sizes = text.split('x').map(|size| size.parse().ok().filter(|size| *size > 0));
                sizes.collect::<Option<_>>().map(Value::Dims).ok_or_else(|| refuse(self.kind.accepted()))
            }
            Kind::Inner(operation) => {
                let (name, rest) = match text.split_once('(') {
                    Some((name, rest)) => {
                        let inside = rest.strip_suffix(')');
                        (name, Some(inside.ok_or_else(|| refuse("name(parameter=value,...)".to_owned()))?))
                    }
                    None => (text, None),
                };
                let mut inner = Choice::named(operation, name.trim())?;
                if let Some(rest) = rest {
                    inner.set_all(rest)?;
                }
                Ok(Value::Inner(Box::new(inner)))
            }
        }
    }
}

impl Kind {
    /// What the kind accepts, for messages and help.
    pub fn accepted(&self) -> String {
        match self {
            Self::Count { least } => format!("a whole number from {least} on"),
            Self::Blocks => "a whole number from 1 on, or auto".to_owned(),
            Self::Bytes => "bytes (K, M, G are powers of 1024) or none".to_owned(),
            Self::Segment => "bytes (K, M, G are powers of 1024), none, or auto".to_owned(),
            Self::Word(words) => words.join(", "),
            Self::Dims => "sizes such as 4x2, or auto".to_owned(),
            Self::Inner(operation) => of(*operation).iter().map(|row| row.name).collect::<Vec<_>>().join(", "),
        }
    }
}

impl std::fmt::Display for Choice {
    /// The name and every parameter, as `parse` reads it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.algorithm.name)?;
        for (place, (name, value)) in self.parameters.iter().enumerate() {
            f.write_str(if place == 0 { ":" } else { "," })?;
            write!(f, "{name}={}", self.algorithm.parameters[place].write(value))?;
        }
        Ok(())
    }
}
