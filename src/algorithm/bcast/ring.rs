//! Recursive doubling on a linear array or ring: the head of the far half first, then each half does the same.
//!
//! Ranks are counted from the root: v = (r − root) mod p. Who answers for a run of ranks sends the message to the head
//! of its far half and goes on with the near one. No two messages of one round cross the same link of the array.
//!
//! State at p = 7 (`*` has the message):
//!
//! ```text
//! v         0 1 2 3 4 5 6
//! start     * . . . . . .
//! round 0   * . . . * . .
//! round 1   * . * . * . *
//! round 2   * * * * * * *
//! ```
//!
//! Cost: q(α + nβ). Needs: nothing. Memory: none.
//!
//! Source: A. Grama, A. Gupta, G. Karypis, V. Kumar, "Introduction to Parallel Computing", 2003, section 4.1.1.
//! Departures:
//! 1. any p: the near half is the larger one by at most one rank.

use crate::algorithm::engine::down;
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::Comm;
use crate::pattern::hypercube::ceil_log2;
use crate::pattern::linear_array::LinearArray;
use crate::pattern::segments::Segments;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Bcast,
    name: "ring",
    summary: "Recursive doubling on a linear array or ring: the head of the far half first, then each half alike.",
    parameters: &[],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "q(α+nβ)",
    cost,
    source: "Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, 4.1.1, 2003",
    run,
};

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    let rounds = f64::from(ceil_log2(shape.ranks));
    Cost { rounds, bytes: rounds * shape.bytes as f64, ..Cost::default() }
}

fn run(comm: &mut dyn Comm, call: &Call, _: &Parameters) {
    let tree = LinearArray { ranks: comm.size() };
    down::bcast(comm, call, &tree, Segments::whole(call.count));
}
