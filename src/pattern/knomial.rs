//! Knomial trees: binomial for radix 2.

use super::tree::{Links, Tree};

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
}

impl Tree for Knomial {
    fn ranks(&self) -> usize {
        self.ranks
    }

    fn links(&self, v: usize) -> Links {
        let reach = self.reach(v);
        let parent = (v != 0).then(|| v - v / reach % self.radix * reach);
        let weights = std::iter::successors(Some(reach / self.radix), |weight| Some(weight / self.radix));
        let children = weights.take_while(|weight| *weight > 0).flat_map(|weight| {
            let digits = 1..self.radix.min((self.ranks - v).div_ceil(weight));
            digits.rev().map(move |digit| v + digit * weight)
        });
        Links::new(v, parent, children)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::hypercube::ceil_log2;
    use crate::pattern::tree::{check, rounds};

    #[test]
    fn knomial_trees_are_trees_with_consecutive_subtrees() {
        for ranks in 1..=64 {
            for radix in [2, 3, 4, 5, 8, 64, 100, usize::MAX] {
                let tree = Knomial { ranks, radix };
                check::is_tree(&tree);
                check::keeps_order(&tree);
                check::rounds_are_as_counted(&tree);
            }
            assert_eq!(rounds(&Knomial::binomial(ranks), 1), ceil_log2(ranks) as usize);
        }
    }
}
