//! Contributions come up a Fibonacci tree, segment by segment and in rank order.
//!
//! The tree F_i has F_i−2 and F_i−1 below its root, each a run of consecutive numbers; the smaller one is complete a
//! round before the larger one and is folded first. Ranks are counted from the root: v = (r − root) mod p. Where the
//! operation is not commutative, ranks are counted from 0 whatever the root, and rank 0 passes the result on.
//!
//! State at p = 7, one segment (ab = a∘b; 0 over 1 and 3; 3 over 4 and 5; 5 over 6; 1 over 2):
//!
//! ```text
//! v         0    1   2  3    4  5   6
//! start     0    1   2  3    4  5   6
//! round 0   0    12  .  34   .  56  .
//! round 1   012  .   .  3456 .  .   .
//! round 2   0..6 .   .  .    .  .   .
//! ```
//!
//! Cost: (i + 2(S−1))(α + sβ + sγ) + at most 3(α + sβ) for p ≤ 66, where i is the least with 1, 2, 4, 7, 12, 20, … (i =
//! 0, 1, …) ranks not below p, about 1.44 log2 p; one α + nβ more where order matters and the root is not 0. Needs:
//! nothing. Memory: up to 4 segments of scratch; n more at rank 0 where it passes the result on.
//!
//! Source: Winklehner, Friedl, report on ordered reduction trees.

use crate::algorithm::bcast::fibonacci::{pace, tree};
use crate::algorithm::engine::up;
use crate::algorithm::optimum::{MAX_REQUESTS, SEGMENT_AUTO};
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::Comm;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Reduce,
    name: "fibonacci",
    summary: "Contributions come up a Fibonacci tree: two children per rank, in rank order.",
    parameters: &[SEGMENT_AUTO, MAX_REQUESTS],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "(i+2(S−1))(α+sβ+sγ)+at most 3(α+sβ), i≈1.44·log2 p, p≤66",
    cost,
    source: "Winklehner, Friedl, report on ordered reduction trees",
    run,
};

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    let tree = tree(shape.ranks);
    up::cost(shape, &tree, parameters.segments_of(shape, up::pace(pace(&tree))))
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    let tree = tree(comm.size());
    let segments = parameters.segments(call, up::pace(pace(&tree)));
    up::reduce(comm, call, &tree, segments, parameters.count("max_requests"));
}
