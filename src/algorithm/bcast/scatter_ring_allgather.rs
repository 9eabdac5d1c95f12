//! The root scatters the message down a binomial tree; a ring then brings all parts to everyone.
//!
//! Ranks are counted from the root: v = (r − root) mod p. Going down, each child gets the blocks of its whole subtree;
//! then every rank passes on to its right neighbour the block that it got from the left one in the round before. The
//! root, which lacks nothing, only sends: its buffer may be memory that can only be read.
//!
//! State at p = 4 (blocks held):
//!
//! ```text
//! v         0    1    2    3
//! start     0123 .    .    .
//! round 0   0123 .    23   .
//! round 1   0123 1    23   3
//! ring 0    0123 01   123  23
//! ring 1    0123 013  0123 123
//! ring 2    0123 0123 0123 0123
//! ```
//!
//! Cost: (q+p−1)α + 2((p−1)/p)nβ. Needs: nothing. Memory: none.
//!
//! Source: M. Barnett et al., "Interprocessor collective communication library (InterCom)", SHPCC 1994; Thakur,
//! Rabenseifner, Gropp, IJHPCA 19(1), 2005. Departures: 1. nothing is sent to the root.

use crate::algorithm::engine::{ring, scatter};
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::{Comm, Range};
use crate::pattern::blocks::Blocks;
use crate::pattern::hypercube::ceil_log2;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Bcast,
    name: "scatter_ring_allgather",
    summary: "The root scatters the message down a binomial tree; a ring then brings all parts to everyone.",
    parameters: &[],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "(q+p−1)α+2((p−1)/p)nβ",
    cost,
    source: "Barnett et al., SHPCC 1994; Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005",
    run,
};

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    let p = shape.ranks;
    let blocks = Blocks::new(shape.bytes / shape.unit, p);
    // The root is busy to the end of the scatter, and the largest block goes all the way around.
    let units = blocks.start(p - 1) + (p - 1) * blocks.units(0).len();
    Cost { rounds: f64::from(ceil_log2(p)) + (p - 1) as f64, bytes: (units * shape.unit) as f64, ..Cost::default() }
}

fn run(comm: &mut dyn Comm, call: &Call, _: &Parameters) {
    let (p, root) = (comm.size(), call.root);
    let v = (comm.rank() + p - root) % p;
    let message = Range::receive(0, call.count);
    let blocks = Blocks::new(call.count, p);
    scatter::binomial(comm, p, v, |v| (v + root) % p, |held| message.slice(&blocks.span(held)));
    ring::allgather_from(comm, &blocks, message, root);
}
