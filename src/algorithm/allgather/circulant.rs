//! In every round a rank gets the blocks next to those that it holds, so many that after the last one it has exactly
//! all.
//!
//! With the skips s_k = ⌈p/2^(q−k)⌉, so that s_0 = 1 and s_q = p, rank r holds the blocks r … r + s_k − 1 before round
//! k and gets the next s_(k+1) − s_k from r + s_k. Blocks lie in their places from the start; only those rounds in
//! which a rank's blocks pass the last rank go through scratch.
//!
//! State at p = 7 (skips 1, 2, 4, 7; blocks held, modulo 7):
//!
//! ```text
//! rank      0       1       2       3       4       5       6
//! start     0       1       2       3       4       5       6
//! round 0   0,1     1,2     2,3     3,4     4,5     5,6     6,7
//! round 1   0..3    1..4    2..5    3..6    4..7    5..8    6..9
//! round 2   0..6    1..7    2..8    3..9    4..10   5..11   6..12
//! ```
//!
//! Cost: qα + (p−1)bβ. Needs: nothing. Memory: at most pb bytes of scratch, none at ranks whose blocks wrap in no
//! round.
//!
//! Source: J. L. Träff, "Optimal, Non-pipelined Reduce-scatter and Allreduce Algorithms", arXiv 2410.14234, 2024.
//! Departures: 1. no rotation at the end.

use crate::algorithm::engine::exchange::{self, Exchange};
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::Comm;
use crate::pattern::turns::circulant;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Allgather,
    name: "circulant",
    summary: "In every round a rank gets the blocks next to those that it holds; nothing is rotated.",
    parameters: &[],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "qα+(p−1)bβ",
    cost,
    source: "Träff, arXiv 2410.14234, 2024",
    run,
};

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    exchange::packed_cost(shape, 1, |rank| circulant(shape.ranks, rank).map(|turn| (turn.to, turn.outgoing.len())))
}

fn run(comm: &mut dyn Comm, call: &Call, _: &Parameters) {
    let mut exchange = Exchange::new(comm, call.count);
    for turn in circulant(comm.size(), comm.rank()) {
        exchange.turn(comm, &turn);
    }
}
