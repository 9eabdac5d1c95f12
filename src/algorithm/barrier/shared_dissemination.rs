//! As dissemination, with flags in shared memory: in each round everyone looks at a rank twice as far away.
//!
//! In round k rank r raises its flag and waits for that of r − 2^k (mod p), so that afterwards it has heard of the
//! 2^{k+1} ranks that end with itself. One flag does for all rounds, as it only grows.
//!
//! State at p = 7 (ranks heard of):
//!
//! ```text
//! rank      0     1     2     3     4     5     6
//! start     0     1     2     3     4     5     6
//! round 0   60    01    12    23    34    45    56
//! round 1   4560  5601  6012  0123  1234  2345  3456
//! round 2   all   all   all   all   all   all   all
//! ```
//!
//! Cost: q·t_W. Needs: shared memory. Memory: a flag for each rank.
//!
//! Source: D. Hensgen, R. Finkel, U. Manber, "Two Algorithms for Barrier Synchronization", IJPP 17(1), 1988; J.
//! Mellor-Crummey, M. Scott, ACM TOCS 9(1), 1991.

use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::Comm;
use crate::pattern::hypercube::ceil_log2;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Barrier,
    name: "shared_dissemination",
    summary: "In each round every rank waits for the flag, in shared memory, of a rank twice as far away.",
    parameters: &[],
    needs: Needs::SHARED_MEMORY,
    ordered: true,
    alone: true,
    formula: "q·t_W",
    cost,
    source: "Hensgen, Finkel, Manber, IJPP 17(1), 1988; Mellor-Crummey, Scott, ACM TOCS 9(1), 1991",
    run,
};

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    Cost { notified: f64::from(ceil_log2(shape.ranks)), ..Cost::default() }
}

fn run(comm: &mut dyn Comm, _: &Call, _: &Parameters) {
    let (p, r) = (comm.size(), comm.rank());
    for round in 0..ceil_log2(p) as usize {
        match round {
            0 => comm.enter(1),
            _ => comm.signal(round + 1),
        }
        comm.await_flag((r + p - (1 << round)) % p, round + 1);
    }
}
