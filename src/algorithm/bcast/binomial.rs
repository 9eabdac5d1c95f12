//! The message goes down a binomial tree, the farthest child first.
//!
//! Ranks are counted from the root: v = (r − root) mod p. v receives from v with its lowest set bit cleared, then sends
//! to v + d for every power of two d below that bit, the largest first, since that child has the largest subtree.
//!
//! State at p = 7 (`*` has the message):
//!
//! ```text
//! v         0 1 2 3 4 5 6
//! start     * . . . . . .
//! round 0   * . . . * . .
//! round 1   * . * . * . *
//! round 2   * * * * * * *
//! ```
//!
//! Cost: q(α + nβ), in S segments Sq(α + sβ): the root sends each of them q times. Needs: nothing. Memory: none.
//!
//! Source: folklore; as in Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005.

use crate::algorithm::engine::down;
use crate::algorithm::optimum::{Pace, SEGMENT};
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::Comm;
use crate::pattern::hypercube::ceil_log2;
use crate::pattern::knomial::Knomial;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Bcast,
    name: "binomial",
    summary: "The message goes down a binomial tree, the farthest child first.",
    parameters: &[SEGMENT],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "Sq(α+sβ); one segment: q(α+nβ)",
    cost,
    source: "folklore; Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005",
    run,
};

pub(in crate::algorithm) fn pace(ranks: usize) -> Pace {
    let rounds = ceil_log2(ranks) as usize;
    Pace::new(rounds, rounds)
}

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    let segments = parameters.segments_of(shape, pace(shape.ranks));
    let rounds = f64::from(ceil_log2(shape.ranks));
    Cost { rounds: rounds * segments.number() as f64, bytes: rounds * shape.bytes as f64, ..Cost::default() }
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    let segments = parameters.segments(call, pace(comm.size()));
    let tree = Knomial::binomial(comm.size());
    down::bcast(comm, call, &tree, segments);
}
