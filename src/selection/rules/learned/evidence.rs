//! A line of evidence, and the rule that follows from such lines.

use super::line::bare;
use crate::algorithm::Operation;
use crate::selection::rules::{BytesOf, Condition, Rule, Span};
use crate::selection::wanted::Wanted;
use serde::Deserialize;

/// What evidence begins with.
pub const MARK: &str = "#:";

/// Evidence: what was learned of one kind of call.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Learned {
    /// Processor of the node of rank 0, and its cores.
    pub machine: String,
    /// The MPI library's own version text.
    pub mpi: String,
    /// The last day on which it was learned.
    pub date: String,
    /// Who won.
    pub algorithm: String,
    /// Calls of a rank.
    pub calls: u64,
    /// Those that could carry the calls out.
    pub candidates: Vec<Tried>,
    function: String,
    bytes_from: u64,
    bytes_to: u64,
    commutative: bool,
    #[serde(default)]
    reduce_local: bool,
    ranks: u32,
    nodes: u32,
    most_on_node: u32,
    oversubscribed: bool,
    #[serde(default)]
    shared_memory: bool,
}

/// A candidate that could carry out calls.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Tried {
    /// The algorithm with its parameters, or `native`.
    pub algorithm: String,
    /// Calls of a rank that it carried out.
    pub calls: u64,
    /// Time per call when it was last measured.
    pub seconds: Option<f64>,
}

impl Learned {
    /// What a line says; `None` if it is no evidence.
    pub fn read(line: &str) -> Option<Self> {
        serde_json::from_str(bare(line).strip_prefix(MARK)?).ok()
    }

    /// As a rule; `None` if it names nobody that there is.
    pub(super) fn rule(&self) -> Option<Rule> {
        self.rule_by(true)
    }

    /// The same without the ranks per node, which rules between nodes did not name at first.
    pub(super) fn rule_of_any_placement(&self) -> Option<Rule> {
        self.rule_by(false)
    }

    fn rule_by(&self, names_placement: bool) -> Option<Rule> {
        let operation = Operation::ALL.into_iter().find(|operation| operation.row().mpi_name == self.function)?;
        let Self { bytes_from, bytes_to, ranks, nodes, commutative, reduce_local, .. } = *self;
        let Self { oversubscribed, shared_memory, .. } = *self;
        let span = |least: u64, most: u64| Span { least: least as usize, most: most as usize };
        let mut conditions = vec![if nodes > 1 { Condition::SeveralNodes } else { Condition::OneNode }];
        if nodes > 1 && names_placement {
            conditions.push(Condition::RanksPerNode(span(self.most_on_node.into(), self.most_on_node.into())));
        }
        if operation.reduces() {
            conditions.push(if commutative { Condition::Commutative } else { Condition::NonCommutative });
            if reduce_local {
                conditions.push(Condition::ReduceLocal);
            }
        }
        if nodes == 1 {
            // Who won over messages need not over shared memory.
            conditions.push(if shared_memory { Condition::SharedMemory } else { Condition::NoSharedMemory });
        }
        conditions.push(if oversubscribed { Condition::Oversubscribed } else { Condition::NotOversubscribed });
        let all_sizes = operation.has_own_counts() || !operation.has_data();
        Some(Rule {
            operation,
            ranks: span(ranks.into(), ranks.into()),
            bytes: if all_sizes { Span::ALL } else { span(bytes_from, bytes_to) },
            bytes_of: BytesOf::Rank,
            wanted: Wanted::parse(operation, &self.algorithm).ok()?,
            conditions,
            line: 0,
        })
    }

    /// What files are sorted by.
    pub(super) fn key(&self) -> impl Ord + '_ {
        let place = (self.ranks, self.nodes, self.most_on_node);
        // What is said of some of a rule's calls has to stand above that rule, on whichever machine it was found: rules do
        // not tell those.
        let is_of_all = !self.reduce_local;
        (is_of_all, &self.machine, &self.mpi, &self.function, place, self.bytes_from, self.shared_memory)
    }
}

/// The rule that follows from evidence of the same calls. Kinds of calls differ in more than a rule can tell, so that
/// several may stand above one: it says what won most calls, or the first of several.
pub(super) fn following<'a>(evidence: impl Iterator<Item = &'a Learned> + Clone) -> Option<Rule> {
    let mut found: Option<(u64, Rule)> = None;
    for rule in evidence.clone().filter_map(Learned::rule) {
        let same = evidence.clone().filter(|learned| learned.rule().is_some_and(|other| other.wanted == rule.wanted));
        let calls = same.map(|learned| learned.calls).sum();
        if found.as_ref().is_none_or(|(most, _)| calls > *most) {
            found = Some((calls, rule));
        }
    }
    found.map(|(_, rule)| rule)
}

/// Whether two rules are about the same calls.
pub(super) fn matches_same(one: &Rule, other: &Rule) -> bool {
    // All that a rule has but what it wants and where it stands.
    let Rule { operation, ranks, bytes, bytes_of, conditions, wanted: _, line: _ } = one;
    (*operation, ranks, bytes, *bytes_of) == (other.operation, &other.ranks, &other.bytes, other.bytes_of)
        && *conditions == other.conditions
}
