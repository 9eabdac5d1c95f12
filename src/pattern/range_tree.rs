//! Trees in which every subtree holds neighbouring positions, so that a subtree's blocks are one message.
//!
//! Positions `0..p` lie on a circle of ranks; [`RangeTree::rank`] and [`RangeTree::position`] turn one into the other.

use super::hypercube::ceil_log2;

/// How a range of positions is divided among the children of the node that answers for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RangeTree {
    /// The k-nomial tree: the node at position 0 of its range has children at the positions i·k^j, i < k.
    Knomial {
        /// k, at least 2.
        radix: usize,
    },
    /// The rest of the root's range in `top` parts of sizes differing by at most one, each headed by its first
    /// position; the rest of every other node's range in `below` parts.
    Kary {
        /// Children of the root, at least 1.
        top: usize,
        /// Children of every other node, at least 1.
        below: usize,
    },
    /// The binomial negabinary tree: a node gives half of its range, by turns the upper and the lower one, to the node
    /// that mirrors it at the cut.
    Bine,
}

/// A node with the range of positions that its subtree holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subtree {
    /// First position.
    pub start: usize,
    /// Number of positions.
    pub len: usize,
    /// Position of the subtree's root.
    pub node: usize,
    /// Parts in which the rest of the range is divided ([`RangeTree::Kary`]).
    parts: usize,
    /// Whether the upper half is given away next ([`RangeTree::Bine`]).
    upper: bool,
}

impl Subtree {
    /// The node alone.
    pub const fn itself(self) -> Self {
        Self { start: self.node, len: 1, ..self }
    }
}

impl RangeTree {
    /// The binomial tree.
    pub const BINOMIAL: Self = Self::Knomial { radix: 2 };

    /// Every position a child of the root.
    pub const LINEAR: Self = Self::Kary { top: usize::MAX, below: 1 };

    /// The whole tree of `p` positions, with its root's position.
    pub fn whole(self, p: usize) -> Subtree {
        // The paper's Bine root ends with the neighbour above it, hence the half with which it starts.
        let upper = ceil_log2(p) % 2 == 1;
        let (parts, node) = match self {
            Self::Knomial { .. } => (0, 0),
            Self::Kary { top, .. } => (top, 0),
            Self::Bine => (0, bine_node(p, upper)),
        };
        Subtree { start: 0, len: p, node, parts, upper }
    }

    /// The children of a subtree's root with their subtrees, from the last positions to the first.
    pub const fn children(self, subtree: Subtree) -> Children {
        Children { tree: self, rest: subtree }
    }

    /// The subtree rooted at `position` among `p`, and its parent's position unless it is the root.
    pub fn find(self, p: usize, position: usize) -> (Subtree, Option<usize>) {
        let (mut subtree, mut parent) = (self.whole(p), None);
        while subtree.node != position {
            parent = Some(subtree.node);
            let mut children = self.children(subtree);
            let holder = children.find(|child| (child.start..child.start + child.len).contains(&position));
            subtree = holder.expect("a position other than the root's lies below one of its children");
        }
        (subtree, parent)
    }

    /// The rank at `position` among `p` when the tree's root is rank `root`.
    pub fn rank(self, p: usize, root: usize, position: usize) -> usize {
        (root + p - self.whole(p).node + position) % p
    }

    /// The position of `rank` among `p` when the tree's root is rank `root`.
    pub fn position(self, p: usize, root: usize, rank: usize) -> usize {
        (rank + p - root + self.whole(p).node) % p
    }
}

/// Iterator over the children of a node; see [`RangeTree::children`].
#[derive(Clone, Debug)]
pub struct Children {
    tree: RangeTree,
    rest: Subtree,
}

impl Iterator for Children {
    type Item = Subtree;

    fn next(&mut self) -> Option<Subtree> {
        let rest = &mut self.rest;
        if rest.len < 2 {
            return None;
        }
        let mut child = *rest;
        match self.tree {
            RangeTree::Knomial { radix } => {
                let width = largest_power_below(rest.len, radix);
                rest.len = (rest.len - 1) / width * width;
                child.start += rest.len;
                child.len -= rest.len;
                child.node = child.start;
            }
            RangeTree::Kary { below, .. } => {
                child.len = (rest.len - 1).div_ceil(rest.parts);
                rest.len -= child.len;
                rest.parts -= 1;
                child.start += rest.len;
                child.node = child.start;
                child.parts = below;
            }
            RangeTree::Bine => {
                child.len = rest.len / 2;
                rest.len -= child.len;
                if rest.upper {
                    child.start += rest.len;
                } else {
                    rest.start += child.len;
                }
                rest.upper = !rest.upper;
                child.node = child.start + bine_node(child.len, child.upper);
            }
        }
        Some(child)
    }
}

