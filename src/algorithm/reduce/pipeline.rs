//! Contributions come along one chain of all ranks, segment after segment.
//!
//! Ranks are counted from the root: v = (r − root) mod p. v folds each segment from v + 1 into its own and passes it on
//! to v − 1. Where the operation is not commutative, ranks are counted from 0 whatever the root, and rank 0 passes the
//! result on.
//!
//! State at p = 4, one segment (ab = a∘b):
//!
//! ```text
//! v         0    1   2  3
//! start     0    1   2  3
//! round 0   0    1   23 .
//! round 1   0    123 .  .
//! round 2   0123 .   .  .
//! ```
//!
//! Cost: (p−2+S)(α + sβ + sγ), least at s = √(nα/((p−2)(β+γ))), of which
//! `auto` leaves γ out; one α + nβ more where order matters and the root is not
//! 0. Needs: nothing. Memory: up to 4 segments of scratch; n more at rank 0 where it passes the result on.
//!
//! Source: folklore; Open MPI, coll/base.

use crate::algorithm::bcast::pipeline::pace;
use crate::algorithm::engine::up;
use crate::algorithm::optimum::{MAX_REQUESTS, SEGMENT_AUTO};
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::Comm;
use crate::pattern::chain::Chains;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Reduce,
    name: "pipeline",
    summary: "Contributions come along one chain of all ranks, segment after segment.",
    parameters: &[SEGMENT_AUTO, MAX_REQUESTS],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "(p−2+S)(α+sβ+sγ)",
    cost,
    source: "folklore; Open MPI coll/base",
    run,
};

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    let segments = parameters.segments_of(shape, pace(shape.ranks));
    up::cost(shape, &Chains::one(shape.ranks), segments)
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    let segments = parameters.segments(call, pace(comm.size()));
    let tree = Chains::one(comm.size());
    up::reduce(comm, call, &tree, segments, parameters.count("max_requests"));
}
