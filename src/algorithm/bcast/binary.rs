//! The message goes down a complete binary tree, segment by segment.
//!
//! Ranks are counted from the root: v = (r − root) mod p. v receives from ⌊(v−1)/2⌋ and sends each segment to 2v + 1
//! and 2v + 2.
//!
//! State at p = 7, one segment (`*` has the message):
//!
//! ```text
//! v         0 1 2 3 4 5 6
//! start     * . . . . . .
//! round 0   * * . . . . .
//! round 1   * * * * . . .
//! round 2   * * * * * * .
//! round 3   * * * * * * *
//! ```
//!
//! Cost: (⌊log2(p+1)⌋ + ⌊log2((p+1)/3)⌋ + 2(S−1))(α + sβ) for p ≥ 3: a round for each rank of a path and one more for
//! each second child in it. Needs: nothing. Memory: none.
//!
//! Source: M. Kurnosov's lectures on collective operations; Open MPI, coll/base.

use crate::algorithm::engine::{down, paces};
use crate::algorithm::optimum::{Pace, SEGMENT_AUTO};
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::Comm;
use crate::pattern::complete::Complete;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Bcast,
    name: "binary",
    summary: "The message goes down a complete binary tree, segment by segment.",
    parameters: &[SEGMENT_AUTO],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "(⌊log2(p+1)⌋+⌊log2((p+1)/3)⌋+2(S−1))(α+sβ), p≥3",
    cost,
    source: "Kurnosov, lectures on collective operations; Open MPI coll/base",
    run,
};

pub(in crate::algorithm) fn tree(ranks: usize) -> Complete {
    Complete { ranks, radix: 2 }
}

pub(in crate::algorithm) fn pace(tree: &Complete) -> Pace {
    paces::complete(tree.ranks, tree.radix)
}

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    let tree = tree(shape.ranks);
    down::cost(shape, &tree, parameters.segments_of(shape, pace(&tree)))
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    let tree = tree(comm.size());
    down::bcast(comm, call, &tree, parameters.segments(call, pace(&tree)));
}
