//! Blocks go down a tree in which every rank has k children with equal shares of what is left.
//!
//! Ranks are counted from the root: v = (r − root) mod p. The rank that answers for m neighbouring blocks, its own
//! being the first, divides the other m − 1 into k runs of sizes that differ by at most one, and sends each to its
//! first rank, the larger ones first. The tree is as low as a complete k-ary tree, but numbered so that a subtree is a
//! run.
//!
//! Tree at p = 7, k = 2 (each rank with the blocks that it gets):
//!
//! ```text
//! 0 ─┬─ 1 (1..3) ─┬─ 2 (2)
//!    │            └─ 3 (3)
//!    └─ 4 (4..6) ─┬─ 5 (5)
//!                 └─ 6 (6)
//! ```
//!
//! Cost: T(p), T(0) = T(1) = 0, T(m) = T(⌊(m−1)/k⌋) + min(k, m−1)α + (m−1)bβ; about k·log_k p·α + (k/(k−1))pbβ, since
//! the last child starts only when the root is done, unlike in the k-nomial tree. Needs: nothing. Memory: the blocks of
//! its subtree at every inner rank; at the root those of the one child whose ranks pass the last rank.
//!
//! Source: M. G. Kurnosov, lectures on parallel computing, for the tree. Departures: 1. numbered in pre-order, so that
//! subtrees are runs; 2. balanced, not filled from the left.

use crate::algorithm::engine::range_tree;
use crate::algorithm::gather::kary::{RADIX, tree};
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::Comm;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Scatter,
    name: "kary",
    summary: "Blocks go down a tree in which every rank has k children with equal shares of what is left.",
    parameters: &[RADIX],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "T(p), T(0)=T(1)=0, T(m)=T(⌊(m−1)/k⌋)+min(k,m−1)α+(m−1)bβ, about k·log_k p·α+(k/(k−1))pbβ",
    cost,
    source: "Kurnosov, lectures on parallel computing",
    run,
};

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    range_tree::cost(shape, tree(parameters))
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    range_tree::scatter(comm, call, tree(parameters));
}
