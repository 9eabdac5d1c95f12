//! Several chains of ranks end at the root; each rank adds its block to those that come from behind and passes all on.
//!
//! Ranks are counted from the root: v = (r − root) mod p. The ranks 1 … p − 1 are divided into c runs of sizes that
//! differ by at most one; in a run every rank sends to the one before it, the first one to the root.
//!
//! State at p = 7, c = 2 (blocks held; the chains are 3 2 1 and 6 5 4):
//!
//! ```text
//! v         0     1     2     3     4     5     6
//! start     0     1     2     3     4     5     6
//! round 0   0     1     2,3   .     4     5,6   .
//! round 1   0     1..3  .     .     4..6  .     .
//! round 2   0..3  .     .     .     4..6  .     .
//! round 3   0..6  .     .     .     .     .     .
//! ```
//!
//! Cost: at most (m − 1 + c)α + (m(m−1)/2 + cm)bβ with m = ⌈(p−1)/c⌉: few start-ups for the root, but every block
//! travels all the way to it. See `pipeline` for blocks that travel one by one. Needs: nothing. Memory: the blocks of
//! its subtree at every inner rank; at the root those of the one child whose ranks pass the last rank.
//!
//! Source: Open MPI `chain` topology, used there for broadcast and reduce.

use crate::algorithm::engine::range_tree;
use crate::algorithm::{Algorithm, Call, Cost, Default, Kind, Needs, Operation, Parameter, Parameters, Shape};
use crate::operation::Comm;
use crate::pattern::range_tree::RangeTree;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Gather,
    name: "chain",
    summary: "Several chains of ranks end at the root; each rank adds its block to those that come along.",
    parameters: &[Parameter {
        name: "chains",
        kind: Kind::Count { least: 1 },
        default: Default::Count(4),
        help: "c: chains that end at the root",
    }],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "at most (m−1+c)α+(m(m−1)/2+cm)bβ, m=⌈(p−1)/c⌉, p>c",
    cost,
    source: "Open MPI chain topology",
    run,
};

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    range_tree::cost(shape, tree(parameters))
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    range_tree::gather(comm, call, tree(parameters));
}

pub(in crate::algorithm) fn tree(parameters: &Parameters) -> RangeTree {
    RangeTree::Kary { top: parameters.count("chains"), below: 1 }
}
