//! Every rank exchanges a block with every other one, a limited number of exchanges under way at a time.
//!
//! Step by step a rank sends to the one 1, p−1, 2, p−2, … ranks further on and receives from the one as far back, so
//! that no rank is everybody's target at once. Once `max_requests` steps are under way it waits for the oldest before
//! it starts another. Steps in which a rank has nothing to send and nothing to receive are left out.
//!
//! State at p = 4 (ranks whose blocks have arrived):
//!
//! ```text
//! rank      0       1       2       3
//! start     0       1       2       3
//! round 0   0,3     1,0     2,1     3,2
//! round 1   0,3,1   1,0,2   2,1,3   3,2,0
//! round 2   all     all     all     all
//! ```
//!
//! Cost: (p−1)(α + bβ) with b bytes a block, with the start-ups overlapping as far as the network lets them. Needs:
//! nothing. Memory: none, but twice `max_requests` requests; in place the longest block for each step under way and one
//! more.
//!
//! Source: folklore; Open MPI `basic_linear`; MPICH `scattered`, whose limit of 32 (`ALLTOALL_THROTTLE`) is the default
//! here. Departures: 1. near and far distances take turns, so that in place a block that arrives soon finds the one
//! that lay in its place gone; 2. the oldest exchange is waited for, instead of every batch.

use crate::algorithm::engine::pairs;
use crate::algorithm::{Algorithm, Call, Cost, Default, Kind, Needs, Operation, Parameter, Parameters, Shape};
use crate::operation::Comm;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Alltoallv,
    name: "linear",
    summary: "Every rank exchanges a block with every other one, a limited number of exchanges under way at a time.",
    parameters: &[Parameter {
        name: "max_requests",
        kind: Kind::Count { least: 1 },
        default: Default::Count(32),
        help: "exchanges under way at a time",
    }],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "(p−1)(α+bβ)",
    cost,
    source: "folklore; Open MPI basic_linear; MPICH scattered",
    run,
};

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    pairs::cost(shape)
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    let partners = pairs::by_distance(comm.rank(), comm.size());
    pairs::exchange(comm, call, partners, parameters.count("max_requests"));
}
