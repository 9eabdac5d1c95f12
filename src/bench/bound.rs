//! The least time that the links between the nodes allow.

#![forbid(unsafe_code)]

use crate::algorithm::Operation;

/// Seconds below which no algorithm can come where each node's link carries `bandwidth` bytes per second each way.
///
/// `bytes` is what one rank contributes, `ranks_per_node` how many ranks each node has and `root_node` the root's. On
/// one node every rank counts as a node: the bound is then that of ranks which pass everything on by messages of that
/// bandwidth. The bound counts what has to cross the busiest link: n for bcast and reduce, 2n(N−1)/N for allreduce
/// among N nodes, the blocks of all other nodes' ranks for gather, scatter (at the root) and allgather (at each node),
/// and where each pair of ranks has a block of its own, those of all pairs with one of them on the node.
pub fn seconds(
    operation: Operation,
    bytes: usize,
    ranks_per_node: &[u32],
    root_node: usize,
    bandwidth: f64,
) -> Option<f64> {
    let ranks: u32 = ranks_per_node.iter().sum();
    let several = ranks_per_node.len() > 1;
    if ranks < 2 {
        return None;
    }
    let nodes = if several { ranks_per_node.len() as f64 } else { f64::from(ranks) };
    let here = |node: usize| if several { ranks_per_node[node] } else { 1 };
    let fewest = if several { *ranks_per_node.iter().min().expect("there are nodes") } else { 1 };
    let messages = match (operation.has_blocks(), operation.rooted()) {
        _ if !operation.has_data() => return None,
        // What is folded into several results has no bound here.
        _ if operation.reduces() && !operation.gives_one_result() => return None,
        (false, true) => 1.0,
        (false, false) => 2.0 * (nodes - 1.0) / nodes,
        (true, true) => f64::from(ranks - here(root_node)),
        (true, false) if operation.row().send.per_rank() => {
            let counts = if several { ranks_per_node } else { &[1] };
            f64::from(counts.iter().map(|here| here * (ranks - here)).max().expect("there are nodes"))
        }
        (true, false) => f64::from(ranks - fewest),
    };
    Some(messages * bytes as f64 / bandwidth)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_of_the_emulated_cluster() {
        let milliseconds = |operation, ranks_per_node: &[u32]| {
            (seconds(operation, 1 << 20, ranks_per_node, 0, 24.8e6).unwrap() * 1e4).round() / 10.0
        };
        let (flat, paired) = ([1; 8], [2; 4]);
        assert_eq!(milliseconds(Operation::Bcast, &flat), 42.3);
        assert_eq!(milliseconds(Operation::Allreduce, &flat), 74.0);
        assert_eq!(milliseconds(Operation::Allreduce, &paired), 63.4);
        assert_eq!(milliseconds(Operation::Gather, &flat), 296.0);
        assert_eq!(milliseconds(Operation::Scatter, &paired), 253.7);
        assert_eq!(milliseconds(Operation::Allgather, &paired), 253.7);
        assert_eq!(milliseconds(Operation::Alltoall, &flat), 296.0);
        assert_eq!(milliseconds(Operation::Alltoall, &paired), 507.4);
        assert_eq!(milliseconds(Operation::Alltoall, &[8]), 296.0);
        // One node: as eight nodes of one rank.
        assert_eq!(milliseconds(Operation::Allreduce, &[8]), 74.0);
    }

    #[test]
    fn nothing_bounds_a_rank_alone_or_a_barrier() {
        assert_eq!(seconds(Operation::Bcast, 8, &[1], 0, 1e6), None);
        assert_eq!(seconds(Operation::Barrier, 0, &[1, 1], 0, 1e6), None);
    }
}
