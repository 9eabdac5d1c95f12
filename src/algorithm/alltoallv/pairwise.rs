//! Every rank exchanges a block with every other one, one exchange at a time.
//!
//! In round k of a power of two ranks, r and r xor k exchange their blocks. Otherwise r sends to the rank 1, p−1, 2,
//! p−2, … further on and receives from the one as far back. Steps in which a rank has nothing to send and nothing to
//! receive are left out.
//!
//! State at p = 4 (ranks whose blocks have arrived):
//!
//! ```text
//! rank      0       1       2       3
//! start     0       1       2       3
//! round 0   0,1     1,0     2,3     3,2
//! round 1   0,1,2   1,0,3   2,3,0   3,2,1
//! round 2   all     all     all     all
//! ```
//!
//! Cost: (p−1)(α + bβ) with b bytes a block; with blocks of several lengths a step takes as long as its longest. Needs:
//! nothing. Memory: none; in place the longest block, and one more if p is no power of two.
//!
//! Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of Collective Communication Operations in MPICH", IJHPCA
//! 19(1), 2005; Open MPI `pairwise`. Departures: 1. near and far distances take turns, so that in place a block that
//! arrives soon finds the one that lay in its place gone.

use crate::algorithm::engine::pairs;
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::Comm;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Alltoallv,
    name: "pairwise",
    summary: "Every rank exchanges a block with every other one, one exchange at a time.",
    parameters: &[],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "(p−1)(α+bβ)",
    cost,
    source: "Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005",
    run,
};

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    pairs::cost(shape)
}

fn run(comm: &mut dyn Comm, call: &Call, _: &Parameters) {
    pairs::one_by_one(comm, call);
}
