//! Every rank exchanges its partial result with a partner twice as far away each round.
//!
//! In round k (distance d = 2^k) core rank c exchanges everything it has with c ⊕ d and folds the two in rank order, so
//! both hold the same bits. For p that is no power of two, the even ranks of the first 2·(p − 2^⌊log2 p⌋) ranks first
//! hand their contribution to their right neighbour, and get the result from it at the end.
//!
//! State at p = 7 (core ranks are 1 3 5 6; ab = a∘b):
//!
//! ```text
//! rank      0    1        2    3        4    5        6
//! start     0    1        2    3        4    5        6
//! hand in   -    01       -    23       -    45       6
//! round 0   -    0123     -    0123     -    456      456
//! round 1   -    0..6     -    0..6     -    0..6     0..6
//! hand out  0..6 0..6     0..6 0..6     0..6 0..6     0..6
//! ```
//!
//! Cost: q(α + nβ + nγ), and for p ≠ 2^k two more messages and one more fold around ⌊log2 p⌋ rounds.
//! Needs: nothing. Memory: n bytes of scratch.
//!
//! Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of Collective Communication Operations in MPICH",
//! IJHPCA 19(1), 2005. Departures: 1. the fold takes the lower core rank's part on the left, so the algorithm is
//! ordered and its result identical on all ranks.

use crate::algorithm::engine::butterfly;
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::Comm;
use crate::pattern::butterfly::hypercube;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Allreduce,
    name: "recursive_doubling",
    summary: "Every rank exchanges its partial result with a partner twice as far away each round.",
    parameters: &[],
    needs: Needs::NOTHING,
    ordered: true,
    alone: false,
    formula: "q(α+nβ+nγ); p≠2^k: (⌊log2 p⌋+2)(α+nβ)+(⌊log2 p⌋+1)nγ",
    cost,
    source: "Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005",
    run,
};

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    butterfly::whole_cost(shape, hypercube)
}

fn run(comm: &mut dyn Comm, call: &Call, _: &Parameters) {
    butterfly::allreduce_whole(comm, call.count, hypercube);
}
