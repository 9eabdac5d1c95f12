//! Every rank exchanges all blocks that it holds with a partner twice as far away each round.
//!
//! In round k rank r meets r ⊕ 2^k. Both hold a run of 2^k blocks, those of the ranks that agree with them in all bits
//! from k on, and the two runs are neighbours.
//!
//! State at p = 8 (blocks held):
//!
//! ```text
//! rank      0     1     2     3     4     5     6     7
//! start     0     1     2     3     4     5     6     7
//! round 0   0,1   0,1   2,3   2,3   4,5   4,5   6,7   6,7
//! round 1   0..3  0..3  0..3  0..3  4..7  4..7  4..7  4..7
//! round 2   all   all   all   all   all   all   all   all
//! ```
//!
//! Cost: qα + (p−1)bβ. Needs: p = 2^k. Memory: none.
//!
//! Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of Collective Communication Operations in MPICH",
//! IJHPCA 19(1), 2005.

use crate::algorithm::engine::{butterfly, exchange};
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, RankNeed, Shape};
use crate::operation::{Comm, Range};
use crate::pattern::blocks::Blocks;
use crate::pattern::butterfly::hypercube;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Allgather,
    name: "recursive_doubling",
    summary: "Every rank exchanges all blocks that it holds with a partner twice as far away each round.",
    parameters: &[],
    needs: Needs { ranks: RankNeed::PowerOfTwo, ..Needs::NOTHING },
    ordered: true,
    alone: true,
    formula: "qα+(p−1)bβ",
    cost,
    source: "Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005",
    run,
};

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    exchange::doubling_cost(shape, |rank| {
        hypercube(shape.ranks, rank).into_iter().enumerate().map(|(step, met)| (met.partner, 1 << step))
    })
}

fn run(comm: &mut dyn Comm, call: &Call, _: &Parameters) {
    let (p, r, b) = (comm.size(), comm.rank(), call.count);
    comm.copy(Range::send(0, b), Range::receive(r * b, b));
    // The engine undoes halvings, the last one first; so the nearest partner, met first, stands last.
    let mut steps = hypercube(p, r);
    steps.reverse();
    butterfly::double(comm, &steps, &Blocks::new(p * b, p), Range::receive(0, p * b));
}
