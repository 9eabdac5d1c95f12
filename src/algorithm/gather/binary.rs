//! Blocks are collected up a binary tree, each child answering for half of what is left.
//!
//! Ranks are counted from the root: v = (r − root) mod p. The rank that answers for m neighbouring blocks, its own
//! being the first, receives the two halves of the other m − 1 from the first rank of each.
//!
//! Tree at p = 7 (each rank with the blocks that it sends up):
//!
//! ```text
//! 0 ─┬─ 1 (1..3) ─┬─ 2 (2)
//!    │            └─ 3 (3)
//!    └─ 4 (4..6) ─┬─ 5 (5)
//!                 └─ 6 (6)
//! ```
//!
//! Cost: T(p), T(0) = T(1) = 0, T(m) = T(⌊(m−1)/2⌋) + min(2, m−1)α + (m−1)bβ; about 2qα + 2pbβ. Needs: nothing. Memory:
//! the blocks of its subtree at every inner rank; at the root those of the one child whose ranks pass the last rank.
//!
//! Source: M. G. Kurnosov, lectures on parallel computing, for the tree. Departures: 1. numbered in pre-order, so that
//! subtrees are runs; 2. balanced, not filled from the left.

use crate::algorithm::engine::range_tree;
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::Comm;
use crate::pattern::range_tree::RangeTree;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Gather,
    name: "binary",
    summary: "Blocks are collected up a binary tree, each child answering for half of what is left.",
    parameters: &[],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "T(p), T(0)=T(1)=0, T(m)=T(⌊(m−1)/2⌋)+min(2,m−1)α+(m−1)bβ, about 2q·α+2pbβ",
    cost,
    source: "Kurnosov, lectures on parallel computing",
    run,
};

const TREE: RangeTree = RangeTree::Kary { top: 2, below: 2 };

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    range_tree::cost(shape, TREE)
}

fn run(comm: &mut dyn Comm, call: &Call, _: &Parameters) {
    range_tree::gather(comm, call, TREE);
}