/// The largest power of `radix` below `len`, for `len ≥ 2`.
const fn largest_power_below(len: usize, radix: usize) -> usize {
    let mut power = 1;
    while power <= (len - 1) / radix {
        power *= radix;
    }
    power
}

/// Where in a range of `len` positions the node lies that gives away the upper half first (or the lower one).
const fn bine_node(mut len: usize, mut upper: bool) -> usize {
    let mut node = 0;
    while len > 1 {
        if !upper {
            node += len / 2;
        }
        len -= len / 2;
        upper = !upper;
    }
    node
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shapes() -> Vec<RangeTree> {
        let mut shapes = vec![RangeTree::LINEAR, RangeTree::Bine];
        shapes.extend((2..=9).map(|radix| RangeTree::Knomial { radix }));
        shapes.extend((1..=5).flat_map(|top| (1..=5).map(move |below| RangeTree::Kary { top, below })));
        shapes
    }

    /// Checks that the children and the root part a subtree's range among them; returns its height.
    fn check(tree: RangeTree, p: usize, subtree: Subtree, parent: Option<usize>, seen: &mut Vec<bool>) -> usize {
        assert_eq!(tree.find(p, subtree.node), (subtree, parent));
        assert!(!std::mem::replace(&mut seen[subtree.node], true));
        let (mut positions, mut height) = (1, 0);
        for child in tree.children(subtree) {
            assert!(child.start >= subtree.start && child.start + child.len <= subtree.start + subtree.len);
            assert!((child.start..child.start + child.len).contains(&child.node));
            positions += child.len;
            height = height.max(1 + check(tree, p, child, Some(subtree.node), seen));
        }
        assert_eq!(positions, subtree.len);
        height
    }

    #[test]
    fn every_position_has_one_place_and_every_subtree_is_a_range() {
        for tree in shapes() {
            for p in 1..=64 {
                let mut seen = vec![false; p];
                check(tree, p, tree.whole(p), None, &mut seen);
                assert!(seen.into_iter().all(|seen| seen));
            }
        }
    }

    #[test]
    fn ranks_and_positions_are_inverse_for_every_root() {
        for tree in shapes() {
            for p in 1..=64 {
                for root in 0..p {
                    assert_eq!(tree.rank(p, root, tree.whole(p).node), root);
                    for rank in 0..p {
                        assert_eq!(tree.rank(p, root, tree.position(p, root, rank)), rank);
                    }
                }
            }
        }
    }

    #[test]
    fn trees_are_as_high_as_their_names_say() {
        for p in 1..=64 {
            for k in 2usize..=5 {
                let height = |tree: RangeTree| check(tree, p, tree.whole(p), None, &mut vec![false; p]);
                let levels = (0..).find(|level| k.pow(*level) >= p).unwrap() as usize;
                assert!(height(RangeTree::Knomial { radix: k }) <= levels);
                let complete = (0..).find(|height| (0..=*height).map(|level| k.pow(level)).sum::<usize>() >= p);
                assert_eq!(height(RangeTree::Kary { top: k, below: k }), complete.unwrap() as usize);
                assert_eq!(height(RangeTree::Kary { top: k, below: 1 }), (p - 1).div_ceil(k));
                assert_eq!(
                    RangeTree::Bine.children(RangeTree::Bine.whole(p)).count(),
                    p.next_power_of_two().trailing_zeros() as usize
                );
            }
        }
    }

    #[test]
    fn bine_trees_of_a_power_of_two_follow_the_negabinary_labels() {
        // The paper's rule: flip the lowest bits of the base −2 label, all of them first, one bit fewer each time.
        let label = |v: i32| (v as u32).wrapping_add(0xAAAA_AAAA) ^ 0xAAAA_AAAA;
        for p in [2, 4, 8, 16, 32, 64] {
            let by_label =
                |wanted: u32| (0..p).find(|v| label(*v) == wanted || label(*v - p) == wanted).unwrap() as usize;
            let p = p as usize;
            let tree = RangeTree::Bine;
            let root = tree.whole(p);
            for (child, bits) in tree.children(root).zip((1..=p.trailing_zeros()).rev()) {
                assert_eq!(tree.rank(p, 0, child.node), by_label((1 << bits) - 1), "p = {p}");
            }
        }
    }

    #[test]
    fn children_are_served_by_size() {
        for tree in shapes() {
            for p in 1..=64 {
                let sizes: Vec<_> = tree.children(tree.whole(p)).map(|child| child.len).collect();
                let sorted = sizes.windows(2).filter(|pair| pair[0] < pair[1]).count();
                // Only the last k-nomial child, cut short by p, may come before a larger one.
                assert!(sorted == 0 || matches!(tree, RangeTree::Knomial { .. }) && sorted == 1 && sizes[0] < sizes[1]);
            }
        }
    }
}
