//! Contributions come along several chains at once, segment by segment.
//!
//! Ranks are counted from the root: v = (r − root) mod p. The others are cut in runs of consecutive numbers, lengths
//! differing by one at most; contributions move down each run to its head, and the root folds what the heads send, the
//! first run first. Where the operation is not commutative, ranks are counted from 0 whatever the root, and rank 0
//! passes the result on.
//!
//! State at p = 7, 2 chains, one segment (ab = a∘b):
//!
//! ```text
//! v         0    1    2   3   4    5   6
//! start     0    1    2   3   4    5   6
//! round 0   0    1    23  .   4    56  .
//! round 1   0    123  .   .   456  .   .
//! round 2   0123 .    .   .   456  .   .
//! round 3   0..6 .    .   .   .    .   .
//! ```
//!
//! Cost with c < p chains: (c + ⌊(p−1)/c⌋ − 1 + c(S−1))(α + sβ + sγ), and at most min(2, S−1)(α + sβ) where c > 1; one
//! α + nβ more where order matters and the root is not 0. Needs: nothing. Memory: up to 4 segments of scratch; n more
//! at rank 0 where it passes the result on.
//!
//! Source: Open MPI, coll/base. Departures: 1. the runs are folded in rank order.

use crate::algorithm::bcast::chain::{CHAINS, pace, tree};
use crate::algorithm::engine::up;
use crate::algorithm::optimum::{MAX_REQUESTS, SEGMENT_AUTO};
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::Comm;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Reduce,
    name: "chain",
    summary: "Contributions come along several chains at once, segment by segment.",
    parameters: &[CHAINS, SEGMENT_AUTO, MAX_REQUESTS],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "(c+⌊(p−1)/c⌋−1+c(S−1))(α+sβ+sγ)+at most min(2,S−1)(α+sβ), p>c≥2",
    cost,
    source: "Open MPI coll/base",
    run,
};

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    let tree = tree(shape.ranks, parameters);
    up::cost(shape, &tree, parameters.segments_of(shape, up::pace(pace(&tree))))
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    let tree = tree(comm.size(), parameters);
    let segments = parameters.segments(call, up::pace(pace(&tree)));
    up::reduce(comm, call, &tree, segments, parameters.count("max_requests"));
}
