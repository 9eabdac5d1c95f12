//! One-to-all broadcast on a hypercube: along one dimension after the other, the highest first.
//!
//! In the round of dimension d every rank that has the message sends it to its neighbour across d. Ranks are labelled
//! by XOR with the root. Where p is no power of two, a subcube is served by the rank in it whose label is the smallest,
//! and what has no ranks is left out.
//!
//! State at p = 7, root 6 (`*` has the message):
//!
//! ```text
//! rank      0 1 2 3 4 5 6
//! start     . . . . . . *
//! round 0   . . * . . . *
//! round 1   * . * . * . *
//! round 2   * * * * * * *
//! ```
//!
//! Cost: q(α + nβ). Needs: nothing. Memory: none.
//!
//! Source: A. Grama, A. Gupta, G. Karypis, V. Kumar, "Introduction to Parallel Computing", 2003, algorithms 4.1 and
//! 4.2. Departures: 1. any p, by pruning.

use crate::algorithm::engine::down;
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::Comm;
use crate::pattern::cube_tree::CubeTree;
use crate::pattern::hypercube::ceil_log2;
use crate::pattern::segments::Segments;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Bcast,
    name: "hypercube",
    summary: "One-to-all broadcast on a hypercube, along one dimension after the other, the highest first.",
    parameters: &[],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "q(α+nβ)",
    cost,
    source: "Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, algorithms 4.1 and 4.2, 2003",
    run,
};

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    let rounds = f64::from(ceil_log2(shape.ranks));
    Cost { rounds, bytes: rounds * shape.bytes as f64, ..Cost::default() }
}

fn run(comm: &mut dyn Comm, call: &Call, _: &Parameters) {
    let tree = CubeTree { ranks: comm.size(), root: call.root };
    down::bcast(comm, call, &tree, Segments::whole(call.count));
}
