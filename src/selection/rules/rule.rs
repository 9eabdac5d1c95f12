//! A rule, and the rules of a file.

use super::condition::Condition;
use super::span::{BytesOf, Span};
use crate::algorithm::{Call, Operation};
use crate::selection::situation::Situation;
use crate::selection::wanted::Wanted;
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
        self.is_of_size(situation, call) && self.unmet(situation, call).next().is_none()
    }

    /// Its conditions that do not hold for the call.
    pub fn unmet<'a>(&'a self, situation: &'a Situation, call: &'a Call) -> impl Iterator<Item = &'a Condition> {
        self.conditions.iter().filter(|condition| !condition.holds(situation, call))
    }

    /// Whether it speaks about so many ranks and bytes, whatever its conditions.
    pub fn is_of_size(&self, situation: &Situation, call: &Call) -> bool {
        let bytes = match self.bytes_of {
            BytesOf::Rank => call.known_bytes(),
            BytesOf::All => call.known_bytes().saturating_mul(situation.ranks),
        };
        self.ranks.contains(situation.ranks) && self.bytes.contains(bytes)
    }

    /// Leaves only these numbers of ranks on the node that has most of them, unless it is for none of these.
    pub fn narrow_ranks_per_node(&mut self, ranks: Span) {
        let known = self.conditions.iter_mut().find_map(|condition| match condition {
            Condition::RanksPerNode(known) => Some(known),
            _ => None,
        });
        match known {
            Some(known) => *known = known.and(ranks).unwrap_or(*known),
            None => self.conditions.push(Condition::RanksPerNode(ranks)),
        }
    }

    /// Whether it is for powers of two of ranks, or for all other numbers; none where it is for both.
    pub fn power_of_two(&self) -> Option<bool> {
        let has = |condition| self.conditions.contains(&condition);
        (has(Condition::PowerOfTwo) || has(Condition::NotPowerOfTwo)).then(|| has(Condition::PowerOfTwo))
    }
}

impl Display for Rule {
    /// As its own format has it; [`parse`](super::parse) reads it back.
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
    /// What a file of Open MPI's says that no call of Collie's can follow: lines, and why.
    pub skipped: Vec<(usize, String)>,
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
        Self { path: Arc::from(path), of_operation, skipped: Vec::new() }
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
