//! Contributions come up a binary tree in which every rank's subtree is the run of ranks that ends with it.
//!
//! The tree's root is rank p − 1, whatever the call's root is. Below the last rank of a run lie the two halves of the
//! rest, each below its own last rank; folding is lower half ∘ upper half ∘ own. Rank p − 1 passes the result on to the
//! call's root.
//!
//! State at p = 7, one segment (ab = a∘b; tree: 6 over 2 and 5, 2 over 0 and 1, 5 over 3 and 4):
//!
//! ```text
//! rank      0  1  2    3  4  5    6
//! start     0  1  2    3  4  5    6
//! round 0   0  .  12   3  .  45   6
//! round 1   .  .  012  .  .  345  6
//! round 2   .  .  012  .  .  .    3456
//! round 3   .  .  .    .  .  .    0..6
//! pass on   to the root
//! ```
//!
//! Cost: (⌊log2(p+1)⌋ + ⌊log2((p+1)/3)⌋ + 2(S−1) + at most min(2, S−1))(α + sβ) + (⌊log2 p⌋ + ⌊log2(p/3)⌋ + 2S − 1)sγ
//! for p ≥ 3, then α + nβ unless the root is p − 1. Needs: nothing. Memory: up to 4 segments of scratch; n at rank p −
//! 1 where it passes the result on.
//!
//! Source: Open MPI, coll/base, reduction in order over a binary tree. Departures: 1. halves differ by at most one
//! rank.

use crate::algorithm::engine::{paces, up};
use crate::algorithm::optimum::{MAX_REQUESTS, Pace, SEGMENT_AUTO};
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::Comm;
use crate::pattern::ordered::Postorder;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Reduce,
    name: "in_order_binary",
    summary: "Contributions come up a binary tree in rank order, and the last rank passes the result on.",
    parameters: &[SEGMENT_AUTO, MAX_REQUESTS],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "(⌊log2(p+1)⌋+⌊log2((p+1)/3)⌋+2(S−1)+at most min(2,S−1))(α+sβ)+(⌊log2 p⌋+⌊log2(p/3)⌋+2S−1)sγ+α+nβ, \
              the last α+nβ unless the root is p−1, p≥3",
    cost,
    source: "Open MPI coll/base",
    run,
};

/// As in a preorder tree: what the smaller half sends has come by the time that the larger one is complete, and is only
/// folded after it.
fn pace(ranks: usize) -> Pace {
    up::pace(paces::preorder(ranks))
}

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    let pace = pace(shape.ranks);
    let segments = parameters.segments_of(shape, pace);
    up::cost_in_order(shape, [pace, paces::postorder(shape.ranks)], segments, shape.ranks - 1)
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    let segments = parameters.segments(call, pace(comm.size()));
    let tree = Postorder { ranks: comm.size() };
    up::reduce_in_order(comm, call, &tree, segments, parameters.count("max_requests"));
}
