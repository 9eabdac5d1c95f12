//! Every rank reports to rank 0, which releases all of them once the last has arrived.
//!
//! State at p = 4 (who has reported, then who is released):
//!
//! ```text
//! reports     0 1, 0 1 2, 0 1 2 3
//! releases    0 1, 0 1 2, 0 1 2 3
//! ```
//!
//! Cost: 2(p−1)α. Needs: nothing. Memory: none.
//!
//! Source: folklore; the central counter of J. Mellor-Crummey, M. Scott, "Algorithms for Scalable Synchronization on
//! Shared-Memory Multiprocessors", ACM TOCS 9(1), 1991.

use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::{Comm, Requests};

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Barrier,
    name: "linear",
    summary: "Every rank reports to rank 0, which releases all of them once the last has arrived.",
    parameters: &[],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "2(p−1)α",
    cost,
    source: "folklore; Mellor-Crummey, Scott, ACM TOCS 9(1), 1991",
    run,
};

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    Cost { rounds: 2.0 * (shape.ranks - 1) as f64, ..Cost::default() }
}

fn run(comm: &mut dyn Comm, _: &Call, _: &Parameters) {
    let nothing = comm.scratch(0);
    if comm.rank() == 0 {
        let reports: Requests = (1..comm.size()).map(|rank| comm.irecv(rank, nothing)).collect();
        comm.wait(&reports);
        let releases: Requests = (1..comm.size()).map(|rank| comm.isend(rank, nothing)).collect();
        comm.wait(&releases);
    } else {
        comm.send(0, nothing);
        comm.recv(0, nothing);
    }
}
