//! The message goes along one chain of all ranks, segment after segment.
//!
//! Ranks are counted from the root: v = (r − root) mod p. v passes each segment on to v + 1 as soon as it has it.
//!
//! State at p = 4 with segments a, b, c:
//!
//! ```text
//! v         0   1   2   3
//! start     abc .   .   .
//! round 0   abc a   .   .
//! round 1   abc ab  a   .
//! round 2   abc abc ab  a
//! round 3   abc abc abc ab
//! round 4   abc abc abc abc
//! ```
//!
//! Cost: (p−2+S)(α + sβ), least at s = √(nα/((p−2)β)). Needs: nothing. Memory: none.
//!
//! Source: folklore; as in M. Kurnosov's lectures on collective operations, and in Open MPI's coll/base.

use crate::algorithm::engine::down;
use crate::algorithm::optimum::{Pace, SEGMENT_AUTO};
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::Comm;
use crate::pattern::chain::Chains;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Bcast,
    name: "pipeline",
    summary: "The message goes along one chain of all ranks, segment after segment.",
    parameters: &[SEGMENT_AUTO],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "(p−2+S)(α+sβ)",
    cost,
    source: "folklore; Kurnosov, lectures on collective operations; Open MPI coll/base",
    run,
};

pub(in crate::algorithm) fn pace(ranks: usize) -> Pace {
    Pace::new(ranks - 1, 1)
}

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    let segments = parameters.segments_of(shape, pace(shape.ranks));
    down::cost(shape, &Chains::one(shape.ranks), segments)
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    let segments = parameters.segments(call, pace(comm.size()));
    let tree = Chains::one(comm.size());
    down::bcast(comm, call, &tree, segments);
}
