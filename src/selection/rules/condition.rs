//! What may stand behind `if` in a rule.

use crate::algorithm::Call;
use crate::selection::error::suggestion;
use crate::selection::mpi_library::{Implementation, Versions};
use crate::selection::situation::Situation;
use std::fmt::{Display, Formatter};

/// Something that holds for a call or does not, alike on all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Condition {
    Commutative,
    NonCommutative,
    OneNode,
    SeveralNodes,
    OnePerNode,
    Oversubscribed,
    NotOversubscribed,
    /// All ranks share memory, and what the call moves can lie there.
    SharedMemory,
    NoSharedMemory,
    /// What a rank contributes is a message that travels in pieces within a node.
    InPieces,
    /// Whose MPI library: `mpi=openmpi`.
    Mpi(Implementation),
    /// Of which releases, beside `mpi=`: `mpi_version=4.1-5`.
    MpiVersion(Versions),
}

impl Condition {
    /// Those that are one word.
    pub const WORDS: [Self; 10] = [
        Self::Commutative,
        Self::NonCommutative,
        Self::OneNode,
        Self::SeveralNodes,
        Self::OnePerNode,
        Self::Oversubscribed,
        Self::NotOversubscribed,
        Self::SharedMemory,
        Self::NoSharedMemory,
        Self::InPieces,
    ];

    /// Reads what users write.
    ///
    /// # Errors
    /// What is accepted.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Some(name) = text.strip_prefix("mpi=") {
            return Implementation::parse(name).map(Self::Mpi);
        }
        if let Some(versions) = text.strip_prefix("mpi_version=") {
            return Versions::parse(versions).map(Self::MpiVersion);
        }
        Self::WORDS.into_iter().find(|condition| condition.to_string() == text).ok_or_else(|| {
            let words = Self::WORDS.map(|condition| condition.to_string());
            let nearest = suggestion(text, words.iter().map(String::as_str).chain(["mpi=", "mpi_version="]));
            format!("unknown condition '{text}'; {}{nearest}", Self::accepted())
        })
    }

    /// What is accepted, in words.
    pub fn accepted() -> String {
        let words = Self::WORDS.map(|condition| condition.to_string());
        format!("accepted: {}, mpi=LIBRARY, mpi_version=VERSIONS", words.join(", "))
    }

    /// Whether the two can never hold together.
    pub fn contradicts(self, other: Self) -> bool {
        let pair = |one, two| (self, other) == (one, two) || (other, self) == (one, two);
        pair(Self::Commutative, Self::NonCommutative)
            || pair(Self::OneNode, Self::SeveralNodes)
            || pair(Self::Oversubscribed, Self::NotOversubscribed)
            || pair(Self::SharedMemory, Self::NoSharedMemory)
            // Nor can what needs one node.
            || pair(Self::SharedMemory, Self::SeveralNodes)
            || match (self, other) {
                (Self::Mpi(one), Self::Mpi(other)) => one != other,
                (Self::MpiVersion(one), Self::MpiVersion(other)) => !one.meets(other),
                _ => false,
            }
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
            Self::SharedMemory => call.shared_by_all().is_some(),
            Self::NoSharedMemory => call.shared_by_all().is_none(),
            Self::InPieces => situation.cuts(call),
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
            Self::OneNode => f.write_str("one_node"),
            Self::SeveralNodes => f.write_str("several_nodes"),
            Self::OnePerNode => f.write_str("one_per_node"),
            Self::Oversubscribed => f.write_str("oversubscribed"),
            Self::NotOversubscribed => f.write_str("not_oversubscribed"),
            Self::SharedMemory => f.write_str("shared_memory"),
            Self::NoSharedMemory => f.write_str("no_shared_memory"),
            Self::InPieces => f.write_str("in_pieces"),
            Self::Mpi(implementation) => write!(f, "mpi={}", implementation.name()),
            Self::MpiVersion(versions) => write!(f, "mpi_version={versions}"),
        }
    }
}
