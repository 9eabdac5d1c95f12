//! Blocks are collected at one rank of each node first, then from those at the root.
//!
//! The root speaks for its node, the first rank for every other node. `node` gathers inside each node, then the leaders
//! send the blocks of whole nodes up a tree, so a block leaves its node once at most. The root's node counts as the
//! first one. Where the nodes are not known all ranks count as one node.
//!
//! State at p = 7, root 1, nodes {0 1 2} {3 4} {5 6}, all binomial (blocks held):
//!
//! ```text
//! rank      0     1     2     3     4     5     6
//! start     0     1     2     3     4     5     6
//! node      0     1,2   .     3,4   .     5,6   .
//! node      .     0..2  .     3,4   .     5,6   .
//! leaders   .     0..4  .     .     .     5,6   .
//! leaders   .     0..6  .     .     .     .     .
//! ```
//!
//! Cost: that of `node` inside the largest node, then ⌈log2 N⌉α for N nodes and bβ for every rank that is not on the
//! root's node. Needs: nothing. Memory: the blocks of its subtree at every leader; at the root those that are no run of
//! ranks.
//!
//! Source: X. Luo, W. Wu, G. Bosilca, Y. Pei, Q. Cao, T. Patinyasakdikul, D. Zhong, J. Dongarra, "HAN: a Hierarchical
//! AutotuNed Collective Communication Framework", CLUSTER 2020. Departures: 1. nodes may be of any sizes and ranks
//! anywhere on them.

use crate::algorithm::engine::node_blocks;
use crate::algorithm::gather;
use crate::algorithm::{Algorithm, Call, Choice, Cost, Default, Kind, Needs, Operation, Parameter, Parameters, Shape};
use crate::operation::Comm;
use crate::pattern::range_tree::RangeTree;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Gather,
    name: "hierarchical",
    summary: "Blocks are collected at one rank of each node first, then from those at the root.",
    parameters: &[
        Parameter {
            name: "leaders",
            kind: Kind::Word(&["binomial", "linear"]),
            default: Default::Word("binomial"),
            help: "tree among the leaders of the nodes",
        },
        Parameter {
            name: "node",
            kind: Kind::OnNode(Operation::Gather),
            default: Default::Inner(&gather::binomial::ROW),
            help: "algorithm inside each node, and among all ranks where the nodes are not known",
        },
    ],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "node inside the largest node + leaders among the nodes, of all their blocks",
    cost,
    source: "Luo et al., HAN, CLUSTER 2020",
    run,
};

pub(in crate::algorithm) fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    let (nodes, widest) = shape.nodes();
    let leaders = match parameters.word("leaders") {
        "linear" => &super::linear::ROW,
        _ => &super::binomial::ROW,
    };
    let inside = parameters.inner("node").cost(&shape.inner(widest, shape.bytes));
    inside + Choice::new(leaders).cost(&shape.inner(nodes, widest * shape.bytes))
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    node_blocks::gather(comm, call, parameters.inner("node"), tree(parameters));
}

/// The tree among the leaders.
pub(in crate::algorithm) fn tree(parameters: &Parameters) -> RangeTree {
    match parameters.word("leaders") {
        "linear" => RangeTree::LINEAR,
        _ => RangeTree::BINOMIAL,
    }
}
