//! As `bruck`, but with k − 1 partners in every round, so that the blocks held become k times as many.
//!
//! Blocks are counted from the own rank: place j holds the block of rank r + j. In the round in which w = k^j blocks
//! are held, they go to r − i·w, and what comes from r + i·w fills the places from i·w on, for 0 < i < k; the last
//! round fetches only what is missing.
//!
//! State at p = 7, k = 3 (places in order, rank 0 and rank 1):
//!
//! ```text
//! rank      0              1
//! start     0              1
//! round 0   0,1,2          1,2,3
//! round 1   0,1,2,3,4,5,6  1,2,3,4,5,6,0
//! rotated   0,1,2,3,4,5,6  0,1,2,3,4,5,6
//! ```
//!
//! Cost: ⌈log_k p⌉ rounds of at most k − 1 messages at a time, (k−1)⌈log_k p⌉α + (p−1)bβ one after the other. Needs:
//! nothing. Memory: pb bytes of scratch.
//!
//! Source: J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby, "Efficient Algorithms for All-to-All Communications
//! in Multiport Message-Passing Systems", IEEE TPDS 8(11), 1997.

use crate::algorithm::engine::bruck;
use crate::algorithm::{Algorithm, Call, Cost, Default, Kind, Needs, Operation, Parameter, Parameters, Shape};
use crate::operation::Comm;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Allgather,
    name: "k_bruck",
    summary: "As bruck, but with k−1 partners in every round, so that the blocks held become k times as many.",
    parameters: &[Parameter {
        name: "radix",
        kind: Kind::Count { least: 2 },
        default: Default::Count(4),
        help: "k: factor by which the number of blocks held grows in a round",
    }],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "at most (k−1)⌈log_k p⌉α+(p−1)bβ, p≥k",
    cost,
    source: "Bruck, Ho, Kipnis, Upfal, Weathersby, IEEE TPDS 8(11), 1997",
    run,
};

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    bruck::cost(shape, parameters.count("radix"))
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    bruck::allgather(comm, call.count, parameters.count("radix"));
}
