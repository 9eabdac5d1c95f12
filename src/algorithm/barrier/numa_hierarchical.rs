//! Flags go up a complete k-ary tree inside each NUMA node; the nodes' first ranks disseminate that all are there.
//!
//! A line of the cache that another NUMA node has written takes several times as long to come as one of the own. So
//! what crosses from node to node is one flag for each leader and round: the first rank of a NUMA node gathers those of
//! its node, the leaders meet as in dissemination, and each releases its node by a flag that nobody else reads.
//!
//! State at p = 7 with the NUMA nodes {0 1 2}, {3 4} and {5 6} and radix 2 (ranks known to be there):
//!
//! ```text
//! rank        0     1  2    3      4    5     6
//! start       0     1  2    3      4    5     6
//! round 0, 1  012   1  2    34     4    56    6
//! round 2     01256 1  2    01234  4    3456  6
//! round 3     all   1  2    all    4    all   6
//! released    all   all all all    all  all   all
//! ```
//!
//! With one NUMA node it is `combining_tree`, with a rank on each `shared_dissemination`. A rank that may run on
//! several NUMA nodes is grouped with those that may run on the same ones (`mpi::numa`).
//!
//! Cost: at most (k⌈log_k g⌉ + ⌈log2 N⌉ + 1)t_W for N NUMA nodes with at most g ranks each, without the 1 where g = 1. Needs:
//! shared memory. Memory: a flag for each rank.
//!
//! Source: M. Kurnosov's lectures on collective operations; inside and among the NUMA nodes that of `combining_tree`
//! and `shared_dissemination`.

use crate::algorithm::engine::flags;
use crate::algorithm::{Algorithm, Call, Cost, Default, Kind, Needs, Operation, Parameter, Parameters, Shape};
use crate::operation::Comm;
use crate::pattern::complete::Complete;
use crate::pattern::hypercube::ceil_log2;
use crate::pattern::nodes::Nodes;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Barrier,
    name: "numa_hierarchical",
    summary: "Flags go up a k-ary tree inside each NUMA node, the nodes' leaders disseminate; one node: as combining_tree.",
    parameters: &[Parameter {
        name: "radix",
        kind: Kind::Count { least: 1 },
        default: Default::Count(4),
        help: "k: maximum number of flags that a rank waits for inside its NUMA node",
    }],
    needs: Needs::SHARED_MEMORY,
    ordered: true,
    alone: true,
    formula: "at most (k⌈log_k g⌉+⌈log2 N⌉+min(1,g−1))t_W, N NUMA nodes of at most g ranks",
    cost,
    source: "Kurnosov, lectures on collective operations; Hensgen, Finkel, Manber, IJPP 17(1), 1988",
    run,
};

fn tree(ranks: usize, parameters: &Parameters) -> Complete {
    Complete { ranks, radix: parameters.count("radix") }
}

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    let (nodes, widest) = shape.numa_nodes();
    let gathered = flags::gathered(&tree(widest, parameters), 0);
    let released = usize::from(widest > 1);
    Cost { notified: (gathered + released) as f64 + f64::from(ceil_log2(nodes)), ..Cost::default() }
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    let (p, r) = (comm.size(), comm.rank());
    if p == 1 {
        return;
    }
    let of_one = vec![0; if call.numa.is_empty() { p } else { 0 }];
    let numa = if call.numa.is_empty() { &of_one } else { call.numa };
    let Nodes { members, leaders, .. } = Nodes::new(numa, r, 0);
    let own = members.iter().position(|member| *member == r).expect("a rank is on its NUMA node");
    flags::gather_among(comm, &tree(members.len(), parameters), own, |place| members[place]);
    let rounds = ceil_log2(leaders.len()) as usize;
    if own != 0 {
        return comm.await_flag(members[0], 1 + rounds);
    }
    let (nodes, node) = (leaders.len(), numa[r] as usize);
    for round in 0..rounds {
        comm.await_flag(leaders[(node + nodes - (1 << round)) % nodes], round + 1);
        // After the last one only those of the own node look.
        if round + 1 < rounds || members.len() > 1 {
            comm.signal(round + 2);
        }
    }
}
