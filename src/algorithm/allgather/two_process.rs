//! Two ranks exchange their blocks.
//!
//! State (blocks held):
//!
//! ```text
//! rank      0     1
//! start     0     1
//! round 0   0,1   0,1
//! ```
//!
//! Cost: α + bβ. Needs: p = 2. Memory: none.
//!
//! Source: Open MPI `two_procs`.

use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, RankNeed, Shape};
use crate::operation::{Comm, Range};

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Allgather,
    name: "two_process",
    summary: "Two ranks exchange their blocks.",
    parameters: &[],
    needs: Needs { ranks: RankNeed::Exactly(2), ..Needs::NOTHING },
    ordered: true,
    alone: true,
    formula: "α+bβ",
    cost,
    source: "Open MPI two_procs",
    run,
};

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    Cost { rounds: 1.0, bytes: shape.bytes as f64, ..Cost::default() }
}

fn run(comm: &mut dyn Comm, call: &Call, _: &Parameters) {
    let (r, b) = (comm.rank(), call.count);
    let (own, other) = (Range::send(0, b), 1 - r);
    comm.sendrecv(other, own, other, Range::receive(other * b, b));
    comm.copy(own, Range::receive(r * b, b));
}
