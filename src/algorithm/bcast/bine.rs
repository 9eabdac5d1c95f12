//! The message goes down a binomial negabinary tree, whose links are shorter than the binomial tree's.
//!
//! Positions are counted in base −2, so that the children of the root lie at distances 1, −1, 3, −5, 11, … instead of
//! 1, 2, 4, 8, 16, …, the farthest served first. On machines whose ranks lie in groups, fewer messages leave a group. A
//! subtree is a run of neighbouring ranks.
//!
//! State at p = 7, v = (r − root) mod p (`*` has the message):
//!
//! ```text
//! v         0 1 2 3 4 5 6
//! start     * . . . . . .
//! round 0   * . . * . . .
//! round 1   * . . * * . *
//! round 2   * * * * * * *
//! ```
//!
//! Cost: q(α + nβ). Needs: nothing. Memory: none.
//!
//! Source: D. De Sensi et al., "Bine Trees: Enhancing Collective Operations by Optimizing Communication Locality", SC
//! 2025. Departures: 1. any p: halves of runs differ by at most one rank.

use crate::algorithm::engine::down;
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::Comm;
use crate::pattern::bine::Bine;
use crate::pattern::hypercube::ceil_log2;
use crate::pattern::segments::Segments;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Bcast,
    name: "bine",
    summary: "The message goes down a binomial negabinary tree, whose links are shorter than the binomial tree's.",
    parameters: &[],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "q(α+nβ)",
    cost,
    source: "De Sensi et al., Bine Trees, SC 2025",
    run,
};

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    let rounds = f64::from(ceil_log2(shape.ranks));
    Cost { rounds, bytes: rounds * shape.bytes as f64, ..Cost::default() }
}

fn run(comm: &mut dyn Comm, call: &Call, _: &Parameters) {
    let tree = Bine { ranks: comm.size() };
    down::bcast(comm, call, &tree, Segments::whole(call.count));
}
