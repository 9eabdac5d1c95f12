//! Two binary trees over the same ranks such that whoever has children in one is a leaf of the other, and subtrees are
//! runs of consecutive ranks in both.

use super::tree::{Links, Tree};

/// The in-order binary tree: odd numbers are leaves, a number with lowest set bit d is the middle of the 2d − 1 numbers
/// of its subtree, and 0 stands above all with one child.
///
/// Where the numbers end at p, a right subtree is the one that still fits.
#[derive(Clone, Copy, Debug)]
pub struct InOrder {
    /// p.
    pub ranks: usize,
}

impl Tree for InOrder {
    fn ranks(&self) -> usize {
        self.ranks
    }

    fn links(&self, v: usize) -> Links {
        let p = self.ranks;
        let lowest = if v == 0 { p.next_power_of_two() } else { v & v.wrapping_neg() };
        let parent = (v > 0).then(|| {
            let left_of = (v ^ lowest) | lowest << 1;
            if left_of < p { left_of } else { v ^ lowest }
        });
        let left = (v > 0 && lowest > 1).then(|| v - lowest / 2);
        let mut width = lowest / 2;
        while width > 0 && v + width >= p {
            width /= 2;
        }
        let right = (width > 0).then(|| v + width);
        Links::new(v, parent, left.into_iter().chain(right))
    }
}

/// The other tree: [`InOrder`] seen from the other end for even p; for odd p the one over all ranks but 0, which hangs
/// below the root as its left child.
#[derive(Clone, Copy, Debug)]
pub struct OtherInOrder {
    /// p.
    pub ranks: usize,
}

impl Tree for OtherInOrder {
    fn ranks(&self) -> usize {
        self.ranks
    }

    fn root(&self) -> usize {
        match self.ranks {
            1 => 0,
            p if p.is_multiple_of(2) => p - 1,
            _ => 1,
        }
    }

    fn links(&self, v: usize) -> Links {
        let p = self.ranks;
        if p.is_multiple_of(2) {
            let mirror = |number: usize| p - 1 - number;
            let links = InOrder { ranks: p }.links(mirror(v));
            let children = links.children.iter().map(|child| mirror(child.number));
            return Links::new(v, links.parent.map(mirror), children);
        }
        if v == 0 {
            return Links::new(0, (p > 1).then_some(1), None);
        }
        let links = InOrder { ranks: p - 1 }.links(v - 1);
        let above = (v == 1).then_some(0);
        let children = links.children.iter().map(|child| child.number + 1);
        Links::new(v, links.parent.map(|parent| parent + 1), children.chain(above))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::hypercube::ceil_log2;
    use crate::pattern::tree::{check, depth};

    #[test]
    fn both_are_shallow_trees_with_consecutive_subtrees() {
        for ranks in 1..=64 {
            let trees: [&dyn Tree; 2] = [&InOrder { ranks }, &OtherInOrder { ranks }];
            for tree in trees {
                check::is_tree(tree);
                check::keeps_order(tree);
                check::rounds_are_as_counted(tree);
                let deepest = (0..ranks).map(|v| depth(tree, v)).max().unwrap();
                assert!(deepest <= ceil_log2(ranks) as usize);
            }
        }
    }

    #[test]
    fn nobody_has_children_in_both_trees() {
        for ranks in 1..=64 {
            for v in 0..ranks {
                let fans = (InOrder { ranks }.links(v).children.len(), OtherInOrder { ranks }.links(v).children.len());
                assert!(fans.0 == 0 || fans.1 == 0, "p = {ranks}, rank {v}");
                assert!(fans.0 <= 2 && fans.1 <= 2);
            }
        }
    }
}
