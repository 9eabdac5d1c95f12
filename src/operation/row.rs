//! What an algorithm is to everybody else: its row of the catalogue, with the parameters that may be set after the
//! colon of its name, and a choice of it, with all of them set.

use super::Comm;
use super::bytes::format_bytes;
use super::{Call, Cost, Needs, Operation, Shape};
use smallvec::SmallVec;

/// One row of the catalogue.
pub struct Algorithm {
    /// The operation it carries out.
    pub operation: Operation,
    /// What users write; the stem of its file.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// What may be set after the colon.
    pub parameters: &'static [Parameter],
    /// What has to hold for it to be used.
    pub needs: Needs,
    /// Whether contributions are folded in rank order, so that non-commutative operations are right. True for
    /// algorithms that fold nothing.
    pub ordered: bool,
    /// Whether no two ranks fold the same: each unit of the result, and of what that is folded from, is folded on one rank
    /// alone, which hands it on. True for algorithms that fold nothing.
    pub alone: bool,
    /// The cost as a formula for people, in the notation of the documentation (p, q, n, b, s, S, α, β, γ) and the
    /// symbols of its parameters.
    pub formula: &'static str,
    /// The same formula as code.
    pub cost: fn(&Shape, &Parameters) -> Cost,
    /// Authors, title, venue, year.
    pub source: &'static str,
    /// The body.
    pub run: fn(&mut dyn Comm, &Call, &Parameters),
}

impl Algorithm {
    /// Whether it goes by the nodes or NUMA nodes that the ranks are on: its cost tells.
    pub fn knows_nodes(&self) -> bool {
        // Six ranks, of which one is on a node of its own.
        let (ranks, nodes) = (6, [0, 0, 0, 0, 0, 1]);
        let shape = Shape::of(&Call::plain(self.operation, 1, 1), ranks);
        let parameters = Parameters::of(self);
        (self.cost)(&shape, &parameters) != (self.cost)(&Shape { nodes: &nodes, numa: &nodes, ..shape }, &parameters)
    }
}

impl std::fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.operation, self.name)
    }
}

impl PartialEq for Algorithm {
    fn eq(&self, other: &Self) -> bool {
        self.operation == other.operation && self.name == other.name
    }
}

/// One parameter of an algorithm.
#[derive(Debug)]
pub struct Parameter {
    /// What users write.
    pub name: &'static str,
    /// What it accepts.
    pub kind: Kind,
    /// What holds when it is not set.
    pub default: Default,
    /// One sentence: meaning and unit; behind its [symbol](Self::symbol) and a colon if it has one, as in
    /// `k: ranks in a group`.
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
    /// A number of blocks from 1 on, or `auto`: the optimum of the cost formula, folds not counted.
    Blocks,
    /// Bytes, with K, M, G as powers of 1024; at least 1; `none` for no limit.
    Bytes,
    /// Bytes as above, or `auto`: the optimum of the cost formula, folds not counted.
    Segment,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Another algorithm, with its own parameters in parentheses: `binary(segment=32K)`.
    Inner(Operation),
    /// The same for the inside of nodes: one in shared memory also where there are several.
    OnNode(Operation),
    /// Sizes of a process grid, `4x2`, or `auto`.
    Dims,
}

/// What holds when a parameter is not set.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Default {
    Count(usize),
    Bytes(usize),
    /// No limit: one segment.
    Unlimited,
    Auto,
    Word(&'static str),
    /// An algorithm with its own defaults.
    Inner(&'static Algorithm),
}

/// A parameter's value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number, or bytes (`usize::MAX`: no limit).
    Number(usize),
    /// The optimum of the cost formula, folds not counted, or the balanced grid.
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
pub struct Parameters(SmallVec<[(&'static str, Value); 3]>);

impl Parameters {
    /// The defaults of an algorithm.
    fn of(algorithm: &Algorithm) -> Self {
        Self(algorithm.parameters.iter().map(|row| (row.name, row.default_value())).collect())
    }

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

impl Parameter {
    fn default_value(&self) -> Value {
        match self.default {
            Default::Count(number) | Default::Bytes(number) => Value::Number(number),
            Default::Unlimited => Value::Number(usize::MAX),
            Default::Auto => Value::Auto,
            Default::Word(word) => Value::Word(word),
            Default::Inner(algorithm) => Value::Inner(Box::new(Choice::new(algorithm))),
        }
    }

    /// The letter that stands for its value in the formula of the row; the help text begins with it.
    pub fn symbol(&self) -> Option<&'static str> {
        let (symbol, _) = self.help.split_once(": ")?;
        (symbol.chars().count() == 1).then_some(symbol)
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
}

/// An algorithm with all its parameters set.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The row.
    pub algorithm: &'static Algorithm,
    /// Its parameters.
    pub parameters: Parameters,
}

impl Choice {
    /// The algorithm with its defaults.
    pub fn new(algorithm: &'static Algorithm) -> Self {
        Self { algorithm, parameters: Parameters::of(algorithm) }
    }

    /// What the algorithm's cost formula says.
    pub fn cost(&self, shape: &Shape) -> Cost {
        (self.algorithm.cost)(shape, &self.parameters)
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
