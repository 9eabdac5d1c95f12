//! Rules files: which algorithm for which calls, the first rule that matches wins.
//!
//! ```text
//! # operation  communicator size  bytes          algorithm
//! allreduce    2-8                0-2K           recursive_doubling
//! bcast        3-*                512K-inf       pipeline:segment=128K
//! gather       *                  total=64K-inf  linear             if one_node and not_oversubscribed
//! reduce       *                  *              native             if non_commutative
//! ```
//!
//! A range is `*`, one number, or `first-last` with both ends in it; `inf` (or `*`) as its end means no end. Bytes are
//! the signature bytes that one rank contributes; with `total=`, for gather, scatter and allgather, those of all ranks
//! together. The algorithm is written as in the operation's variable: `auto` leaves the call to the default tables and
//! `native` to the MPI library.
//!
//! Open MPI's formats are read as well and told apart by their content.

mod condition;
mod open_mpi;
mod own;
mod span;

pub use condition::Condition;
pub use open_mpi::Format;
pub use span::{BytesOf, Span};

use super::configuration::Wanted;
use super::decide::Situation;
use super::error::ConfigurationErrors;
use crate::algorithm::{Call, Operation};
use std::fmt::{Display, Formatter};
use std::sync::Arc;

/// One rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Of which operation.
    pub operation: Operation,
    /// Sizes of the communicator, in ranks.
    pub ranks: Span,
    /// Sizes of the message, in bytes.
    pub bytes: Span,
    /// Whose bytes.
    pub bytes_of: BytesOf,
    /// What a call that matches gets.
    pub wanted: Wanted,
    /// What else has to hold, all of it.
    pub conditions: Vec<Condition>,
    /// Where it stands in its file, from 1.
    pub line: u32,
}

impl Rule {
    /// Whether it speaks about this call; `call` is of its operation.
    pub fn matches(&self, situation: &Situation, call: &Call) -> bool {
        let bytes = match self.bytes_of {
            BytesOf::Rank => call.bytes(),
            BytesOf::All => call.bytes().saturating_mul(situation.ranks),
        };
        self.ranks.contains(situation.ranks)
            && self.bytes.contains(bytes)
            && self.conditions.iter().all(|condition| condition.holds(situation, call))
    }
}

impl Display for Rule {
    /// As its own format has it; [`Rules::parse`] reads it back.
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let total = if self.bytes_of == BytesOf::All { "total=" } else { "" };
        let (ranks, bytes) = (self.ranks.to_string(), format!("{total}{}", self.bytes.in_bytes()));
        write!(f, "{:<11} {ranks:<10} {bytes:<14} {}", self.operation.name(), self.wanted)?;
        for (place, condition) in self.conditions.iter().enumerate() {
            write!(f, " {} {condition}", if place == 0 { "if" } else { "and" })?;
        }
        Ok(())
    }
}

/// The rules of one file.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// The file's name as the user wrote it.
    pub path: Arc<str>,
    /// The rules of each operation in the file's order, at `operation as usize`.
    of_operation: [Vec<Rule>; Operation::ALL.len()],
}

impl Default for Rules {
    /// No file, no rules.
    fn default() -> Self {
        Self::new("", [])
    }
}

impl Rules {
    /// These rules, in this order.
    pub fn new(path: &str, rules: impl IntoIterator<Item = Rule>) -> Self {
        let mut of_operation: [Vec<Rule>; Operation::ALL.len()] = Default::default();
        for rule in rules {
            of_operation[rule.operation as usize].push(rule);
        }
        Self { path: Arc::from(path), of_operation }
    }

    /// Reads a rules file's `text`; `path` is for messages.
    ///
    /// # Errors
    /// Everything that is wrong, with line and column.
    pub fn parse(path: &str, text: &str) -> Result<Self, ConfigurationErrors> {
        let read = if text.trim_start().starts_with('{') {
            open_mpi::parse_json
        } else if open_mpi::is_classic(text) {
            open_mpi::parse_classic
        } else {
            own::parse
        };
        read(path, text).map(|rules| Self::new(path, rules))
    }

    /// The rules in a format of Open MPI's.
    ///
    /// # Errors
    /// Every rule that cannot be said in it.
    pub fn for_open_mpi(&self, format: Format) -> Result<String, ConfigurationErrors> {
        open_mpi::export(self, format)
    }

    /// The rules of one operation, in the file's order.
    pub fn of(&self, operation: Operation) -> &[Rule] {
        &self.of_operation[operation as usize]
    }

    /// The first rule that speaks about this call.
    pub fn first(&self, situation: &Situation, call: &Call) -> Option<&Rule> {
        self.of(call.operation).iter().find(|rule| rule.matches(situation, call))
    }

    /// All rules, by operation.
    pub fn iter(&self) -> impl Iterator<Item = &Rule> {
        self.of_operation.iter().flatten()
    }
}

impl Display for Rules {
    /// In our own format.
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "# operation ranks      bytes          algorithm")?;
        self.iter().try_for_each(|rule| writeln!(f, "{rule}"))
    }
}
