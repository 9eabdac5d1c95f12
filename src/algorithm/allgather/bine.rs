//! Ranks meet at the distances 1, −1, 3, −5, 11, … and exchange all blocks that they hold, which always are neighbours.
//!
//! Even ranks count the distances upwards, odd ones downwards. The blocks held grow by turns on both sides of the own
//! one; in the last round, if p ≠ 2^q, only what is missing is sent.
//!
//! State at p = 6 (blocks held; negative ones count from p):
//!
//! ```text
//! rank      0      1      2      3      4      5
//! start     0      1      2      3      4      5
//! round 0   0,1    0,1    2,3    2,3    4,5    4,5
//! round 1   -2..1  0..3   0..3   2..5   2..5   4..7
//! round 2   -2..3  -2..3  0..5   0..5   2..7   2..7
//! ```
//!
//! For odd p, two even ranks are neighbours and the ranks do not fall into pairs: then all ranks get the 2^k blocks
//! that are next above (k even) or below (k odd) those they hold from the rank 2^k above or below.
//!
//! Cost: qα + (p−1)bβ. Needs: nothing. Memory: at most pb bytes of scratch, none at ranks whose blocks wrap in no
//! round.
//!
//! Source: D. De Sensi et al., "Bine Trees: Enhancing Collective Operations by Optimizing Communication Locality", SC
//! 2025; distances as in D. De Sensi et al., "Swing: Short-cutting Rings for Higher Bandwidth Allreduce", NSDI 2024.
//! Departures:
//! 1. even p ≠ 2^q cuts the last exchange short; 2. odd p shifts instead of exchanging, with longer links.

use crate::algorithm::engine::exchange::{self, Exchange};
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::Comm;
use crate::pattern::turns::{bine, bine_together};

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Allgather,
    name: "bine",
    summary: "Ranks meet at the distances 1, −1, 3, −5, 11, … and exchange all blocks that they hold.",
    parameters: &[],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "qα+(p−1)bβ",
    cost,
    source: "De Sensi et al., SC 2025",
    run,
};

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    exchange::packed_cost(shape, bine_together(shape.ranks), |rank| {
        bine(shape.ranks, rank).map(|turn| (turn.to, turn.outgoing.len()))
    })
}

fn run(comm: &mut dyn Comm, call: &Call, _: &Parameters) {
    let mut exchange = Exchange::new(comm, call.count);
    for turn in bine(comm.size(), comm.rank()) {
        exchange.turn(comm, &turn);
    }
}
