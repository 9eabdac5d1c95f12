//! What may stand behind `if` in a rule.

use super::span::Span;
use crate::algorithm::Call;
use crate::selection::error::suggestion;
use crate::selection::mpi_library::{Implementation, Versions};
use crate::selection::situation::Situation;
use std::fmt::{Display, Formatter};

/// Something that holds for a call or does not, alike on all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Condition {
    Commutative,
    NonCommutative,
    /// The reduction's operation is the program's own, or its type is one that no kernel knows.
    ReduceLocal,
    NoReduceLocal,
    OneNode,
    SeveralNodes,
    OnePerNode,
    /// The number of ranks is a power of two.
    PowerOfTwo,
    NotPowerOfTwo,
    Oversubscribed,
    NotOversubscribed,
    /// All ranks share memory, and what the call moves can lie there.
    SharedMemory,
    NoSharedMemory,
    /// What a rank contributes is a message that travels in pieces within a node.
    InPieces,
    /// So many ranks on the node that has most of them: `ranks_per_node=2-8`.
    RanksPerNode(Span),
    /// Whose MPI library: `mpi=openmpi`.
    Mpi(Implementation),
    /// Of which releases, beside `mpi=`: `mpi_version=4.1-5`.
    MpiVersion(Versions),
}

impl Condition {
    /// Those that are one word.
    pub const WORDS: [Self; 14] = [
        Self::Commutative,
        Self::NonCommutative,
        Self::ReduceLocal,
        Self::NoReduceLocal,
        Self::OneNode,
        Self::SeveralNodes,
        Self::OnePerNode,
        Self::PowerOfTwo,
        Self::NotPowerOfTwo,
        Self::Oversubscribed,
        Self::NotOversubscribed,
        Self::SharedMemory,
        Self::NoSharedMemory,
        Self::InPieces,
    ];

    /// What the others begin with.
    const NAMED: [&'static str; 3] = ["ranks_per_node=", "mpi=", "mpi_version="];

    /// Reads what users write.
    ///
    /// # Errors
    /// What is accepted.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Some(ranks) = text.strip_prefix("ranks_per_node=") {
            return Span::parse_ranks(ranks).map(Self::RanksPerNode);
        }
        if let Some(name) = text.strip_prefix("mpi=") {
            return Implementation::parse(name).map(Self::Mpi);
        }
        if let Some(versions) = text.strip_prefix("mpi_version=") {
            return Versions::parse(versions).map(Self::MpiVersion);
        }
        Self::WORDS.into_iter().find(|condition| condition.to_string() == text).ok_or_else(|| {
            let words = Self::WORDS.map(|condition| condition.to_string());
            let nearest = suggestion(text, words.iter().map(String::as_str).chain(Self::NAMED));
            format!("unknown condition '{text}'; {}{nearest}", Self::accepted())
        })
    }

    /// What is accepted, in words.
    pub fn accepted() -> String {
        let words = Self::WORDS.map(|condition| condition.to_string());
        format!("accepted: {}, ranks_per_node=RANKS, mpi=LIBRARY, mpi_version=VERSIONS", words.join(", "))
    }

    /// Whether the two can never hold together.
    pub fn contradicts(self, other: Self) -> bool {
        let pair = |one, two| (self, other) == (one, two) || (other, self) == (one, two);
        pair(Self::Commutative, Self::NonCommutative)
            || pair(Self::ReduceLocal, Self::NoReduceLocal)
            // All that MPI defines commutes.
            || pair(Self::NoReduceLocal, Self::NonCommutative)
            || pair(Self::OneNode, Self::SeveralNodes)
            || pair(Self::PowerOfTwo, Self::NotPowerOfTwo)
            || pair(Self::Oversubscribed, Self::NotOversubscribed)
            || pair(Self::SharedMemory, Self::NoSharedMemory)
            // Through shared memory nothing travels in pieces, and only what MPI defines combines in it.
            || pair(Self::SharedMemory, Self::InPieces)
            || pair(Self::SharedMemory, Self::NonCommutative)
            || pair(Self::SharedMemory, Self::ReduceLocal)
            // Nor can what needs one node.
            || pair(Self::SharedMemory, Self::SeveralNodes)
            || match (self, other) {
                (Self::RanksPerNode(one), Self::RanksPerNode(other)) => one.and(other).is_none(),
                (Self::RanksPerNode(ranks), Self::OnePerNode) | (Self::OnePerNode, Self::RanksPerNode(ranks)) => {
                    !ranks.contains(1)
                }
                (Self::Mpi(one), Self::Mpi(other)) => one != other,
                (Self::MpiVersion(one), Self::MpiVersion(other)) => !one.meets(other),
                _ => false,
            }
    }

    /// Whether it holds for reductions alone.
    pub fn is_of_reductions(self) -> bool {
        matches!(self, Self::NonCommutative | Self::ReduceLocal)
    }

    /// Whether it holds.
    pub fn holds(self, situation: &Situation, call: &Call) -> bool {
        match self {
            Self::Commutative => call.commutative,
            Self::NonCommutative => !call.commutative,
            Self::ReduceLocal => call.reduce_local,
            Self::NoReduceLocal => !call.reduce_local,
            Self::OneNode => situation.one_node,
            Self::SeveralNodes => !situation.one_node,
            Self::OnePerNode => situation.most_on_node == 1,
            Self::PowerOfTwo => situation.ranks.is_power_of_two(),
            Self::NotPowerOfTwo => !situation.ranks.is_power_of_two(),
            Self::Oversubscribed => situation.oversubscribed,
            Self::NotOversubscribed => !situation.oversubscribed,
            Self::SharedMemory => call.shared_by_all().is_some(),
            Self::NoSharedMemory => call.shared_by_all().is_none(),
            Self::InPieces => situation.cuts(call),
            Self::RanksPerNode(ranks) => ranks.contains(situation.most_on_node),
            Self::Mpi(implementation) => situation.mpi.implementation == implementation,
            Self::MpiVersion(versions) => versions.contains(situation.mpi.version),
        }
    }
}

impl Display for Condition {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Commutative => f.write_str("commutative"),
            Self::NonCommutative => f.write_str("non_commutative"),
            Self::ReduceLocal => f.write_str("reduce_local"),
            Self::NoReduceLocal => f.write_str("no_reduce_local"),
            Self::OneNode => f.write_str("one_node"),
            Self::SeveralNodes => f.write_str("several_nodes"),
            Self::OnePerNode => f.write_str("one_per_node"),
            Self::PowerOfTwo => f.write_str("power_of_two"),
            Self::NotPowerOfTwo => f.write_str("not_power_of_two"),
            Self::Oversubscribed => f.write_str("oversubscribed"),
            Self::NotOversubscribed => f.write_str("not_oversubscribed"),
            Self::SharedMemory => f.write_str("shared_memory"),
            Self::NoSharedMemory => f.write_str("no_shared_memory"),
            Self::InPieces => f.write_str("in_pieces"),
            Self::RanksPerNode(ranks) => write!(f, "ranks_per_node={ranks}"),
            Self::Mpi(implementation) => write!(f, "mpi={}", implementation.name()),
            Self::MpiVersion(versions) => write!(f, "mpi_version={versions}"),
        }
    }
}
