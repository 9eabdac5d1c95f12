//! Contributions come up a binomial tree, the nearest child first.
//!
//! Ranks are counted from the root: v = (r − root) mod p. v folds what comes from v + 1, v + 2, v + 4, … as long as
//! that is below its lowest set bit, and sends what it has to v with that bit cleared. A subtree is a run of
//! consecutive numbers, so everything is folded in the order of v. Where the operation is not commutative, ranks are
//! counted from 0 whatever the root, and rank 0 passes the result on.
//!
//! State at p = 7 (ab = a∘b):
//!
//! ```text
//! v         0    1  2   3  4   5  6
//! start     0    1  2   3  4   5  6
//! round 0   01   .  23  .  45  .  6
//! round 1   0123 .  .   .  456 .  .
//! round 2   0..6 .  .   .  .   .  .
//! ```
//!
//! Cost: q(α + nβ + nγ), in S segments Sq(α + sβ + sγ) + at most 2(α + sβ) for p ≤ 128; one α + nβ more where order
//! matters and the root is not 0. Needs: nothing. Memory: up to 4 segments of scratch; n more at rank 0 where it passes
//! the result on.
//!
//! Source: folklore; as in Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005.

use crate::algorithm::bcast::binomial::pace;
use crate::algorithm::engine::up;
use crate::algorithm::optimum::{MAX_REQUESTS, SEGMENT};
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::Comm;
use crate::pattern::knomial::Knomial;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Reduce,
    name: "binomial",
    summary: "Contributions come up a binomial tree, the nearest child first.",
    parameters: &[SEGMENT, MAX_REQUESTS],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "Sq(α+sβ+sγ)+at most 2(α+sβ), 128≥p≥3; one segment: q(α+nβ+nγ)",
    cost,
    source: "folklore; Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005",
    run,
};

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    let segments = parameters.segments_of(shape, pace(shape.ranks));
    up::cost(shape, &Knomial::binomial(shape.ranks), segments)
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    let segments = parameters.segments(call, pace(comm.size()));
    let tree = Knomial::binomial(comm.size());
    up::reduce(comm, call, &tree, segments, parameters.count("max_requests"));
}
