//! Contributions come up a binary tree in which every rank's subtree is the run of ranks that begins with it.
//!
//! Ranks are counted from the root: v = (r − root) mod p. Below the first number of a run lie the two halves of the
//! rest, each below its own first number; folding is own ∘ near half ∘ far half. Where the operation is not
//! commutative, ranks are counted from 0 whatever the root, and rank 0 passes the result on.
//!
//! State at p = 7, one segment (ab = a∘b; 0 over 1 and 4, 1 over 2 and 3, 4 over 5 and 6):
//!
//! ```text
//! v         0    1    2  3  4    5  6
//! start     0    1    2  3  4    5  6
//! round 0   0    12   .  3  45   .  6
//! round 1   0    123  .  .  456  .  .
//! round 2   0123 .    .  .  456  .  .
//! round 3   0..6 .    .  .  .    .  .
//! ```
//!
//! Cost: (⌊log2(p+1)⌋ + ⌊log2((p+1)/3)⌋ + 2(S−1))(α + sβ + sγ) + at most min(2, S−1)(α + sβ) for p ≥ 3; one α + nβ more
//! where order matters and the root is not 0. Needs: nothing. Memory: up to 4 segments of scratch; n more at rank 0
//! where it passes the result on.
//!
//! Source: Winklehner, Friedl, report on ordered reduction trees.

use crate::algorithm::engine::{paces, up};
use crate::algorithm::optimum::{MAX_REQUESTS, Pace, SEGMENT_AUTO};
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::Comm;
use crate::pattern::ordered::{Division, Preorder};

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Reduce,
    name: "preorder_binary",
    summary: "Contributions come up a binary tree of consecutive runs, in rank order.",
    parameters: &[SEGMENT_AUTO, MAX_REQUESTS],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "(⌊log2(p+1)⌋+⌊log2((p+1)/3)⌋+2(S−1))(α+sβ+sγ)+at most min(2,S−1)(α+sβ), p≥3",
    cost,
    source: "Winklehner, Friedl, report on ordered reduction trees",
    run,
};

fn pace(ranks: usize) -> Pace {
    up::pace(paces::preorder(ranks))
}

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    let segments = parameters.segments_of(shape, pace(shape.ranks));
    up::cost(shape, &Preorder { ranks: shape.ranks, division: Division::Halves }, segments)
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    let segments = parameters.segments(call, pace(comm.size()));
    let tree = Preorder { ranks: comm.size(), division: Division::Halves };
    up::reduce(comm, call, &tree, segments, parameters.count("max_requests"));
}
