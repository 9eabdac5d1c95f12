//! Blocks are collected up a k-nomial tree, k times as many in every level.
//!
//! Ranks are counted from the root: v = (r − root) mod p. In level j a rank v divisible by k^(j+1) receives from
//! v + i·k^j, 0 < i < k, the up to k^j blocks that it has collected, and thus holds those of v … v + k^(j+1) − 1.
//!
//! State at p = 7, k = 3 (blocks held):
//!
//! ```text
//! v         0     1     2     3     4     5     6
//! start     0     1     2     3     4     5     6
//! level 0   0..2  .     .     3..5  .     .     6
//! level 1   0..6  .     .     .     .     .     .
//! ```
//!
//! Cost: at most (k−1)⌈log_k p⌉α + (p−1)bβ: the last level has fewer rounds if p < k^⌈log_k p⌉. The k−1 messages of a level
//! share the receiver's link but need not wait for each other, so with fast start-ups a level takes little more than
//! one α. Needs: nothing. Memory: the blocks of its subtree at every inner rank; at the root those of the one child
//! whose ranks pass the last rank.
//!
//! Source: M. Wilkins et al., "Generalized Collective Algorithms for the Exascale Era", CLUSTER 2023.

use crate::algorithm::engine::range_tree;
use crate::algorithm::{Algorithm, Call, Cost, Default, Kind, Needs, Operation, Parameter, Parameters, Shape};
use crate::operation::Comm;
use crate::pattern::range_tree::RangeTree;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Gather,
    name: "knomial",
    summary: "Blocks are collected up a k-nomial tree, k times as many in every level.",
    parameters: &[RADIX],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "at most (k−1)⌈log_k p⌉α+(p−1)bβ, p≥k",
    cost,
    source: "Wilkins et al., CLUSTER 2023",
    run,
};

pub(in crate::algorithm) const RADIX: Parameter = Parameter {
    name: "radix",
    kind: Kind::Count { least: 2 },
    default: Default::Count(4),
    help: "k: each level of the tree has k−1 children per rank",
};

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    range_tree::cost(shape, tree(parameters))
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    range_tree::gather(comm, call, tree(parameters));
}

pub(in crate::algorithm) fn tree(parameters: &Parameters) -> RangeTree {
    RangeTree::Knomial { radix: parameters.count("radix") }
}
