//! In each round every rank signals a rank twice as far away as in the round before.
//!
//! In round k rank r sends to r + 2^k and hears from r − 2^k (mod p), so that afterwards it has heard of the 2^{k+1}
//! ranks that end with itself.
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
//! Cost: qα. Needs: nothing. Memory: none.
//!
//! Source: D. Hensgen, R. Finkel, U. Manber, "Two Algorithms for Barrier Synchronization", IJPP 17(1), 1988; the same
//! rounds as Bruck's allgather.

use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::Comm;
use crate::pattern::hypercube::ceil_log2;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Barrier,
    name: "dissemination",
    summary: "In each round every rank signals a rank twice as far away as in the round before.",
    parameters: &[],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "qα",
    cost,
    source: "Hensgen, Finkel, Manber, IJPP 17(1), 1988",
    run,
};

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    Cost { rounds: f64::from(ceil_log2(shape.ranks)), ..Cost::default() }
}

fn run(comm: &mut dyn Comm, _: &Call, _: &Parameters) {
    let (p, r) = (comm.size(), comm.rank());
    let nothing = comm.scratch(0);
    let mut distance = 1;
    while distance < p {
        comm.sendrecv((r + distance) % p, nothing, (r + p - distance) % p, nothing);
        distance *= 2;
    }
}
