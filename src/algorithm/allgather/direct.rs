//! Every rank sends its block to every other rank.
//!
//! All receives are posted first, straight to their places; then the block goes to r + 1, r + 2, …, so that no rank is
//! everybody's target at once.
//!
//! State at p = 4 (blocks held):
//!
//! ```text
//! rank      0       1       2       3
//! start     0       1       2       3
//! round 0   0,3     1,0     2,1     3,2
//! round 1   0,3,2   1,0,3   2,1,0   3,2,1
//! round 2   all     all     all     all
//! ```
//!
//! Cost: (p−1)(α + bβ), with the start-ups overlapping as far as the network lets them. Needs: nothing. Memory: none,
//! but 2(p−1) requests.
//!
//! Source: folklore; Open MPI `direct_messaging`.

use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::{Comm, Range, Requests};

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Allgather,
    name: "direct",
    summary: "Every rank sends its block to every other rank.",
    parameters: &[],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "(p−1)(α+bβ)",
    cost,
    source: "folklore; Open MPI direct_messaging",
    run,
};

pub(super) fn cost(shape: &Shape, _: &Parameters) -> Cost {
    let rounds = (shape.ranks - 1) as f64;
    Cost { rounds, bytes: rounds * shape.bytes as f64 * shape.sharing_among_all(), ..Cost::default() }
}

pub(super) fn run(comm: &mut dyn Comm, call: &Call, _: &Parameters) {
    let (p, r, b) = (comm.size(), comm.rank(), call.count);
    let own = Range::send(0, b);
    let mut messages = Requests::new();
    for distance in 1..p {
        let from = (r + p - distance) % p;
        messages.push(comm.irecv(from, Range::receive(from * b, b)));
    }
    for distance in 1..p {
        messages.push(comm.isend((r + distance) % p, own));
    }
    comm.copy(own, Range::receive(r * b, b));
    comm.wait(&messages);
}
