//! The root sends every rank its block, a limited number of sends under way at a time.
//!
//! As `linear`, but once `max_requests` sends are under way the root waits for the oldest before it starts another, so
//! that neither requests nor unexpected messages pile up, whatever p.
//!
//! State at p = 4, root 0 (blocks held):
//!
//! ```text
//! rank      0     1     2     3
//! start     0..3  .     .     .
//! round 0   0..3  1     .     .
//! round 1   0..3  1     2     .
//! round 2   0..3  1     2     3
//! ```
//!
//! Cost: (p−1)(α + bβ). Needs: nothing. Memory: none.
//!
//! Source: Open MPI `linear_nb`. Departures: 1. the oldest send is waited for, instead of every so many being a
//! blocking one, so that the limit holds for all.

use crate::algorithm::{Algorithm, Call, Cost, Default, Kind, Needs, Operation, Parameter, Parameters, Shape};
use crate::operation::{Comm, Range, Requests};

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Scatter,
    name: "linear_nonblocking",
    summary: "The root sends every rank its block, a limited number of sends under way at a time.",
    parameters: &[Parameter {
        name: "max_requests",
        kind: Kind::Count { least: 1 },
        default: Default::Count(8),
        help: "sends under way at a time",
    }],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "(p−1)(α+bβ)",
    cost,
    source: "Open MPI linear_nb",
    run,
};

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    let others = (shape.ranks - 1) as f64;
    Cost { rounds: others, bytes: others * shape.bytes as f64, ..Cost::default() }
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    let (p, r, b) = (comm.size(), comm.rank(), call.count);
    let own = Range::receive(0, b);
    if r != call.root {
        comm.recv(call.root, own);
        return;
    }
    let max_requests = parameters.count("max_requests");
    let mut sends = Requests::new();
    for rank in (1..p).map(|distance| (r + distance) % p) {
        if sends.len() == max_requests {
            let oldest = sends.remove(0);
            comm.wait(&[oldest]);
        }
        sends.push(comm.isend(rank, Range::send(rank * b, b)));
    }
    comm.copy(Range::send(r * b, b), own);
    comm.wait(&sends);
}
