//! Two binary trees over the same ranks, in each of which the leaves of the other one are the inner ranks.

use super::tree::{Links, Tree};

/// One of the two trees of `ranks` ranks. Number 0 is above the root and has no other child; 1 … p−1 are in order, so
/// that in both trees what is left of a rank comes before it in rank order, or after it throughout.
///
/// A place's height is the number of trailing zeros of its index, so inner ranks have even indices. The first tree
/// takes v itself as index, the second counts from the other end of an even number of places, which turns even to odd.
#[derive(Clone, Copy, Debug)]
pub struct TwoTree {
    /// p.
    pub ranks: usize,
    /// Whether this is the second of the two.
    pub second: bool,
}

impl TwoTree {
    /// Index of number `v`, or the number at an index.
    const fn turned(&self, v: usize) -> usize {
        if self.second { self.ranks - 1 + (self.ranks - 1) % 2 + 1 - v } else { v }
    }

    /// Lowest and highest index that is taken.
    const fn ends(&self) -> (usize, usize) {
        if self.second { (self.turned(self.ranks - 1), self.turned(1)) } else { (1, self.ranks - 1) }
    }

    fn parent(&self, index: usize) -> Option<usize> {
        let (_, last) = self.ends();
        let (mut at, top) = (index, 1 << last.ilog2());
        if at == top {
            return None;
        }
        loop {
            // Places beyond the last one are skipped: what hangs below them hangs where they would.
            let step = 1 << at.trailing_zeros();
            at = if at & step << 1 != 0 { at - step } else { at + step };
            if at <= last {
                return Some(at);
            }
        }
    }

    fn children(&self, index: usize) -> impl Iterator<Item = usize> {
        let (first, last) = self.ends();
        let steps = (0..index.trailing_zeros()).rev().map(|height| 1 << height);
        let left = steps.clone().next().map(|step: usize| index - step).filter(move |left| *left >= first);
        let right = steps.map(move |step| index + step).find(move |right| *right <= last);
        left.into_iter().chain(right)
    }
}

impl Tree for TwoTree {
    fn ranks(&self) -> usize {
        self.ranks
    }

    fn links(&self, v: usize) -> Links {
        if v == 0 {
            let top = (self.ranks > 1).then(|| self.turned(1 << self.ends().1.ilog2()));
            return Links::new(0, None, top);
        }
        let index = self.turned(v);
        let parent = self.parent(index).map_or(0, |parent| self.turned(parent));
        Links::new(v, Some(parent), self.children(index).map(|child| self.turned(child)))
    }
}

/// A tree with the same property towards the first one whose root lies at the other end: the first one seen from there
/// for even p; for odd p the one over all ranks but 0, which hangs below the root as its left child.
#[derive(Clone, Copy, Debug)]
pub struct Opposite {
    /// p.
    pub ranks: usize,
}

impl Tree for Opposite {
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
            let links = TwoTree { ranks: p, second: false }.links(mirror(v));
            let children = links.children.iter().map(|child| mirror(child.number));
            return Links::new(v, links.parent.map(mirror), children);
        }
        if v == 0 {
            return Links::new(0, (p > 1).then_some(1), None);
        }
        let links = TwoTree { ranks: p - 1, second: false }.links(v - 1);
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
    fn each_rank_is_a_leaf_in_one_of_the_two_trees() {
        for ranks in 1..=64 {
            let trees = [false, true].map(|second| TwoTree { ranks, second });
            for tree in &trees {
                check::is_tree(tree);
                check::keeps_order(tree);
                check::rounds_are_as_counted(tree);
            }
            for v in 1..ranks {
                let fans = trees.map(|tree| tree.links(v).children.len());
                assert!(fans.contains(&0) && fans.iter().all(|fan| *fan <= 2), "p = {ranks}, {v}: {fans:?}");
            }
        }
    }

    #[test]
    fn both_trees_are_flat() {
        for ranks in 2..=64 {
            for second in [false, true] {
                let tree = TwoTree { ranks, second };
                let height = |v: usize| std::iter::successors(Some(v), |v| tree.links(*v).parent).count() - 1;
                let highest = (0..ranks).map(height).max().unwrap();
                assert!(highest <= ceil_log2(ranks) as usize + 1, "p = {ranks}: {highest}");
            }
        }
    }

    #[test]
    fn the_first_and_its_opposite_are_shallow_and_share_no_inner_rank() {
        for ranks in 1..=64 {
            let trees: [&dyn Tree; 2] = [&TwoTree { ranks, second: false }, &Opposite { ranks }];
            for tree in trees {
                check::is_tree(tree);
                check::keeps_order(tree);
                check::rounds_are_as_counted(tree);
                let deepest = (0..ranks).map(|v| depth(tree, v)).max().unwrap();
                assert!(deepest <= ceil_log2(ranks) as usize);
            }
            for v in 0..ranks {
                let fans = trees.map(|tree| tree.links(v).children.len());
                assert!(fans.contains(&0) && fans.iter().all(|fan| *fan <= 2), "p = {ranks}, rank {v}: {fans:?}");
            }
        }
    }
}
