//! Contributions come up a k-nomial tree: k − 1 children per level, the ones with least below them first.
//!
//! Ranks are counted from the root: v = (r − root) mod p. v folds what v + i·w sends for every power w of k below its
//! lowest non-zero digit in base k, the smallest first, and i = 1, …, k − 1; then it sends all to v with that digit
//! cleared. A subtree is a run of consecutive numbers. Where the operation is not commutative, ranks are counted from 0
//! whatever the root, and rank 0 passes the result on.
//!
//! State at p = 7, k = 3 (ab = a∘b):
//!
//! ```text
//! v         0    1  2  3    4  5  6
//! start     0    1  2  3    4  5  6
//! round 0   01   .  2  34   .  5  6
//! round 1   012  .  .  345  .  .  6
//! round 2   0..5 .  .  .    .  .  6
//! round 3   0..6 .  .  .    .  .  .
//! ```
//!
//! Cost: at most (k−1)⌈log_k p⌉(α + nβ + nγ) with one port, S times that of a segment in S segments; one α + nβ more
//! where order matters and the root is not 0. Needs: nothing. Memory: up to 4 segments of scratch; n more at rank 0
//! where it passes the result on.
//!
//! Source: M. Kurnosov's lectures on collective operations; M. Wilkins et al., "Generalized Collective
//! Algorithms for the Exascale Era", CLUSTER 2023.

use crate::algorithm::bcast::knomial::{RADIX, pace, tree};
use crate::algorithm::engine::up;
use crate::algorithm::optimum::{MAX_REQUESTS, SEGMENT};
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::Comm;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Reduce,
    name: "knomial",
    summary: "Contributions come up a k-nomial tree: k−1 children per level.",
    parameters: &[RADIX, SEGMENT, MAX_REQUESTS],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "at most S(k−1)⌈log_k p⌉(α+sβ+sγ)+min(2,S−1)(α+sβ), p≥k",
    cost,
    source: "Kurnosov, lectures on collective operations; Wilkins et al., CLUSTER 2023",
    run,
};

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    let tree = tree(shape.ranks, parameters);
    up::cost(shape, &tree, parameters.segments_of(shape, pace(&tree)))
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    let tree = tree(comm.size(), parameters);
    let segments = parameters.segments(call, pace(&tree));
    up::reduce(comm, call, &tree, segments, parameters.count("max_requests"));
}
