//! Blocks are collected up a binomial tree, twice as many in every round.
//!
//! Ranks are counted from the root: v = (r − root) mod p. In round k those v whose lowest set bit is 2^k send all that
//! they hold, the blocks v … v + 2^k − 1 (cut short by p), to v − 2^k.
//!
//! State at p = 7 (blocks held):
//!
//! ```text
//! v         0     1     2     3     4     5     6
//! start     0     1     2     3     4     5     6
//! round 0   0,1   .     2,3   .     4,5   .     6
//! round 1   0..3  .     .     .     4..6  .     .
//! round 2   0..6  .     .     .     .     .     .
//! ```
//!
//! Cost: qα + (p−1)bβ. Needs: nothing. Memory: the blocks of its subtree at every inner rank; at the root those of the
//! one child whose ranks pass the last rank.
//!
//! Source: folklore; as in Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005. Departures: 1. the root receives every
//! other child's blocks in their place, not in a buffer to be rotated.

use crate::algorithm::engine::range_tree;
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::Comm;
use crate::pattern::range_tree::RangeTree;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Gather,
    name: "binomial",
    summary: "Blocks are collected up a binomial tree, twice as many in every round.",
    parameters: &[],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "qα+(p−1)bβ",
    cost,
    source: "folklore; Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005",
    run,
};

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    range_tree::cost(shape, RangeTree::BINOMIAL)
}

fn run(comm: &mut dyn Comm, call: &Call, _: &Parameters) {
    range_tree::gather(comm, call, RangeTree::BINOMIAL);
}
