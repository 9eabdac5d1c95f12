//! The message goes to one rank of each node first, then to the others of the node.
//!
//! The root speaks for its node, the first rank for every other node. `leaders` broadcasts among those, `node` from
//! each of them inside its node. Where the nodes are not known, or there is only one, `leaders` broadcasts among all
//! ranks.
//!
//! State at p = 7, root 1, nodes {0 1 2} {3 4} {5 6}, both binomial (`*` has the message):
//!
//! ```text
//! rank      0 1 2   3 4   5 6
//! start     . * .   . .   . .
//! leaders   . * .   . .   * .
//! leaders   . * .   * .   * .
//! node      . * *   * *   * *
//! node      * * *   * *   * *
//! ```
//!
//! Cost: that of `leaders` among the nodes and that of `node` inside the largest one. Needs: nothing. Memory: none.
//!
//! Source: M. Kurnosov's lectures on collective operations; X. Luo et al., "HAN: a Hierarchical AutotuNed Collective
//! Communication Framework", CLUSTER 2020. Departures: 1. the levels follow each other and are not pipelined.

use crate::algorithm::bcast;
use crate::algorithm::engine::hierarchy;
use crate::algorithm::{Algorithm, Call, Cost, Default, Kind, Needs, Operation, Parameter, Parameters, Shape};
use crate::operation::{Comm, Range};
use crate::pattern::nodes::Nodes;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Bcast,
    name: "hierarchical",
    summary: "The message goes to one rank of each node first, then to the others of the node.",
    parameters: &[
        Parameter {
            name: "leaders",
            kind: Kind::Inner(Operation::Bcast),
            default: Default::Inner(&bcast::binomial::ROW),
            help: "algorithm among the leaders of the nodes; among all ranks on one node, or where nodes are not known",
        },
        Parameter {
            name: "node",
            kind: Kind::OnNode(Operation::Bcast),
            default: Default::Inner(&bcast::binomial::ROW),
            help: "algorithm inside each node; on one node it is not used",
        },
    ],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "leaders among the nodes + node inside the largest node; on one node: leaders among all ranks",
    cost,
    source: "Kurnosov, lectures on collective operations; Luo et al., HAN, CLUSTER 2020",
    run,
};

pub(in crate::algorithm) fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    let (leaders, node) = (parameters.inner("leaders"), parameters.inner("node"));
    if shape.nodes.is_empty() {
        return leaders.cost(shape);
    }
    leaders.cost(&shape.among_leaders(shape.bytes)) + node.cost(&shape.inside_node(shape.bytes))
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    let (leaders, node) = (parameters.inner("leaders"), parameters.inner("node"));
    if call.nodes.is_empty() {
        return (leaders.algorithm.run)(comm, call, &leaders.parameters);
    }
    let nodes = Nodes::new(call.nodes, comm.rank(), call.root);
    hierarchy::bcast(comm, call, &nodes, Range::receive(0, call.count), leaders, node);
}
