//! Blocks are collected at the first rank of each node, exchanged among those, and broadcast inside the nodes.
//!
//! `gather` works inside each node, then the leaders exchange the blocks of whole nodes, then `bcast` hands all blocks
//! out inside each node. Among the leaders `circulant` takes the fewest rounds; `ring` talks to neighbours only. Where
//! the nodes are not known all ranks count as one node.
//!
//! State at p = 5, nodes {0 1 2} {3 4} (blocks held):
//!
//! ```text
//! rank      0     1     2     3     4
//! start     0     1     2     3     4
//! gather    0..2  1     2     3,4   4
//! leaders   0..4  1     2     0..4  4
//! bcast     0..4  0..4  0..4  0..4  0..4
//! ```
//!
//! Cost: that of `gather` inside the largest node; for N nodes ⌈log2 N⌉ rounds (`circulant`; a message that passes the
//! last node is sent in two parts) or N − 1 (`ring`) with all blocks of other nodes; that of `bcast` of pb bytes inside
//! the largest node. Needs: nothing. Memory: pb bytes at leaders where a node's ranks are not neighbours, else that of
//! `gather`.
//!
//! Source: X. Luo, W. Wu, G. Bosilca, Y. Pei, Q. Cao, T. Patinyasakdikul, D. Zhong, J. Dongarra, "HAN: a Hierarchical
//! AutotuNed Collective Communication Framework", CLUSTER 2020. Departures: 1. nodes may be of any sizes and ranks
//! anywhere on them.

use crate::algorithm::engine::node_blocks;
use crate::algorithm::{Algorithm, Call, Choice, Cost, Default, Kind, Needs, Operation, Parameter, Parameters, Shape};
use crate::algorithm::{bcast, gather};
use crate::operation::Comm;
use crate::pattern::hypercube::ceil_log2;
use crate::pattern::turns::{circulant, rings};

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Allgather,
    name: "hierarchical",
    summary: "Blocks are collected on each node, exchanged among the nodes, and broadcast inside them.",
    parameters: &[
        Parameter {
            name: "leaders",
            kind: Kind::Word(&["circulant", "ring"]),
            default: Default::Word("circulant"),
            help: "exchange among the leaders of the nodes",
        },
        Parameter {
            name: "gather",
            kind: Kind::OnNode(Operation::Gather),
            default: Default::Inner(&gather::binomial::ROW),
            help: "gather inside each node",
        },
        Parameter {
            name: "bcast",
            kind: Kind::OnNode(Operation::Bcast),
            default: Default::Inner(&bcast::binomial::ROW),
            help: "broadcast of all blocks inside each node",
        },
    ],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "gather inside the largest node + leaders among the nodes + bcast of pb inside the largest node",
    cost,
    source: "Luo et al., HAN, CLUSTER 2020",
    run,
};

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    let (nodes, widest) = shape.nodes();
    let leaders = match parameters.word("leaders") {
        "ring" => &super::ring::ROW,
        _ => &super::circulant::ROW,
    };
    let gather = parameters.inner("gather").cost(&shape.inner(widest, shape.bytes));
    let bcast = parameters.inner("bcast").cost(&shape.inner(widest, shape.ranks * shape.bytes));
    // Runs of nodes that go over the last one are two messages, those of one node excepted.
    let split = if parameters.word("leaders") == "ring" { 0 } else { ceil_log2(nodes).saturating_sub(1) };
    let split = Cost { rounds: f64::from(split), ..Cost::default() };
    // In two messages nothing is packed.
    let leaders = Cost { packed: 0.0, ..Choice::new(leaders).cost(&shape.inner(nodes, widest * shape.bytes)) };
    gather + leaders + split + bcast
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    let inside = (parameters.inner("gather"), parameters.inner("bcast"));
    match parameters.word("leaders") {
        "ring" => node_blocks::allgather(comm, call, inside, |nodes, own| rings(nodes, own, 1)),
        _ => node_blocks::allgather(comm, call, inside, circulant),
    }
}
