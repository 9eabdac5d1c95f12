//! Contributions come up a binomial negabinary tree, whose links are shorter than the binomial tree's.
//!
//! The dual of the Bine broadcast: a subtree is a run of neighbouring ranks, and each child borders on what is folded
//! already. Where the operation is not commutative, the runs are counted from rank 0 whatever the root, and the rank
//! that the tree then leads to passes the result on.
//!
//! State at p = 7, v = (r − root) mod p (ab = a∘b):
//!
//! ```text
//! v         0    1  2  3    4  5  6
//! start     0    1  2  3    4  5  6
//! round 0   01   .  .  23   4  .  56
//! round 1   5601 .  .  234  .  .  .
//! round 2   all  .  .  .    .  .  .
//! ```
//!
//! Cost: q(α + nβ + nγ); one α + nβ more where order matters, unless the tree leads to the root. Needs: nothing.
//! Memory: up to 3n bytes of scratch; n more at the rank that passes the result on.
//!
//! Source: D. De Sensi et al., "Bine Trees: Enhancing Collective Operations by Optimizing Communication Locality", SC
//! 2025. Departures: 1. any p: halves of runs differ by at most one rank.

use crate::algorithm::engine::up;
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::Comm;
use crate::pattern::bine::Bine;
use crate::pattern::hypercube::ceil_log2;
use crate::pattern::segments::Segments;
use crate::pattern::tree::Tree;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Reduce,
    name: "bine",
    summary: "Contributions come up a binomial negabinary tree, whose links are shorter than the binomial tree's.",
    parameters: &[],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "q(α+nβ+nγ)",
    cost,
    source: "De Sensi et al., Bine Trees, SC 2025",
    run,
};

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    let rounds = f64::from(ceil_log2(shape.ranks));
    let bytes = rounds * shape.bytes as f64;
    Cost { rounds, bytes, folded: bytes, ..Cost::default() } + up::passed_on(shape, Bine { ranks: shape.ranks }.root())
}

fn run(comm: &mut dyn Comm, call: &Call, _: &Parameters) {
    let tree = Bine { ranks: comm.size() };
    up::reduce(comm, call, &tree, Segments::whole(call.count), 1);
}
