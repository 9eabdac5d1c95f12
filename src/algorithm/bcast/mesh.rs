//! The message goes along the root's row of a process grid, then along all columns, and so on for more dimensions.
//!
//! Ranks are counted from the root, v = (r − root) mod p, and laid out in rows. Along a line the message goes to the
//! head of the far half first, then each half does the same. Any p: the last row may be incomplete.
//!
//! State at p = 7 in rows of 4 (`*` has the message):
//!
//! ```text
//! v         0 1 2 3   4 5 6
//! start     * . . .   . . .
//! round 0   * . * .   . . .
//! round 1   * * * *   . . .
//! round 2   * * * *   * * *
//! ```
//!
//! Cost: Σ ⌈log2 d⌉ (α + nβ) over the sizes d of the dimensions. Needs: nothing. Memory: none.
//!
//! Source: A. Grama, A. Gupta, G. Karypis, V. Kumar, "Introduction to Parallel Computing", 2003, section 4.1.2.
//! Departures:
//! 1. any p and any number of dimensions.

use crate::algorithm::engine::down;
use crate::algorithm::{Algorithm, Call, Cost, Default, Kind, Needs, Operation, Parameter, Parameters, Shape, Value};
use crate::operation::Comm;
use crate::pattern::mesh::Mesh;
use crate::pattern::segments::Segments;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Bcast,
    name: "mesh",
    summary: "The message goes along the root's row of a process grid, then along all columns.",
    parameters: &[DIMS],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "Σ⌈log2 d⌉(α+nβ) over the sizes d",
    cost,
    source: "Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, 4.1.2, 2003",
    run,
};

pub(in crate::algorithm) const DIMS: Parameter = Parameter {
    name: "dims",
    kind: Kind::Dims,
    default: Default::Auto,
    help: "sizes of the process grid, the last varying fastest; the first grows as needed; auto: nearly a square",
};

pub(in crate::algorithm) fn mesh(ranks: usize, parameters: &Parameters) -> Mesh {
    match parameters.get("dims") {
        Value::Dims(dims) => Mesh::new(ranks, dims),
        _ => Mesh::balanced(ranks),
    }
}

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    down::cost(shape, &mesh(shape.ranks, parameters), Segments::whole(shape.bytes / shape.unit))
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    let tree = mesh(comm.size(), parameters);
    down::bcast(comm, call, &tree, Segments::whole(call.count));
}
