//! Halving of a linear array or ring, backwards: runs of ranks double, the head of the far half sends to the near
//! one's.
//!
//! Ranks are counted from the root: v = (r − root) mod p. No two messages of one round cross the same link of the
//! array. Where the operation is not commutative, ranks are counted from 0 whatever the root, and rank 0 passes the
//! result on.
//!
//! State at p = 7 (ab = a∘b):
//!
//! ```text
//! v         0    1  2   3  4    5  6
//! start     0    1  2   3  4    5  6
//! round 0   01   .  23  .  45   .  6
//! round 1   0123 .  .   .  456  .  .
//! round 2   0..6 .  .   .  .    .  .
//! ```
//!
//! Cost: q(α + nβ + nγ); one α + nβ more where order matters and the root is not 0. Needs: nothing. Memory: up to 3n
//! bytes of scratch; n more at the rank that passes the result on.
//!
//! Source: A. Grama, A. Gupta, G. Karypis, V. Kumar, "Introduction to Parallel Computing", 2003, section 4.1.
//! Departures:
//! 1. any p: the near half is the larger one by at most one rank.

use crate::algorithm::engine::up;
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::Comm;
use crate::pattern::hypercube::ceil_log2;
use crate::pattern::linear_array::LinearArray;
use crate::pattern::segments::Segments;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Reduce,
    name: "ring",
    summary: "Halving of a linear array or ring, backwards: the head of the far half sends to that of the near one.",
    parameters: &[],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "q(α+nβ+nγ)",
    cost,
    source: "Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, 4.1, 2003",
    run,
};

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    let rounds = f64::from(ceil_log2(shape.ranks));
    let bytes = rounds * shape.bytes as f64;
    Cost { rounds, bytes, folded: bytes, ..Cost::default() } + up::passed_on(shape, 0)
}

fn run(comm: &mut dyn Comm, call: &Call, _: &Parameters) {
    let tree = LinearArray { ranks: comm.size() };
    up::reduce(comm, call, &tree, Segments::whole(call.count), 1);
}
