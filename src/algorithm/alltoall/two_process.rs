//! Two ranks exchange their blocks.
//!
//! State (ranks whose blocks have arrived):
//!
//! ```text
//! rank      0     1
//! start     0     1
//! round 0   0,1   0,1
//! ```
//!
//! Cost: α + bβ. Needs: p = 2. Memory: none; in place one block.
//!
//! Source: Open MPI `two_proc`.

use crate::algorithm::engine::pairs;
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, RankNeed, Shape};
use crate::operation::Comm;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Alltoall,
    name: "two_process",
    summary: "Two ranks exchange their blocks.",
    parameters: &[],
    needs: Needs { ranks: RankNeed::Exactly(2), ..Needs::NOTHING },
    ordered: true,
    alone: true,
    formula: "α+bβ",
    cost,
    source: "Open MPI two_proc",
    run,
};

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    pairs::cost(shape)
}

fn run(comm: &mut dyn Comm, call: &Call, _: &Parameters) {
    let other = 1 - comm.rank();
    pairs::exchange(comm, call, std::iter::once((other, other)), 1);
}
