//! Contributions come up a complete binary tree, segment by segment.
//!
//! Ranks are counted from the root: v = (r − root) mod p. v folds what 2v + 2 and 2v + 1 send into its own contribution
//! and passes it on to ⌊(v−1)/2⌋. Subtrees are no runs of ranks, so it keeps no rank order.
//!
//! State at p = 7, one segment (ab = a∘b):
//!
//! ```text
//! v         0       1    2    3  4  5  6
//! start     0       1    2    3  4  5  6
//! round 0   0       14   26   3  .  5  .
//! round 1   0       143  265  .  .  .  .
//! round 2   0265    143  .    .  .  .  .
//! round 3   0265143 .    .    .  .  .  .
//! ```
//!
//! Cost: (⌊log2(p+1)⌋ + ⌊log2((p+1)/3)⌋ + 2(S−1))(α + sβ + sγ) + at most min(2, S−1)(α + sβ) for p ≥ 3. Needs: a
//! commutative operation. Memory: up to 4 segments of scratch.
//!
//! Source: M. Kurnosov's lectures on collective operations; Open MPI, coll/base.

use crate::algorithm::bcast::binary::{pace, tree};
use crate::algorithm::engine::up;
use crate::algorithm::optimum::{MAX_REQUESTS, SEGMENT_AUTO};
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::Comm;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Reduce,
    name: "binary",
    summary: "Contributions come up a complete binary tree, segment by segment.",
    parameters: &[SEGMENT_AUTO, MAX_REQUESTS],
    needs: Needs::NOTHING,
    ordered: false,
    alone: true,
    formula: "(⌊log2(p+1)⌋+⌊log2((p+1)/3)⌋+2(S−1))(α+sβ+sγ)+at most min(2,S−1)(α+sβ), p≥3",
    cost,
    source: "Kurnosov, lectures on collective operations; Open MPI coll/base",
    run,
};

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    let tree = tree(shape.ranks);
    up::cost(shape, &tree, parameters.segments_of(shape, up::pace(pace(&tree))))
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    let tree = tree(comm.size());
    let segments = parameters.segments(call, up::pace(pace(&tree)));
    up::reduce(comm, call, &tree, segments, parameters.count("max_requests"));
}
