//! Ports that serve one message after the other, and which there are of those that are shared.

use super::Span;
use super::network::{Link, Network};
use super::sharing::Sharing;

/// When each port is free again: one out and one in per rank, then the nodes' own.
pub struct Ports {
    of_ranks: Vec<[f64; 2]>,
    of_nodes: Vec<[f64; 2]>,
    per_node: usize,
}

impl Ports {
    /// Those of so many ranks and nodes, all free.
    pub fn new(network: &Network, size: usize, nodes: usize) -> Self {
        let per_node = network.ports_per_node;
        Self { of_ranks: vec![[0.0; 2]; size], of_nodes: vec![[0.0; 2]; nodes * per_node], per_node }
    }

    /// Takes the port that is free first, of the rank `place`, or from their number on of a node, and returns when the
    /// message has it for itself.
    pub fn occupy(&mut self, place: usize, direction: usize, time: f64, seconds: f64) -> Span {
        let port = match place.checked_sub(self.of_ranks.len()) {
            None => &mut self.of_ranks[place][direction],
            Some(node) => {
                let ports = &mut self.of_nodes[node * self.per_node..(node + 1) * self.per_node];
                let free_first = ports.iter_mut().min_by(|a, b| a[direction].total_cmp(&b[direction]));
                &mut free_first.expect("a network has at least one port per node")[direction]
            }
        };
        let start = time.max(*port);
        *port = start + seconds;
        Span { start, end: *port }
    }
}

/// One port of each rank out and in, then each node's, if any are shared at all.
pub fn shared<M: Copy>(network: &Network, size: usize, nodes: usize) -> Sharing<M> {
    let shares = network.on_node.shares || network.off_node.shares;
    let burst = |link: &Link| link.burst as f64 * link.per_byte;
    let of_ranks = std::iter::repeat_n((1.0, burst(&network.on_node)), 2 * size);
    let of_nodes = std::iter::repeat_n((network.ports_per_node as f64, burst(&network.off_node)), 2 * nodes);
    Sharing::new(of_ranks.chain(of_nodes).take(if shares { usize::MAX } else { 0 }))
}
