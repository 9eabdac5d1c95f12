//! Contributions are reduced inside each node first, then among one rank of each node.
//!
//! The root speaks for its node, the first rank for every other node. `node` reduces to each of those inside its node,
//! `leaders` among them to the root. Where the nodes are not known, or there is only one, `leaders` reduces among all.
//!
//! State at p = 7, root 1, nodes {0 1 2} {3 4} {5 6}, both binomial (ab = a∘b):
//!
//! ```text
//! rank      0  1    2    3    4    5    6
//! start     0  1    2    3    4    5    6
//! node      0  12   .    34   .    56   .
//! node      .  012  .    34   .    56   .
//! leaders   .  0..4 .    .    .    56   .
//! leaders   .  0..6 .    .    .    .    .
//! ```
//!
//! Cost: that of `node` inside the largest node and that of `leaders` among the nodes. Needs: nothing. Memory: that of
//! both, and n bytes of scratch at leaders but the root.
//!
//! Source: M. Kurnosov's lectures on collective operations; X. Luo et al., "HAN: a Hierarchical AutotuNed Collective
//! Communication Framework", CLUSTER 2020. Departures: 1. the levels follow each other and are not pipelined.

use crate::algorithm::bcast::hierarchical::cost;
use crate::algorithm::engine::hierarchy;
use crate::algorithm::reduce;
use crate::algorithm::{Algorithm, Call, Default, Kind, Needs, Operation, Parameter, Parameters};
use crate::operation::{Comm, Range};
use crate::pattern::nodes::Nodes;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Reduce,
    name: "hierarchical",
    summary: "Contributions are reduced inside each node first, then among one rank of each node.",
    parameters: &[
        Parameter {
            name: "node",
            kind: Kind::OnNode(Operation::Reduce),
            default: Default::Inner(&reduce::binomial::ROW),
            help: "algorithm inside each node; on one node it is not used",
        },
        Parameter {
            name: "leaders",
            kind: Kind::Inner(Operation::Reduce),
            default: Default::Inner(&reduce::binomial::ROW),
            help: "algorithm among the leaders of the nodes; among all ranks on one node, or where nodes are not known",
        },
    ],
    needs: Needs::NOTHING,
    ordered: false,
    alone: true,
    formula: "node inside the largest node + leaders among the nodes; on one node: leaders among all ranks",
    cost,
    source: "Kurnosov, lectures on collective operations; Luo et al., HAN, CLUSTER 2020",
    run,
};

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    let (leaders, node) = (parameters.inner("leaders"), parameters.inner("node"));
    if call.nodes.is_empty() {
        return (leaders.algorithm.run)(comm, call, &leaders.parameters);
    }
    let nodes = Nodes::new(call.nodes, comm.rank(), call.root);
    let result = (comm.rank() == call.root).then(|| Range::receive(0, call.count));
    if let Some(held) = hierarchy::collect(comm, call, &nodes, Range::send(0, call.count), result, node) {
        hierarchy::reduce_leaders(comm, call, &nodes, held, result, leaders);
    }
}
