//! What may be set after the colon of an algorithm's name.

use super::{Choice, Operation};
use smallvec::SmallVec;

/// One parameter of an algorithm.
#[derive(Debug)]
pub struct Parameter {
    /// What users write.
    pub name: &'static str,
    /// What it accepts.
    pub kind: Kind,
    /// What holds when it is not set.
    pub default: Default,
    /// One sentence: meaning and unit.
    pub help: &'static str,
}

/// What a parameter accepts.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A number from `least` on.
    Count {
        /// Smallest accepted.
        least: usize,
    },
    /// A number of blocks from 1 on, or `auto`: the optimum of the cost formula.
    Blocks,
    /// Bytes, with K, M, G as powers of 1024; at least 1; `none` for no limit.
    Bytes,
    /// Bytes as above, or `auto`: the optimum of the cost formula.
    Segment,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Another algorithm, with its own parameters in parentheses: `binary(segment=32K)`.
    Inner(Operation),
    /// Sizes of a process grid, `4x2`, or `auto`.
    Dims,
}

/// What holds when a parameter is not set.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub enum Default {
    Count(usize),
    Bytes(usize),
    /// No limit: one segment.
    Unlimited,
    Auto,
    Word(&'static str),
    /// Name of an algorithm with its own defaults.
    Inner(&'static str),
}

/// A parameter's value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number, or bytes (`usize::MAX`: no limit).
    Number(usize),
    /// The optimum of the cost formula, or the balanced grid.
    Auto,
    /// One of the accepted words.
    Word(&'static str),
    /// Another algorithm.
    Inner(Box<Choice>),
    /// Sizes of a process grid.
    Dims(SmallVec<[usize; 4]>),
}

/// The values of all parameters of one algorithm, defaults filled in.
#[derive(Clone, Debug, std::default::Default, PartialEq)]
pub struct Parameters(pub(super) SmallVec<[(&'static str, Value); 3]>);

impl Parameters {
    /// The value of the parameter `name`.
    ///
    /// # Panics
    /// If the row of the algorithm that asks does not declare it.
    pub fn get(&self, name: &str) -> &Value {
        let found = self.0.iter().find(|(known, _)| *known == name);
        &found.unwrap_or_else(|| panic!("parameter {name} is not in the algorithm's row")).1
    }

    /// A number or a number of bytes; `None` for `auto`.
    pub fn number(&self, name: &str) -> Option<usize> {
        match self.get(name) {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// A number that has no `auto`.
    ///
    /// # Panics
    /// If the parameter is not a number.
    pub fn count(&self, name: &str) -> usize {
        self.number(name).expect("a parameter of kind count is always a number")
    }

    /// One of the accepted words.
    ///
    /// # Panics
    /// If the parameter is not of kind word.
    pub fn word(&self, name: &str) -> &'static str {
        match self.get(name) {
            Value::Word(word) => word,
            other => panic!("parameter {name} is no word but {other:?}"),
        }
    }

    /// Another algorithm.
    ///
    /// # Panics
    /// If the parameter is not of kind inner.
    pub fn inner(&self, name: &str) -> &Choice {
        match self.get(name) {
            Value::Inner(choice) => choice,
            other => panic!("parameter {name} is no algorithm but {other:?}"),
        }
    }

    /// Name and value of every parameter, in the order of the row.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.0.iter().map(|(name, value)| (*name, value))
    }
}
