//! Every rank passes on to its right neighbour the block that it got from the left one in the round before.
//!
//! In round k = 0 … p−2 rank r sends block (r − k) mod p to r + 1 and receives block (r − k − 1) mod p from r − 1.
//!
//! State at p = 4 (blocks held):
//!
//! ```text
//! rank      0     1     2     3
//! start     0     1     2     3
//! round 0   3,0   0,1   1,2   2,3
//! round 1   2,3,0 3,0,1 0,1,2 1,2,3
//! round 2   all   all   all   all
//! ```
//!
//! Cost: (p−1)(α + bβ). Needs: nothing. Memory: none.
//!
//! Source: folklore; as in Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005.

use crate::algorithm::engine::ring;
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::{Comm, Range};
use crate::pattern::blocks::Blocks;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Allgather,
    name: "ring",
    summary: "Every rank passes on to its right neighbour the block last received from the left one.",
    parameters: &[],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "(p−1)(α+bβ)",
    cost,
    source: "folklore; Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005",
    run,
};

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    let rounds = (shape.ranks - 1) as f64;
    let alone = rounds * shape.bytes as f64;
    // All rounds are alike.
    let bytes = shape.bytes_over_ports(alone, |rank| [((rank + 1) % shape.ranks, alone)]);
    Cost { rounds, bytes, ..Cost::default() }
}

fn run(comm: &mut dyn Comm, call: &Call, _: &Parameters) {
    let (p, r, b) = (comm.size(), comm.rank(), call.count);
    comm.copy(Range::send(0, b), Range::receive(r * b, b));
    ring::allgather(comm, &Blocks::new(p * b, p), Range::receive(0, p * b), 0);
}
