//! Every rank sends all blocks that it holds to a rank twice as far away each round, then rotates them into order.
//!
//! Blocks are counted from the own rank: place j holds the block of rank r + j. In round k places 0 … 2^k − 1 go to
//! r − 2^k, and what comes from r + 2^k fills the places from 2^k on, in the last round only as many as are missing.
//!
//! State at p = 5 (places in order):
//!
//! ```text
//! rank      0          1          2          3          4
//! start     0          1          2          3          4
//! round 0   0,1        1,2        2,3        3,4        4,0
//! round 1   0,1,2,3    1,2,3,4    2,3,4,0    3,4,0,1    4,0,1,2
//! round 2   0,1,2,3,4  1,2,3,4,0  2,3,4,0,1  3,4,0,1,2  4,0,1,2,3
//! rotated   0,1,2,3,4  everywhere
//! ```
//!
//! Cost: qα + (p−1)bβ. Needs: nothing. Memory: pb bytes of scratch.
//!
//! Source: J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby, "Efficient Algorithms for All-to-All Communications
//! in Multiport Message-Passing Systems", IEEE TPDS 8(11), 1997.

use crate::algorithm::engine::bruck;
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::Comm;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Allgather,
    name: "bruck",
    summary: "Every rank sends all blocks that it holds to a rank twice as far away each round, then rotates them.",
    parameters: &[],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "qα+(p−1)bβ",
    cost,
    source: "Bruck, Ho, Kipnis, Upfal, Weathersby, IEEE TPDS 8(11), 1997",
    run,
};

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    bruck::cost(shape, 2)
}

fn run(comm: &mut dyn Comm, call: &Call, _: &Parameters) {
    bruck::allgather(comm, call.count, 2);
}
