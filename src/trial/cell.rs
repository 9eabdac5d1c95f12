//! What calls have in common that learn together, on any communicator of the same shape.

use crate::algorithm::{Call, Operation};
use crate::monitor::Bucket;
use crate::selection::Situation;
use serde::{Deserialize, Serialize};

/// The shape of a communicator, as far as learning tells it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CommunicatorShape {
    /// Number of ranks.
    pub ranks: u32,
    /// Number of nodes.
    pub nodes: u32,
    /// Ranks on the node that has most of them.
    pub most_on_node: u32,
    /// Whether ranks outnumber the cores of some node.
    pub oversubscribed: bool,
    /// Whether messages within a node go through memory that its ranks share.
    pub shared_memory: bool,
}

impl CommunicatorShape {
    /// Of a communicator in this situation, with its ranks on these nodes, none if it is on one, and this transport.
    pub fn of(situation: &Situation, nodes: &[u32], shared_memory: bool) -> Self {
        let ranks = situation.ranks as u32;
        let nodes = nodes.iter().max().map_or(1, |last| last + 1);
        let most_on_node = situation.most_on_node as u32;
        Self { ranks, nodes, most_on_node, oversubscribed: situation.oversubscribed, shared_memory }
    }
}

/// A kind of call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Cell {
    /// The operation.
    pub operation: Operation,
    /// Size class of the bytes that all ranks know.
    pub bucket: Bucket,
    /// Whether order does not matter.
    pub commutative: bool,
    /// Whether it does not, and `PMPI_Reduce_local` folds all the same.
    pub reduce_local: bool,
    /// Units for each rank, as far as they are told apart.
    pub units_per_rank: u8,
}

/// Where there are fewer units than so many for each rank, what algorithms make of blocks and segments differs within a
/// size class.
const MOST_UNITS: usize = 4;

impl Cell {
    /// That of a call among so many ranks.
    pub fn of(call: &Call, ranks: usize) -> Self {
        Self {
            operation: call.operation,
            bucket: Bucket::of(call.known_bytes() as u64),
            commutative: call.commutative,
            reduce_local: call.commutative && call.reduce_local,
            units_per_rank: (call.count / ranks.max(1)).min(MOST_UNITS) as u8,
        }
    }

    /// A number that differs between cells.
    pub const fn number(self) -> u64 {
        (self.operation as u64) << 32
            | (self.bucket.0 as u64) << 16
            | (self.reduce_local as u64) << 9
            | (self.commutative as u64) << 8
            | self.units_per_rank as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_count_nodes() {
        let situation = |ranks, nodes: &[u32]| Situation::plain(ranks).on(nodes);
        let shape = |ranks, nodes, most_on_node| CommunicatorShape {
            ranks,
            nodes,
            most_on_node,
            ..CommunicatorShape::default()
        };
        assert_eq!(CommunicatorShape::of(&situation(4, &[]), &[], false), shape(4, 1, 4));
        assert_eq!(CommunicatorShape::of(&situation(5, &[0, 1, 0, 1, 1]), &[0, 1, 0, 1, 1], false), shape(5, 2, 3));
        let over_memory = CommunicatorShape { shared_memory: true, ..shape(4, 1, 4) };
        assert_eq!(CommunicatorShape::of(&situation(4, &[]), &[], true), over_memory);
    }
}
