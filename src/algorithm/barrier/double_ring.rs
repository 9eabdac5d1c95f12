//! A token goes round the ring twice: first to find that all have arrived, then to release them.
//!
//! Whoever gets the token the first time knows that all lower ranks are there; rank 0 gets it back when all are. The
//! second round ends at the last rank, since rank 0 knows already.
//!
//! State at p = 4 (who holds the token; `*` has seen it twice, and rank 0 has when it comes back):
//!
//! ```text
//! message   0   1   2   3   4   5   6
//! token     1   2   3   0*  1*  2*  3*
//! ```
//!
//! Cost: (2p−1)α. Needs: nothing. Memory: none.
//!
//! Source: folklore; as in Open MPI's coll/base. Departures: 1. the token does not come back a second time.

use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::Comm;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Barrier,
    name: "double_ring",
    summary: "A token goes round the ring twice: first to find that all have arrived, then to release them.",
    parameters: &[],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "(2p−1)α",
    cost,
    source: "folklore; Open MPI coll/base",
    run,
};

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    let messages = if shape.ranks == 1 { 0 } else { 2 * shape.ranks - 1 };
    Cost { rounds: messages as f64, ..Cost::default() }
}

fn run(comm: &mut dyn Comm, _: &Call, _: &Parameters) {
    let (p, r) = (comm.size(), comm.rank());
    if p == 1 {
        return;
    }
    let (left, right) = ((r + p - 1) % p, (r + 1) % p);
    let token = comm.scratch(0);
    if r == 0 {
        comm.send(right, token);
        comm.recv(left, token);
        comm.send(right, token);
        return;
    }
    comm.recv(left, token);
    comm.send(right, token);
    comm.recv(left, token);
    if right != 0 {
        comm.send(right, token);
    }
}
