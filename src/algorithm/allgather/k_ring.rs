//! Rings inside groups of k neighbouring ranks, and between them a ring of groups that every block enters only once.
//!
//! First each group shares its own blocks around its inner ring. Then, p/k − 1 times, every group hands the group of
//! blocks that it got last (at first its own) to the next group, member to member at the same time, and shares what it
//! got from the group before around its inner ring. So of k steps only one leaves the group, which may be a node. All
//! groups have the same size, the largest divisor of p that is at most `group`.
//!
//! State at p = 4, k = 2 (blocks held):
//!
//! ```text
//! rank      0       1       2       3
//! start     0       1       2       3
//! inside    0,1     0,1     2,3     2,3
//! between   0..2    0,1,3   2,3,0   1..3
//! inside    all     all     all     all
//! ```
//!
//! Cost: (p−1)(α + bβ), of which p/k − 1 rounds are between groups. Needs: nothing. Memory: none.
//!
//! Source: M. Wilkins et al., "Generalized Collective Algorithms for the Exascale Era", CLUSTER 2023. Departures: 1. a
//! `group` that does not divide p is made smaller; for prime p this is `ring`.

use crate::algorithm::engine::exchange::Exchange;
use crate::algorithm::{Algorithm, Call, Cost, Default, Kind, Needs, Operation, Parameter, Parameters, Shape};
use crate::operation::Comm;
use crate::pattern::turns::rings;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Allgather,
    name: "k_ring",
    summary: "Rings inside groups of k neighbouring ranks, and between them a ring of groups.",
    parameters: &[Parameter {
        name: "group",
        kind: Kind::Count { least: 1 },
        default: Default::Count(4),
        help: "k: ranks in a group, best those of a node; the next smaller divisor of p if k is not one",
    }],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "(p−1)(α+bβ)",
    cost,
    source: "Wilkins et al., CLUSTER 2023",
    run,
};

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    let rounds = (shape.ranks - 1) as f64;
    Cost { rounds, bytes: rounds * shape.bytes as f64, ..Cost::default() }
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    let p = comm.size();
    let mut exchange = Exchange::new(comm, call.count);
    for turn in rings(p, comm.rank(), size(p, parameters)) {
        exchange.turn(comm, &turn);
    }
}

/// Ranks in a group.
fn size(p: usize, parameters: &Parameters) -> usize {
    let divides = |size: &usize| p.is_multiple_of(*size);
    (1..=parameters.count("group").min(p)).rev().find(divides).expect("one divides everything")
}
