//! Blocks are collected up a binomial negabinary tree, whose links are shorter than the binomial tree's.
//!
//! Ranks lie on a circle. A rank answers for a run of them, half of which, by turns the upper and the lower one, is
//! answered for by the rank that mirrors it at the cut. The nearest partner sends first. For p = 2^q this is the tree
//! in which partners differ in the lowest bits of their labels to base −2.
//!
//! State at p = 8, root 0 (blocks held; -1 stands for rank 7):
//!
//! ```text
//! rank      0       1   2     3      4     5   6     7
//! start     0       1   2     3      4     5   6     7
//! round 0   0,1     .   .     2,3    4,5   .   .     6,7
//! round 1   -2..1   .   .     2..5   .     .   .     .
//! round 2   0..7    .   .     .      .     .   .     .
//! ```
//!
//! The farthest message goes over 3 ranks, that of the binomial tree over 4; over all, links are up to a third shorter.
//!
//! Cost: qα + (p−1)bβ. Needs: nothing. Memory: the blocks of its subtree at every inner rank; at the root those of the
//! one child whose ranks pass the last rank.
//!
//! Source: D. De Sensi et al., "Bine Trees: Enhancing Collective Operations by Optimizing Communication Locality", SC
//! 2025. Departures: 1. for p ≠ 2^q runs are halved as evenly as they can be and nobody stands aside; 2. the root
//! receives in place but for one child.

use crate::algorithm::engine::range_tree;
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::Comm;
use crate::pattern::range_tree::RangeTree;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Gather,
    name: "bine",
    summary: "Blocks are collected up a binomial negabinary tree, whose links are shorter than the binomial tree's.",
    parameters: &[],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "qα+(p−1)bβ",
    cost,
    source: "De Sensi et al., SC 2025",
    run,
};

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    range_tree::cost(shape, RangeTree::Bine)
}

fn run(comm: &mut dyn Comm, call: &Call, _: &Parameters) {
    range_tree::gather(comm, call, RangeTree::Bine);
}
