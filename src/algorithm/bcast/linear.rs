//! The root sends the message to each rank in turn, to the one after it first.
//!
//! All sends are started at once and finish in any order; nobody passes anything on.
//!
//! State at p = 4, root 0 (`*` has the message):
//!
//! ```text
//! rank      0 1 2 3
//! start     * . . .
//! round 0   * * . .
//! round 1   * * * .
//! round 2   * * * *
//! ```
//!
//! Cost: (p−1)(α + nβ). Needs: nothing. Memory: none.
//!
//! Source: basic; as in Grama, Gupta, Karypis, Kumar, "Introduction to Parallel Computing", ch. 4, 2003.

use crate::algorithm::engine::down;
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::Comm;
use crate::pattern::chain::Star;
use crate::pattern::segments::Segments;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Bcast,
    name: "linear",
    summary: "The root sends the message to each rank in turn.",
    parameters: &[],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "(p−1)(α+nβ)",
    cost,
    source: "basic; Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, ch. 4, 2003",
    run,
};

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    let rounds = (shape.ranks - 1) as f64;
    Cost { rounds, bytes: rounds * shape.bytes as f64, ..Cost::default() }
}

fn run(comm: &mut dyn Comm, call: &Call, _: &Parameters) {
    let star = Star { ranks: comm.size(), center: call.root };
    down::bcast(comm, call, &star, Segments::whole(call.count));
}
