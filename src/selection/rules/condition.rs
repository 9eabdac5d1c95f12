//! What may stand behind `if` in a rule.

use crate::algorithm::Call;
use crate::selection::situation::Situation;
use std::fmt::{Display, Formatter};

/// Something that holds for a call or does not, alike on all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Condition {
    Commutative,
    NonCommutative,
    OneNode,
    SeveralNodes,
    OnePerNode,
    Oversubscribed,
    NotOversubscribed,
}

impl Condition {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Commutative,
        Self::NonCommutative,
        Self::OneNode,
        Self::SeveralNodes,
        Self::OnePerNode,
        Self::Oversubscribed,
        Self::NotOversubscribed,
    ];

    /// What users write.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Commutative => "commutative",
            Self::NonCommutative => "non_commutative",
            Self::OneNode => "one_node",
            Self::SeveralNodes => "several_nodes",
            Self::OnePerNode => "one_per_node",
            Self::Oversubscribed => "oversubscribed",
            Self::NotOversubscribed => "not_oversubscribed",
        }
    }

    /// The condition of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|condition| condition.name() == name)
    }

    /// Whether the two can never hold together.
    pub fn contradicts(self, other: Self) -> bool {
        let pair = |one, two| (self, other) == (one, two) || (other, self) == (one, two);
        pair(Self::Commutative, Self::NonCommutative)
            || pair(Self::OneNode, Self::SeveralNodes)
            || pair(Self::Oversubscribed, Self::NotOversubscribed)
    }

    /// Whether it holds.
    pub fn holds(self, situation: &Situation, call: &Call) -> bool {
        match self {
            Self::Commutative => call.commutative,
            Self::NonCommutative => !call.commutative,
            Self::OneNode => situation.one_node,
            Self::SeveralNodes => !situation.one_node,
            // Nodes are numbered in the order of their first ranks, so only p different ones end in p − 1.
            Self::OnePerNode => situation.ranks == 1 || call.nodes.last() == Some(&(situation.ranks as u32 - 1)),
            Self::Oversubscribed => situation.oversubscribed,
            Self::NotOversubscribed => !situation.oversubscribed,
        }
    }
}

impl Display for Condition {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
