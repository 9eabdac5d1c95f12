//! How much longer messages between nodes take because the ranks of a node share its ports.

use super::Shape;

impl Shape<'_> {
    /// Whether messages of a node's ranks may have to wait for each other.
    pub const fn shares_ports(&self) -> bool {
        !self.nodes.is_empty() && self.ports_per_node != usize::MAX
    }

    /// Bytes along the rounds of which `rounds` tells, for each rank, to whom it sends how many; `alone` if each message
    /// has its ports for itself. In each round every rank that takes part receives as much as it sends.
    ///
    /// Messages that leave a node in the same round go through its ports one after the other, and the node with most ranks
    /// stands for all; of several the last, since ranks that are folded into others come first. Messages within nodes
    /// count as those between them do, as everywhere in formulas.
    pub fn bytes_over_ports<I>(&self, alone: f64, rounds: impl Fn(usize) -> I) -> f64
    where
        I: IntoIterator<Item = (usize, f64)>,
    {
        if !self.shares_ports() {
            return alone;
        }
        let widths = self.widths();
        let (node, _) = widths.iter().enumerate().max_by_key(|(_, width)| **width).expect("there are nodes");
        let is_there = |rank: usize| self.nodes[rank] as usize == node;
        // By round: the longest message, and how many leave the node.
        let mut all: Vec<(f64, usize)> = Vec::new();
        for rank in (0..self.ranks).filter(|rank| is_there(*rank)) {
            for (round, (to, bytes)) in rounds(rank).into_iter().enumerate() {
                if round == all.len() {
                    all.push((0.0, 0));
                }
                let (longest, leaving) = &mut all[round];
                *longest = longest.max(bytes);
                *leaving += usize::from(!is_there(to));
            }
        }
        let taken = |(longest, leaving): &(f64, usize)| longest * self.times(*leaving as f64);
        all.iter().map(taken).sum::<f64>().max(alone)
    }

    /// How many times as long the messages take where each rank sends one to every other.
    pub fn sharing_among_all(&self) -> f64 {
        if !self.shares_ports() || self.ranks < 2 {
            return 1.0;
        }
        let (_, widest) = self.nodes();
        let leaving = (self.ranks - widest) as f64 / (self.ranks - 1) as f64;
        self.times(leaving * widest as f64)
    }

    fn times(&self, messages: f64) -> f64 {
        (messages / self.ports_per_node as f64).max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use crate::operation::{Call, Operation, Shape};

    #[test]
    fn messages_that_leave_a_node_together_share_its_ports() {
        let nodes = [0, 0, 0, 0, 1, 1, 1, 1];
        let call = Call { nodes: &nodes, ..Call::plain(Operation::Allgather, 8, 1) };
        let shape = |ports_per_node| Shape { ports_per_node, ..Shape::of(&call, 8) };
        let further = |distance: usize| move |rank: usize| [((rank + distance) % 8, 10.0)];
        assert_eq!(shape(1).bytes_over_ports(10.0, further(1)), 10.0);
        assert_eq!(shape(1).bytes_over_ports(10.0, further(3)), 30.0);
        assert_eq!(shape(2).bytes_over_ports(10.0, further(4)), 20.0);
        assert_eq!(shape(usize::MAX).bytes_over_ports(10.0, further(4)), 10.0);
        assert_eq!(shape(1).sharing_among_all(), 16.0 / 7.0);
        let one_node = Shape { nodes: &[], ..shape(1) };
        assert_eq!((one_node.bytes_over_ports(10.0, further(4)), one_node.sharing_among_all()), (10.0, 1.0));
    }
}
