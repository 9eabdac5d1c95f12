//! Neighbours meet by turns on the left and on the right and pass on the pair of blocks that they got last.
//!
//! In round 0 ranks 2g and 2g + 1 exchange their blocks. From then on every rank meets its two neighbours by turns and
//! gives each the two blocks that the other one gave it in the round before.
//!
//! State at p = 6 (blocks held):
//!
//! ```text
//! rank      0         1         2         3         4         5
//! start     0         1         2         3         4         5
//! round 0   0,1       0,1       2,3       2,3       4,5       4,5
//! round 1   0,1,4,5   0..3      0..3      2..5      2..5      4,5,0,1
//! round 2   all       all       all       all       all       all
//! ```
//!
//! Cost: (p/2)α + (p−1)bβ. Needs: p even. Memory: none.
//!
//! Source: J. Chen, L. Zhang, Y. Zhang, W. Yuan, "Performance Evaluation of Allgather Algorithms on Terascale Linux
//! Cluster with Fast Ethernet", HPC-Asia 2005.

use crate::algorithm::engine::exchange::Exchange;
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, RankNeed, Shape};
use crate::operation::Comm;
use crate::pattern::turns::neighbor;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Allgather,
    name: "neighbor_exchange",
    summary: "Neighbours exchange alternately on the left and right, passing on the pair of blocks received last.",
    parameters: &[],
    needs: Needs { ranks: RankNeed::Even, ..Needs::NOTHING },
    ordered: true,
    alone: true,
    formula: "(p/2)α+(p−1)bβ",
    cost,
    source: "Chen, Zhang, Zhang, Yuan, HPC-Asia 2005",
    run,
};

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    Cost { rounds: (shape.ranks / 2) as f64, bytes: (shape.ranks - 1) as f64 * shape.bytes as f64, ..Cost::default() }
}

fn run(comm: &mut dyn Comm, call: &Call, _: &Parameters) {
    let mut exchange = Exchange::new(comm, call.count);
    for turn in neighbor(comm.size(), comm.rank()) {
        exchange.turn(comm, &turn);
    }
}
