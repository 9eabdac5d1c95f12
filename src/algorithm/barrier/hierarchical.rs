//! The ranks of each node meet, then one rank of each node meets the others, and the ranks of each node meet again.
//!
//! The first rank of each node speaks for it. `node` is the barrier inside each node, in which it learns that all of
//! them are there and after which it tells them that all others are; `leaders` is the barrier among those. Where the
//! nodes are not known, or there is only one, `leaders` runs among all ranks.
//!
//! State at p = 7, nodes {0 1 2} {3 4} {5 6} (ranks known to be there, `*` for all):
//!
//! ```text
//! rank      0    1    2    3    4    5    6
//! start     0    1    2    3    4    5    6
//! node      012  012  012  34   34   56   56
//! leaders   *    012  012  *    34   *    56
//! node      *    *    *    *    *    *    *
//! ```
//!
//! Cost: twice that of `node` inside the largest node and that of `leaders` among the nodes. Needs: nothing. Memory:
//! that of both.
//!
//! Source: M. Kurnosov's lectures on collective operations; R. Graham, G. Shipman, "MPI Support for Multi-core
//! Architectures: Optimized Shared Memory Collectives", EuroPVM/MPI 2008. Departures: 1. the second meeting is a
//! barrier as well, where a release would do, so that any barrier serves.

use crate::algorithm::barrier;
use crate::algorithm::{Algorithm, Call, Cost, Default, Kind, Needs, Operation, Parameter, Parameters, Shape};
use crate::operation::{Comm, View};
use crate::pattern::nodes::Nodes;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Barrier,
    name: "hierarchical",
    summary: "The ranks of each node meet, then one rank of each node, then the ranks of each node again.",
    parameters: &[
        Parameter {
            name: "node",
            kind: Kind::OnNode(Operation::Barrier),
            default: Default::Inner(&barrier::dissemination::ROW),
            help: "algorithm inside each node, before and after; on one node it is not used",
        },
        Parameter {
            name: "leaders",
            kind: Kind::Inner(Operation::Barrier),
            default: Default::Inner(&barrier::dissemination::ROW),
            help: "algorithm among the leaders of the nodes; among all ranks on one node, or where nodes are not known",
        },
    ],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "2·node inside the largest node + leaders among the nodes; on one node: leaders among all ranks",
    cost,
    source: "Kurnosov, lectures on collective operations; Graham, Shipman, EuroPVM/MPI 2008",
    run,
};

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    let (leaders, node) = (parameters.inner("leaders"), parameters.inner("node"));
    if shape.nodes.is_empty() {
        return leaders.cost(shape);
    }
    let (nodes, widest) = shape.nodes();
    let inside = node.cost(&shape.inner(widest, 0));
    inside + leaders.cost(&shape.inner(nodes, 0)) + inside
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    let (leaders, node) = (parameters.inner("leaders"), parameters.inner("node"));
    if call.nodes.is_empty() {
        return (leaders.algorithm.run)(comm, call, &leaders.parameters);
    }
    let nodes = Nodes::new(call.nodes, comm.rank(), 0);
    let inner = Call { nodes: &[], ..*call };
    let meet = |comm: &mut dyn Comm| {
        if nodes.members.len() > 1 {
            (node.algorithm.run)(&mut View::of_node(comm, &nodes.members), &inner, &node.parameters);
        }
    };
    meet(comm);
    if nodes.leads(comm.rank()) {
        (leaders.algorithm.run)(&mut View::new(comm, &nodes.leaders), &inner, &leaders.parameters);
    }
    meet(comm);
}
