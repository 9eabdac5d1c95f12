//! The vector's blocks go round the ring twice: once to be reduced, once to be handed out.
//!
//! In round k = 0 … p−2 rank r sends block (r − k) mod p to r + 1, gets block (r − k − 1) mod p from r − 1 and folds
//! its own contribution into it, so that it ends with block (r + 1) mod p complete. Another p − 1 rounds pass the
//! complete blocks on.
//!
//! State at p = 4 (a:23 = block a folded over ranks 2 and 3; the block that travels next):
//!
//! ```text
//! rank      0        1        2        3
//! start     a:0      b:1      c:2      d:3
//! round 0   d:30     a:01     b:12     c:23
//! round 1   c:230    d:301    a:012    b:123
//! round 2   b:1230   c:2301   d:3012   a:0123
//! round 3   a        b        c        d
//! round 4   d        a        b        c
//! round 5   c        d        a        b
//! ```
//!
//! Cost: 2(p−1)α + 2((p−1)/p)nβ + ((p−1)/p)nγ. Needs: a commutative operation, since the fold of a block starts at any
//! rank. Memory: n/p bytes of scratch.
//!
//! Source: P. Patarasuk, X. Yuan, "Bandwidth Optimal All-reduce Algorithms for Clusters of Workstations", JPDC 69(2),
//! 2009. Departures: 1. blocks may be empty, so any count will do.

use crate::algorithm::engine::ring;
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::{Comm, Range};
use crate::pattern::blocks::Blocks;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Allreduce,
    name: "ring",
    summary: "The vector's blocks go round the ring twice: once to be reduced, once to be distributed.",
    parameters: &[],
    needs: Needs::NOTHING,
    ordered: false,
    alone: true,
    formula: "2(p−1)α+2((p−1)/p)nβ+((p−1)/p)nγ",
    cost,
    source: "Patarasuk, Yuan, JPDC 69(2), 2009",
    run,
};

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    let steps = (shape.ranks - 1) as f64;
    let block = (Blocks::new(shape.bytes / shape.unit, shape.ranks).units(0).len() * shape.unit) as f64;
    Cost { rounds: 2.0 * steps, bytes: 2.0 * steps * block, folded: steps * block, ..Cost::default() }
}

fn run(comm: &mut dyn Comm, call: &Call, _: &Parameters) {
    let (own, result) = (Range::send(0, call.count), Range::receive(0, call.count));
    if comm.size() == 1 {
        comm.copy(own, result);
        return;
    }
    let blocks = Blocks::new(call.count, comm.size());
    let incoming = comm.scratch(blocks.units(0).len());
    ring::reduce_scatter(comm, &blocks, own, result, incoming);
    ring::allgather(comm, &blocks, result, 1);
}
