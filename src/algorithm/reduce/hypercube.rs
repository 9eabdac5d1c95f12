//! All-to-one reduction on a hypercube: along one dimension after the other, the lowest first.
//!
//! The dual of the hypercube broadcast: in the round of dimension d every rank that still takes part and lies across d
//! from the root's side sends what it has to its neighbour and is done. Ranks are labelled by XOR with the root; where
//! p is no power of two, a subcube is gathered at the rank in it whose label is the smallest. Where the operation is
//! not commutative, the labels are the ranks, so that everything is folded in rank order, and rank 0 passes the result
//! on.
//!
//! State at p = 7, root 6 (ab = a∘b):
//!
//! ```text
//! rank      0    1  2       3  4   5  6
//! start     0    1  2       3  4   5  6
//! round 0   01   .  23      .  45  .  6
//! round 1   .    .  0123    .  .   .  456
//! round 2   .    .  .       .  .   .  0..6
//! ```
//!
//! Cost: q(α + nβ + nγ); one α + nβ more where order matters and the root is not 0. Needs: nothing. Memory: up to 3n
//! bytes of scratch; n more at the rank that passes the result on.
//!
//! Source: A. Grama, A. Gupta, G. Karypis, V. Kumar, "Introduction to Parallel Computing", 2003, algorithm 4.3.
//! Departures:
//! 1. any p, by pruning.

use crate::algorithm::engine::up;
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::Comm;
use crate::pattern::cube_tree::CubeTree;
use crate::pattern::hypercube::ceil_log2;
use crate::pattern::segments::Segments;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Reduce,
    name: "hypercube",
    summary: "All-to-one reduction on a hypercube, along one dimension after the other, the lowest first.",
    parameters: &[],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "q(α+nβ+nγ)",
    cost,
    source: "Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, algorithm 4.3, 2003",
    run,
};

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    let rounds = f64::from(ceil_log2(shape.ranks));
    let bytes = rounds * shape.bytes as f64;
    Cost { rounds, bytes, folded: bytes, ..Cost::default() } + up::passed_on(shape, 0)
}

fn run(comm: &mut dyn Comm, call: &Call, _: &Parameters) {
    let root = if call.commutative { call.root } else { 0 };
    let tree = CubeTree { ranks: comm.size(), root };
    up::reduce(comm, call, &tree, Segments::whole(call.count), 1);
}
