//! Contributions are reduced inside each node, then among one rank of each node, and the result goes back into the
//! nodes.
//!
//! The first rank of each node speaks for it: `node` reduces to it, `leaders` is the allreduce among those, and `bcast`
//! hands the result out from each of them. Where the nodes are not known, or there is only one, `leaders` runs among
//! all ranks.
//!
//! State at p = 7, nodes {0 1 2} {3 4} {5 6}, trees binomial, leaders recursive_doubling, in which 0 hands its part to
//! 3 and gets the result from it (`*` has the result):
//!
//! ```text
//! rank      0    1    2    3     4    5    6
//! start     0    1    2    3     4    5    6
//! node      012  .    .    34    .    56   .
//! leaders   .    .    .    0..4  .    56   .
//! leaders   *    .    .    *     .    *    .
//! bcast     *    *    *    *     *    *    *
//! ```
//!
//! Cost: that of `node` and `bcast` inside the largest node and that of `leaders` among the nodes. Needs: a commutative
//! operation, since the ranks of a node need not be consecutive. Memory: that of the three.
//!
//! Source: M. Kurnosov's lectures on collective operations; X. Luo, W. Wu, G. Bosilca, Y. Pei, Q. Cao, T.
//! Patinyasakdikul, D. Zhong, J. Dongarra, "HAN: a Hierarchical AutotuNed Collective Communication Framework", CLUSTER
//! 2020. Departures: 1. the levels follow each other and are not pipelined.

use crate::algorithm::engine::hierarchy;
use crate::algorithm::{Algorithm, Call, Cost, Default, Kind, Needs, Operation, Parameter, Parameters, Shape};
use crate::algorithm::{allreduce, bcast, reduce};
use crate::operation::{Comm, Range, View};
use crate::pattern::nodes::Nodes;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Allreduce,
    name: "hierarchical",
    summary: "Reduction inside each node, allreduce among one rank of each node, broadcast inside each node.",
    parameters: &[
        Parameter {
            name: "node",
            kind: Kind::OnNode(Operation::Reduce),
            default: Default::Inner(&reduce::binomial::ROW),
            help: "algorithm of the reduction inside each node; on one node it is not used",
        },
        Parameter {
            name: "leaders",
            kind: Kind::Inner(Operation::Allreduce),
            default: Default::Inner(&allreduce::rabenseifner::ROW),
            help: "algorithm among the leaders of the nodes; among all ranks on one node, or where nodes are not known",
        },
        Parameter {
            name: "bcast",
            kind: Kind::OnNode(Operation::Bcast),
            default: Default::Inner(&bcast::binomial::ROW),
            help: "algorithm of the broadcast inside each node; on one node it is not used",
        },
    ],
    needs: Needs::NOTHING,
    ordered: false,
    alone: false,
    formula: "node and bcast inside the largest node + leaders among the nodes; on one node: leaders among all ranks",
    cost,
    source: "Kurnosov, lectures on collective operations; Luo et al., HAN, CLUSTER 2020",
    run,
};

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    let leaders = parameters.inner("leaders");
    if shape.nodes.is_empty() {
        return leaders.cost(shape);
    }
    let inside = shape.inside_node(shape.bytes);
    let trees = parameters.inner("node").cost(&inside) + parameters.inner("bcast").cost(&inside);
    trees + leaders.cost(&shape.among_leaders(shape.bytes))
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    let leaders = parameters.inner("leaders");
    if call.nodes.is_empty() {
        return (leaders.algorithm.run)(comm, call, &leaders.parameters);
    }
    let nodes = Nodes::new(call.nodes, comm.rank(), 0);
    let (own, result) = (Range::send(0, call.count), Range::receive(0, call.count));
    if let Some(held) = hierarchy::collect(comm, call, &nodes, own, Some(result), parameters.inner("node")) {
        let inner = Call { nodes: &[], ..*call };
        let mut view = View::new(comm, &nodes.leaders).send_at(held).receive_at(result);
        (leaders.algorithm.run)(&mut view, &inner, &leaders.parameters);
    }
    hierarchy::spread(comm, call, &nodes, result, parameters.inner("bcast"));
}
