//! Knomial trees: binomial for radix 2.

use super::tree::{Links, Tree};
use std::ops::Range;

/// The knomial tree of `ranks` ranks: number v hangs below v with its lowest non-zero digit in base `radix` cleared.
///
/// A subtree is a run of consecutive numbers. The children with the largest subtrees are served first.
#[derive(Clone, Copy, Debug)]
pub struct Knomial {
    /// p.
    pub ranks: usize,
    /// k, at least 2: the children per level are k − 1.
    pub radix: usize,
}

impl Knomial {
    /// The binomial tree.
    pub const fn binomial(ranks: usize) -> Self {
        Self { ranks, radix: 2 }
    }

    /// The weight of the lowest non-zero digit of `v`: its subtree is `v..v + reach(v)` as far as there are ranks. For
    /// the root, the first power of the radix that is not below p.
    pub const fn reach(&self, v: usize) -> usize {
        let mut weight = 1;
        while if v == 0 { weight < self.ranks } else { (v / weight).is_multiple_of(self.radix) } {
            weight *= self.radix;
        }
        weight
    }

    fn parent(&self, v: usize) -> Option<usize> {
        let reach = self.reach(v);
        (v != 0).then(|| v - v / reach % self.radix * reach)
    }

    /// The children of `v` level by level, the largest subtrees first: child v + i·w for every i of a range.
    fn levels(&self, v: usize) -> impl Iterator<Item = (Range<usize>, usize)> {
        let weights = std::iter::successors(Some(self.reach(v) / self.radix), |weight| Some(weight / self.radix));
        let left = self.ranks - v;
        weights.take_while(|weight| *weight > 0).map(move |weight| (1..self.radix.min(left.div_ceil(weight)), weight))
    }
}

impl Tree for Knomial {
    fn ranks(&self) -> usize {
        self.ranks
    }

    fn links(&self, v: usize) -> Links {
        Links::new(
            v,
            self.parent(v),
            self.levels(v).flat_map(|(digits, weight)| digits.rev().map(move |digit| v + digit * weight)),
        )
    }

    fn downward(&self, v: usize) -> Links {
        Links::new(
            v,
            self.parent(v),
            self.levels(v).flat_map(|(digits, weight)| digits.map(move |digit| v + digit * weight)),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::hypercube::ceil_log2;
    use crate::pattern::tree::{Downward, check, rounds};

    #[test]
    fn among_equals_the_nearest_is_served_first() {
        let tree = Knomial { ranks: 12, radix: 4 };
        let served: Vec<usize> = tree.downward(0).children.iter().map(|child| child.number).collect();
        assert_eq!(served, [4, 8, 1, 2, 3]);
    }

    #[test]
    fn knomial_trees_are_trees_with_consecutive_subtrees() {
        for ranks in 1..=64 {
            for radix in [2, 3, 4, 5, 8, 64, 100, usize::MAX] {
                let tree = Knomial { ranks, radix };
                check::is_tree(&tree);
                check::keeps_order(&tree);
                check::rounds_are_as_counted(&tree);
                check::is_tree(&Downward(&tree));
                check::rounds_are_as_counted(&Downward(&tree));
                assert!(rounds(&Downward(&tree), 1) <= rounds(&tree, 1), "p = {ranks}, k = {radix}");
            }
            assert_eq!(rounds(&Knomial::binomial(ranks), 1), ceil_log2(ranks) as usize);
        }
    }
}
