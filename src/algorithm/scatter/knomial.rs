//! Blocks go down a k-nomial tree: every rank keeps one k-th of them in every level.
//!
//! Ranks are counted from the root: v = (r − root) mod p. A rank that holds the blocks v … v + k^(j+1) − 1 sends those
//! from v + i·k^j on to that rank, k^j at a time, for 0 < i < k.
//!
//! State at p = 7, k = 3 (blocks still to be handed out, and the own one):
//!
//! ```text
//! v         0     1     2     3     4     5     6
//! start     0..6  .     .     .     .     .     .
//! level 1   0..2  .     .     3..5  .     .     6
//! level 0   0     1     2     3     4     5     6
//! ```
//!
//! Cost: at most (k−1)⌈log_k p⌉α + (p−1)bβ: the first level has fewer rounds if p < k^⌈log_k p⌉. The k−1 messages of a level
//! share the sender's link but need not wait for each other, so with fast start-ups a level takes little more than one
//! α. Needs: nothing. Memory: the blocks of its subtree at every inner rank; at the root those of the one child whose
//! ranks pass the last rank.
//!
//! Source: M. Wilkins et al., "Generalized Collective Algorithms for the Exascale Era", CLUSTER 2023.

use crate::algorithm::engine::range_tree;
use crate::algorithm::gather::knomial::{RADIX, tree};
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::Comm;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Scatter,
    name: "knomial",
    summary: "Blocks go down a k-nomial tree: every rank keeps one k-th of them in every level.",
    parameters: &[RADIX],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "at most (k−1)⌈log_k p⌉α+(p−1)bβ, p≥k",
    cost,
    source: "Wilkins et al., CLUSTER 2023",
    run,
};

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    range_tree::cost(shape, tree(parameters))
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    range_tree::scatter(comm, call, tree(parameters));
}
