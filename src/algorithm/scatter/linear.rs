//! The root sends every rank its block, all sends under way at once.
//!
//! State at p = 4, root 0 (blocks held):
//!
//! ```text
//! rank      0     1     2     3
//! start     0..3  .     .     .
//! round 0   0..3  1     .     .
//! round 1   0..3  1     2     .
//! round 2   0..3  1     2     3
//! ```
//!
//! Cost: (p−1)(α + bβ). Needs: nothing. Memory: none.
//!
//! Source: folklore; Open MPI `basic_linear`.

use crate::algorithm::engine::range_tree;
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::Comm;
use crate::pattern::range_tree::RangeTree;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Scatter,
    name: "linear",
    summary: "The root sends every rank its block, all sends under way at once.",
    parameters: &[],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "(p−1)(α+bβ)",
    cost,
    source: "folklore; Open MPI basic_linear",
    run,
};

pub(super) fn cost(shape: &Shape, _: &Parameters) -> Cost {
    range_tree::cost(shape, RangeTree::LINEAR)
}

pub(super) fn run(comm: &mut dyn Comm, call: &Call, _: &Parameters) {
    range_tree::scatter(comm, call, RangeTree::LINEAR);
}
