//! Ranks on nodes: who shares mine, and who speaks for each.

use smallvec::SmallVec;

/// A list of ranks.
pub type Ranks = SmallVec<[usize; 32]>;

/// A rank's place among the nodes. The leader of a node is its first rank, but that of the root's node is the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nodes {
    /// The ranks of the own node, in order.
    pub members: Ranks,
    /// Place of the own node's leader in `members`.
    pub leader: usize,
    /// The leaders of all nodes, by node.
    pub leaders: Ranks,
    /// Place of the root in `leaders`.
    pub top: usize,
}

impl Nodes {
    /// The place of `rank` where `nodes` has the node of each rank, numbered in the order of their first ranks.
    pub fn new(nodes: &[u32], rank: usize, root: usize) -> Self {
        let mut leaders = Ranks::new();
        for (rank, node) in nodes.iter().enumerate() {
            if *node as usize == leaders.len() {
                leaders.push(rank);
            }
        }
        let (own, top) = (nodes[rank], nodes[root] as usize);
        leaders[top] = root;
        let members: Ranks = (0..nodes.len()).filter(|rank| nodes[*rank] == own).collect();
        let leader = members.iter().position(|member| *member == leaders[own as usize]);
        Self { leader: leader.expect("a leader is on its own node"), members, leaders, top }
    }

    /// Whether `rank` speaks for its node.
    pub fn leads(&self, rank: usize) -> bool {
        self.members[self.leader] == rank
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_has_one_leader_and_the_root_leads_its_own() {
        for p in (1..=24).chain([47, 64]) {
            for nodes in 1..=p.min(9) as u32 {
                let blocked: Vec<_> = (0..p as u32).map(|rank| rank * nodes / p as u32).collect();
                let dealt: Vec<_> = (0..p as u32).map(|rank| rank % nodes).collect();
                for placement in [blocked, dealt] {
                    for root in 0..p {
                        let all: Vec<_> = (0..p).map(|rank| Nodes::new(&placement, rank, root)).collect();
                        assert_eq!((0..p).filter(|rank| all[*rank].leads(*rank)).count(), nodes as usize);
                        assert_eq!(all[root].leaders[all[root].top], root);
                        for (rank, nodes) in all.iter().enumerate() {
                            assert!(nodes.members.contains(&rank));
                            assert_eq!(nodes.leaders[placement[rank] as usize], nodes.members[nodes.leader]);
                            assert_eq!(nodes.leaders, all[0].leaders);
                        }
                    }
                }
            }
        }
    }
}
