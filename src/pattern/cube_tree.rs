//! One-to-all broadcast on a hypercube, dimension by dimension, for any number of ranks.

use super::hypercube::ceil_log2;
use super::tree::{Links, Tree};

/// The tree rooted at `root`; numbers are ranks.
///
/// The ranks are the corners below p of the smallest hypercube that has room for them. A subcube is served by one of
/// its ranks, the one that differs least from the root: the XOR of the two is the smallest. It sends to the one that
/// serves the half of the subcube in which it does not lie itself, the highest dimension first, if anyone is there.
#[derive(Clone, Copy, Debug)]
pub struct CubeTree {
    /// p.
    pub ranks: usize,
    /// The root.
    pub root: usize,
}

impl CubeTree {
    /// Who serves the subcube of the `2^dimension` corners from `start` on, `start` being below p.
    const fn server(&self, start: usize, dimension: u32) -> usize {
        let (mut start, mut dimension) = (start, dimension);
        while dimension > 0 {
            dimension -= 1;
            let near = start | self.root & 1 << dimension;
            if near < self.ranks {
                start = near;
            }
        }
        start
    }
}

impl Tree for CubeTree {
    fn ranks(&self) -> usize {
        self.ranks
    }

    fn root(&self) -> usize {
        self.root
    }

    fn links(&self, v: usize) -> Links {
        let mut links = Links::new(v, None, None);
        let (mut start, mut server) = (0, self.root);
        let mut children = smallvec::SmallVec::<[usize; 8]>::new();
        for dimension in (0..ceil_log2(self.ranks)).rev() {
            let half = 1 << dimension;
            let other = start | (server & half ^ half);
            start |= v & half;
            if other >= self.ranks {
                continue;
            }
            let other_server = self.server(other, dimension);
            if server == v {
                children.push(other_server);
            } else if start == other {
                links.parent = Some(server);
                server = other_server;
            }
        }
        Links::new(v, links.parent, children)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::tree::{check, rounds};

    #[test]
    fn cube_trees_are_trees_of_the_fewest_rounds_for_every_root() {
        for ranks in (1..=33).chain([47, 63, 64]) {
            for root in 0..ranks {
                let tree = CubeTree { ranks, root };
                check::is_tree(&tree);
                check::rounds_are_as_counted(&tree);
                assert_eq!(rounds(&tree, 1), ceil_log2(ranks) as usize);
            }
            check::keeps_order(&CubeTree { ranks, root: 0 });
        }
    }

    #[test]
    fn full_cubes_send_along_one_dimension_at_a_time() {
        for dimensions in 0..=6 {
            let ranks = 1 << dimensions;
            for root in 0..ranks {
                for rank in 0..ranks {
                    let links = CubeTree { ranks, root }.links(rank);
                    // Algorithm 4.2 of Grama et al.: with ranks relabelled by XOR, the parent lacks the lowest set bit.
                    let label = rank ^ root;
                    assert_eq!(links.parent, (label != 0).then(|| (label & (label.wrapping_sub(1))) ^ root));
                }
            }
        }
    }
}
