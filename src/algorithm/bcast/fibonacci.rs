//! The message goes down a Fibonacci tree, segment by segment.
//!
//! The tree F_i has F_i−1 and F_i−2 below its root; the first is served first, so both are finished in the same round,
//! and no tree of two children per rank is faster. Ranks are counted from the root: v = (r − root) mod p, in preorder.
//! Between two sizes of full trees, the ranks are divided in the same proportion.
//!
//! State at p = 7, one segment (0 over 3 and 1; 3 over 5 and 4; 5 over 6; 1 over 2):
//!
//! ```text
//! v         0 1 2 3 4 5 6
//! start     * . . . . . .
//! round 0   * . . * . . .
//! round 1   * * . * . * .
//! round 2   * * * * * * *
//! ```
//!
//! Cost: (i + 2(S−1))(α + sβ), where i is the least with 1, 2, 4, 7, 12, 20, … (i = 0, 1, …) ranks not below p, about
//! 1.44 log2 p. Needs: nothing. Memory: none.
//!
//! Source: Winklehner, Friedl, report on ordered reduction trees; the tree is folklore.

use crate::algorithm::engine::{down, paces};
use crate::algorithm::optimum::{Pace, SEGMENT_AUTO};
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::Comm;
use crate::pattern::ordered::{Division, Preorder};

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Bcast,
    name: "fibonacci",
    summary: "The message goes down a Fibonacci tree: two children per rank, finished in the same round.",
    parameters: &[SEGMENT_AUTO],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "(i+2(S−1))(α+sβ), i≈1.44·log2 p",
    cost,
    source: "Winklehner, Friedl, report on ordered reduction trees",
    run,
};

pub(in crate::algorithm) fn tree(ranks: usize) -> Preorder {
    Preorder { ranks, division: Division::Fibonacci }
}

pub(in crate::algorithm) fn pace(tree: &Preorder) -> Pace {
    paces::fibonacci(tree.ranks)
}

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    let tree = tree(shape.ranks);
    down::cost(shape, &tree, parameters.segments_of(shape, pace(&tree)))
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    let tree = tree(comm.size());
    down::bcast(comm, call, &tree, parameters.segments(call, pace(&tree)));
}
