//! The root receives every rank's contribution in turn and reduces in rank order.
//!
//! The root starts from its own contribution and folds those of the ranks above it on the right, upwards, then those of
//! the ranks below it on the left, downwards; the next contribution comes in while one is being folded.
//!
//! State at p = 4, root 1 (ab = a∘b):
//!
//! ```text
//! rank      0   1     2   3
//! start     0   1     2   3
//! round 0   .   12    .   .
//! round 1   .   123   .   .
//! round 2   .   0123  .   .
//! ```
//!
//! Cost: (p−1)(α + nβ + nγ). Needs: nothing. Memory: 2n bytes of scratch at the root.
//!
//! Source: basic. Departures from the usual order p−1 … 0: 1. the root's own contribution is where folding starts, so
//! nothing is received to the place of the result and no contribution is copied.

use crate::algorithm::engine::up;
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::Comm;
use crate::pattern::chain::Star;
use crate::pattern::segments::Segments;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Reduce,
    name: "linear",
    summary: "The root receives every rank's contribution in turn and reduces in rank order.",
    parameters: &[],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "(p−1)(α+nβ+nγ)",
    cost,
    source: "basic",
    run,
};

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    let rounds = (shape.ranks - 1) as f64;
    let bytes = rounds * shape.bytes as f64;
    Cost { rounds, bytes, folded: bytes, ..Cost::default() }
}

fn run(comm: &mut dyn Comm, call: &Call, _: &Parameters) {
    let star = Star { ranks: comm.size(), center: call.root };
    up::reduce(comm, call, &star, Segments::whole(call.count), 1);
}
