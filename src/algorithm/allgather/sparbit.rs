//! Blocks leap over the farthest distance first; each later leap, half as far, fills the gaps between the blocks held.
//!
//! In the round of distance d = 2^(q−1), …, 2, 1 rank r holds the blocks of r − 2jd and sends them to r + d, which thus
//! holds those of r + d − jd. The last, largest messages go to the neighbour, which is mostly on the same node.
//!
//! State at p = 6 (blocks held):
//!
//! ```text
//! rank      0        1        2        3        4        5
//! start     0        1        2        3        4        5
//! d = 4     0,2      1,3      2,4      3,5      4,0      5,1
//! d = 2     0,2,4    1,3,5    2,0,4    3,1,5    4,2,0    5,3,1
//! d = 1     all      all      all      all      all      all
//! ```
//!
//! Cost: qα + (p−1)bβ. Needs: nothing. Memory: pb bytes of scratch, to pack messages.
//!
//! Source: W. J. Loch, G. P. Koslovski, "Sparbit: a new logarithmic-cost and data locality-aware MPI Allgather
//! algorithm", arXiv 2109.08751, 2021. Departures: 1. the blocks of a round are packed into one message, not sent one
//! by one.

use crate::algorithm::engine::exchange::{self, Exchange};
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::Comm;
use crate::pattern::sparbit::leaps;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Allgather,
    name: "sparbit",
    summary: "Blocks leap over the farthest distance first; each later leap, half as far, fills the gaps.",
    parameters: &[],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "qα+(p−1)bβ",
    cost,
    source: "Loch, Koslovski, arXiv 2109.08751, 2021",
    run,
};

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    exchange::packed_cost(shape, 1, |rank| leaps(shape.ranks).map(move |leap| (leap.to(rank), leap.blocks)))
}

fn run(comm: &mut dyn Comm, call: &Call, _: &Parameters) {
    let r = comm.rank();
    let mut exchange = Exchange::new(comm, call.count);
    for leap in leaps(comm.size()) {
        let (to, from) = (leap.to(r), leap.from(r));
        exchange.round(comm, (to, leap.outgoing(r)), (from, leap.outgoing(from)));
    }
}
