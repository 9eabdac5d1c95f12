//! Half of the message goes down each of two binary trees, in which inner ranks and leaves change places.
//!
//! All ranks but the root are in both trees, in order; a rank with an even place in the first one is an inner rank
//! there and a leaf in the second. The root sends the segments of both halves by turns to the tops of the trees. In
//! every two rounds a rank receives one segment of each half and sends one segment to each of its two children: full
//! bandwidth in both directions, where one binary tree leaves its leaves silent.
//!
//! State at p = 7 with one segment per half (first tree: 4 over 2 and 6, over 1, 3 and 5; second tree: the other way
//! round, 3 over 5 and 1, over 6, 4 and 2; `*` has both halves):
//!
//! ```text
//! v         0 1 2 3 4 5 6
//! start     * . . . . . .
//! round 0   * . . . a . .
//! round 1   * . a b a . .
//! round 2   * a a b a b a
//! round 3   * * a * a * *
//! round 4   * * * * * * *
//! ```
//!
//! Cost: at most (2⌊log2 p⌋ + 2S − 1 + min(S, q−1))(α + sβ) with S segments of s bytes per half, for p ≥ 3; at the best
//! S that is about nβ + 2qα + 2√(2qαnβ). Needs: nothing. Memory: none.
//!
//! Source: P. Sanders, J. Speck, J. L. Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan",
//! Parallel Computing 35(12), 2009. Departures: 1. the edges are not coloured: a rank sends each segment to its
//! children in a fixed order, and the rounds fall into place; 2. for odd and for even p the second tree counts from the
//! other end.

use crate::algorithm::engine::two_trees;
use crate::algorithm::optimum::SEGMENT_AUTO;
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::Comm;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Bcast,
    name: "double_tree",
    summary: "Half of the message goes down each of two binary trees; inner ranks of one are leaves of the other.",
    parameters: &[SEGMENT_AUTO],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "at most (2⌊log2 p⌋+2S−1+min(S,q−1))(α+sβ), S segments per half, p≥3, at best about nβ+2qα+2√(2qαnβ)",
    cost,
    source: "Sanders, Speck, Träff, Two-tree algorithms, Parallel Computing 35(12), 2009",
    run,
};

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    two_trees::cost(shape, parameters, false)
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    two_trees::bcast(comm, call, parameters);
}
