//! Half of the vector comes up each of two binary trees, in which inner ranks and leaves change places.
//!
//! All ranks but the one on top are in both trees, in order, so that everything is folded in rank order; a rank with an
//! even place in the first tree is an inner rank there and a leaf in the second. In every two rounds a rank sends one
//! segment of each half and receives one segment from each of its two children. Where the operation is not commutative,
//! rank 0 is on top whatever the root, and passes the result on.
//!
//! State at p = 4 with one segment a, b per half (first tree: 2 over 1 and 3; second tree: 1 over 3, 3 over 2;
//! a01 = half a of 0∘1; each line shows what was folded last):
//!
//! ```text
//! v         0      1      2      3
//! start     a0 b0  a1 b1  a2 b2  a3 b3
//! round 0   .      .      a23    b23
//! round 1   .      b123   a123   .
//! round 2   a0123  .      .      .
//! round 3   b0123  .      .      .
//! ```
//!
//! Cost: at most (2⌊log2 p⌋ + 2S − 1 + min(S−1, 3q + 1))(α + sβ) + (2⌊log2 p⌋ + 2S − 1)sγ with S segments of s bytes
//! per half, for p ≥ 3; 3q + 2 instead of 3q + 1 at p = 3; one α + nβ more where order matters and the root is not 0.
//! Needs: nothing. Memory: up to 12 segments of scratch; n more at rank 0 where it passes the result on.
//!
//! Source: P. Sanders, J. Speck, J. L. Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan",
//! Parallel Computing 35(12), 2009. Departures: 1. the edges are not coloured: a rank receives from its children in a
//! fixed order, and the rounds fall into place; 2. for odd and for even p the second tree counts from the other end.

use crate::algorithm::engine::two_trees;
use crate::algorithm::optimum::SEGMENT_AUTO;
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::Comm;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Reduce,
    name: "double_tree",
    summary: "Half of the vector comes up each of two binary trees; inner ranks of one are leaves of the other.",
    parameters: &[SEGMENT_AUTO],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "at most (2⌊log2 p⌋+2S−1+min(S−1,3q+1+⌊3/p⌋))(α+sβ)+(2⌊log2 p⌋+2S−1)sγ, S segments per half, p≥3",
    cost,
    source: "Sanders, Speck, Träff, Two-tree algorithms, Parallel Computing 35(12), 2009",
    run,
};

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    two_trees::cost(shape, parameters, true)
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    two_trees::reduce(comm, call, parameters);
}
