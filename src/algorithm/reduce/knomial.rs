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
//! Cost: (k−1)⌈log_k p⌉(α + nβ + nγ) with one port, S times that of a segment in S segments; one α + nβ more where
//! order matters and the root is not 0. Needs: nothing. Memory: up to 4 segments of scratch; n more at rank 0 where it
//! passes the result on.
//!
//! Source: M. Kurnosov's lectures on collective operations; M. Wilkins et al., "Generalized Collective
//! Algorithms for the Exascale Era", CLUSTER 2023.

use crate::algorithm::engine::up;
use crate::algorithm::optimum::{MAX_REQUESTS, Pace, SEGMENT};
use crate::algorithm::{Algorithm, Call, Cost, Default, Kind, Needs, Operation, Parameter, Parameters, Shape};
use crate::pattern::knomial::Knomial;
use crate::schedule::Comm;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Reduce,
    name: "knomial",
    summary: "Contributions come up a k-nomial tree: k−1 children per level.",
    parameters: &[RADIX, SEGMENT, MAX_REQUESTS],
    needs: Needs::NOTHING,
    ordered: true,
    formula: "S(k−1)⌈log_k p⌉(α+sβ+sγ)",
    cost,
    source: "Kurnosov, lectures on collective operations; Wilkins et al., CLUSTER 2023",
    run,
};

const RADIX: Parameter = Parameter {
    name: "radix",
    kind: Kind::Count { least: 2 },
    default: Default::Count(4),
    help: "k: children per level and one",
};

fn pace(ranks: usize, parameters: &Parameters) -> Pace {
    // The root has the most children and is busy to the end: no segment is better than the whole message.
    let rounds = Knomial { ranks, radix: parameters.count("radix") }.reach(0);
    Pace { first: rounds, period: rounds }
}

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    let segments = parameters.segments_of(shape, pace(shape.ranks, parameters));
    up::cost(shape, &Knomial { ranks: shape.ranks, radix: parameters.count("radix") }, segments)
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    let segments = parameters.segments(call, pace(comm.size(), parameters));
    let tree = Knomial { ranks: comm.size(), radix: parameters.count("radix") };
    up::reduce(comm, call, &tree, segments, parameters.count("max_requests"));
}
