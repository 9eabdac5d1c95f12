//! Blocks go to one rank of each node first, then from those to the others of the node.
//!
//! The root speaks for its node, the first rank for every other node. The root sends the blocks of whole nodes down a
//! tree of leaders, then `node` scatters inside each node, so a block enters its node once at most. The root's node
//! counts as the first one. Where the nodes are not known all ranks count as one node.
//!
//! State at p = 7, root 1, nodes {0 1 2} {3 4} {5 6}, all binomial (blocks still to be handed out, and the own one):
//!
//! ```text
//! rank      0     1     2     3     4     5     6
//! start     .     0..6  .     .     .     .     .
//! leaders   .     0..4  .     .     .     5,6   .
//! leaders   .     0..2  .     3,4   .     5     6
//! node      0     1,2   .     3     4     5     6
//! node      0     1     2     3     4     5     6
//! ```
//!
//! Cost: ⌈log2 N⌉α for N nodes and bβ for every rank that is not on the root's node, then that of `node` inside the
//! largest node. Needs: nothing. Memory: the blocks of its subtree at every leader; at the root those that are no run
//! of ranks.
//!
//! Source: X. Luo, W. Wu, G. Bosilca, Y. Pei, Q. Cao, T. Patinyasakdikul, D. Zhong, J. Dongarra, "HAN: a Hierarchical
//! AutotuNed Collective Communication Framework", CLUSTER 2020. Departures: 1. nodes may be of any sizes and ranks
//! anywhere on them.

use crate::algorithm::engine::node_blocks;
use crate::algorithm::gather::hierarchical::{cost, tree};
use crate::algorithm::scatter;
use crate::algorithm::{Algorithm, Call, Default, Kind, Needs, Operation, Parameter, Parameters};
use crate::operation::Comm;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Scatter,
    name: "hierarchical",
    summary: "Blocks go to one rank of each node first, then from those to the others of the node.",
    parameters: &[
        Parameter {
            name: "leaders",
            kind: Kind::Word(&["binomial", "linear"]),
            default: Default::Word("binomial"),
            help: "tree among the leaders of the nodes",
        },
        Parameter {
            name: "node",
            kind: Kind::OnNode(Operation::Scatter),
            default: Default::Inner(&scatter::binomial::ROW),
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

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    node_blocks::scatter(comm, call, parameters.inner("node"), tree(parameters));
}
