//! All ranks node by node: the order in which a node's blocks lie side by side wherever its ranks are.

use smallvec::SmallVec;
use std::ops::Range;

/// The ranks in the order of their nodes. Nodes are numbered from the root's, the others following as they come and
/// from the first one again; inside a node the ranks ascend. What rank leads a node is [`NodeOrder::leader`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeOrder {
    ranks: SmallVec<[usize; 64]>,
    starts: SmallVec<[usize; 16]>,
    root: usize,
}

impl NodeOrder {
    /// The order of `size` ranks where `nodes` has the node of each, numbered in the order of their first ranks; one
    /// node if it is empty.
    pub fn new(nodes: &[u32], size: usize, root: usize) -> Self {
        if nodes.is_empty() {
            return Self { ranks: (0..size).collect(), starts: SmallVec::from_slice(&[0, size]), root };
        }
        let number = 1 + nodes.iter().copied().max().unwrap_or(0) as usize;
        let place = |rank: usize| (nodes[rank] as usize + number - nodes[root] as usize) % number;
        let mut starts = SmallVec::from_elem(0, number + 1);
        (0..size).for_each(|rank| starts[place(rank) + 1] += 1);
        (0..number).for_each(|node| starts[node + 1] += starts[node]);
        let mut next: SmallVec<[usize; 16]> = starts.clone();
        let mut ranks = SmallVec::from_elem(0, size);
        for rank in 0..size {
            let slot = &mut next[place(rank)];
            ranks[*slot] = rank;
            *slot += 1;
        }
        Self { ranks, starts, root }
    }

    /// Number of nodes.
    pub fn number(&self) -> usize {
        self.starts.len() - 1
    }

    /// The ranks of `node`.
    pub fn members(&self, node: usize) -> &[usize] {
        &self.ranks[self.starts[node]..self.starts[node + 1]]
    }

    /// Who speaks for `node`: the root for its own, the first rank for every other one.
    pub fn leader(&self, node: usize) -> usize {
        if node == 0 { self.root } else { self.members(node)[0] }
    }

    /// The node of `rank`.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn node(&self, rank: usize) -> usize {
        let holds = |node: &usize| self.members(*node).binary_search(&rank).is_ok();
        (0..self.number()).find(holds).expect("every rank is on a node")
    }

    /// The places of the ranks of `nodes` in the order.
    pub fn places(&self, nodes: Range<usize>) -> Range<usize> {
        self.starts[nodes.start]..self.starts[nodes.end]
    }

    /// The ranks at `places` as runs of consecutive ranks.
    pub fn runs(&self, places: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let mut rest = &self.ranks[places];
        std::iter::from_fn(move || {
            let first = *rest.first()?;
            let len = rest.iter().zip(first..).take_while(|(rank, next)| *rank == next).count();
            rest = &rest[len..];
            Some(first..first + len)
        })
    }

    /// The ranks at `places` if they are one run.
    pub fn run(&self, places: Range<usize>) -> Option<Range<usize>> {
        let mut runs = self.runs(places);
        let first = runs.next()?;
        runs.next().is_none().then_some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_stands_once_with_its_node_and_the_roots_node_first() {
        for p in 1..=64 {
            for nodes in 1..=p.min(9) as u32 {
                let blocked: Vec<_> = (0..p as u32).map(|rank| rank * nodes / p as u32).collect();
                let dealt: Vec<_> = (0..p as u32).map(|rank| rank % nodes).collect();
                for placement in [blocked, dealt, Vec::new()] {
                    for root in 0..p {
                        let order = NodeOrder::new(&placement, p, root);
                        assert_eq!((order.node(root), order.leader(0)), (0, root));
                        let mut seen = vec![false; p];
                        for node in 0..order.number() {
                            assert!(order.members(node).contains(&order.leader(node)));
                            assert!(order.members(node).is_sorted());
                            for rank in order.members(node) {
                                assert_eq!(order.node(*rank), node);
                                let theirs = placement.get(*rank);
                                assert_eq!(theirs, placement.get(order.leader(node)));
                                assert!(!std::mem::replace(&mut seen[*rank], true));
                            }
                        }
                        assert!(seen.into_iter().all(|seen| seen));
                    }
                }
            }
        }
    }

    #[test]
    fn runs_are_as_long_as_they_can_be() {
        let order = NodeOrder::new(&[0, 0, 1, 2, 1, 1, 0], 7, 2);
        assert_eq!(order.ranks[..], [2, 4, 5, 3, 0, 1, 6]);
        assert!(order.runs(0..7).eq([2..3, 4..6, 3..4, 0..2, 6..7]));
        assert_eq!((order.run(1..3), order.run(0..2)), (Some(4..6), None));
    }
}
