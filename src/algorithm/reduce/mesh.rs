//! Contributions come along all columns of a process grid, then along the root's row, and so on for more dimensions.
//!
//! The dual of the mesh broadcast. Ranks are counted from the root, v = (r − root) mod p, and laid out in rows; the
//! last row may be incomplete. Columns hold no consecutive ranks, so it keeps no rank order.
//!
//! State at p = 7 in rows of 4 (ab = a∘b):
//!
//! ```text
//! v         0       1    2    3   4  5  6
//! start     0       1    2    3   4  5  6
//! round 0   04      15   26   3   .  .  .
//! round 1   0415    .    263  .   .  .  .
//! round 2   0415263 .    .    .   .  .  .
//! ```
//!
//! Cost: Σ ⌈log2 d⌉ (α + nβ + nγ) over the sizes d of the dimensions. Needs: a commutative operation. Memory: up to 3n
//! bytes of scratch.
//!
//! Source: A. Grama, A. Gupta, G. Karypis, V. Kumar, "Introduction to Parallel Computing", 2003, section 4.1.2.
//! Departures:
//! 1. any p and any number of dimensions.

use crate::algorithm::bcast::mesh::{DIMS, mesh};
use crate::algorithm::engine::up;
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::Comm;
use crate::pattern::segments::Segments;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Reduce,
    name: "mesh",
    summary: "Contributions come along all columns of a process grid, then along the root's row.",
    parameters: &[DIMS],
    needs: Needs::NOTHING,
    ordered: false,
    alone: true,
    formula: "Σ⌈log2 d⌉(α+nβ+nγ) over the sizes d",
    cost,
    source: "Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, 4.1.2, 2003",
    run,
};

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    up::cost(shape, &mesh(shape.ranks, parameters), Segments::whole(shape.bytes / shape.unit))
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    let tree = mesh(comm.size(), parameters);
    up::reduce(comm, call, &tree, Segments::whole(call.count), 1);
}
