//! Everyone counts itself at one counter; the last one to arrive turns the flag that all wait for.
//!
//! The counter is never reset: it grows by p in every barrier, and who finds it at the next multiple is the last.
//!
//! State at p = 4 (who has arrived; `*` goes on):
//!
//! ```text
//! counter   0   0 1   0 1 2   0 1 2 3
//! flag      .   .     .       * * * *
//! ```
//!
//! Cost: p·t_A + t_W. Needs: shared memory. Memory: a counter and a flag.
//!
//! Source: J. Mellor-Crummey, M. Scott, "Algorithms for Scalable Synchronization on Shared-Memory Multiprocessors", ACM
//! TOCS 9(1), 1991 (the sense-reversing centralised barrier, with a number instead of a sense).

use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape, Shared};
use crate::operation::Comm;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Barrier,
    name: "central_counter",
    summary: "Every rank increments one counter in shared memory; the last one flips the flag that all wait for.",
    parameters: &[],
    needs: Needs::SHARED_MEMORY,
    ordered: true,
    alone: true,
    formula: "p·t_A+t_W",
    cost,
    source: "Mellor-Crummey, Scott, ACM TOCS 9(1), 1991; Kurnosov, lectures on collective operations",
    run,
};

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    match shape.ranks {
        1 => Cost::default(),
        ranks => Cost { notified: 1.0, arrived: ranks as f64, ..Cost::default() },
    }
}

fn run(comm: &mut dyn Comm, _: &Call, _: &Parameters) {
    if comm.size() > 1 {
        comm.enter(0);
        comm.shared(Shared::Arrive);
        comm.shared(Shared::AwaitArrivals);
    }
}
