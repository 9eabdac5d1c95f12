//! Chains: one, or several from the root; and the star.

use super::tree::{Links, Tree};

/// The root with `chains` chains below it, each of consecutive numbers, lengths differing by at most one, the longer
/// ones last. The last chain is served first, so that contributions come up in rank order.
#[derive(Clone, Copy, Debug)]
pub struct Chains {
    /// p.
    pub ranks: usize,
    /// Number of chains, at least 1; those that would be empty are left out.
    pub chains: usize,
}

impl Chains {
    /// One chain through all ranks.
    pub const fn one(ranks: usize) -> Self {
        Self { ranks, chains: 1 }
    }

    /// Number of the first rank of chain `chain`.
    const fn head(&self, chain: usize) -> usize {
        let below = self.ranks - 1;
        let (short, longer) = (below / self.chains, below % self.chains);
        let shorter = self.chains - longer;
        1 + chain * short + chain.saturating_sub(shorter)
    }

    /// The chain in which `v` > 0 lies.
    const fn chain_of(&self, v: usize) -> usize {
        let below = self.ranks - 1;
        let (short, longer) = (below / self.chains, below % self.chains);
        let in_shorter = (self.chains - longer) * short;
        if v - 1 < in_shorter { (v - 1) / short } else { self.chains - longer + (v - 1 - in_shorter) / (short + 1) }
    }
}

impl Tree for Chains {
    fn ranks(&self) -> usize {
        self.ranks
    }

    fn links(&self, v: usize) -> Links {
        if v == 0 {
            let empty = self.chains.saturating_sub(self.ranks - 1);
            return Links::new(0, None, (empty..self.chains).rev().map(|chain| self.head(chain)));
        }
        let chain = self.chain_of(v);
        let parent = if v == self.head(chain) { 0 } else { v - 1 };
        let next = (v + 1 < self.head(chain + 1)).then_some(v + 1);
        Links::new(v, Some(parent), next)
    }
}

/// Everyone right below `center`. Numbers are ranks, and contributions come up in an order that lets each be folded to
/// its place: those above the center upwards, then those below it downwards.
#[derive(Clone, Copy, Debug)]
pub struct Star {
    /// p.
    pub ranks: usize,
    /// The root.
    pub center: usize,
}

impl Tree for Star {
    fn ranks(&self) -> usize {
        self.ranks
    }

    fn root(&self) -> usize {
        self.center
    }

    fn links(&self, v: usize) -> Links {
        if v != self.center {
            return Links::new(v, Some(self.center), None);
        }
        Links::new(v, None, (0..v).chain((v + 1..self.ranks).rev()))
    }

    fn downward(&self, v: usize) -> Links {
        if v != self.center {
            return self.links(v);
        }
        Links::new(v, None, (v + 1..self.ranks).chain(0..v))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::tree::{check, rounds};

    #[test]
    fn chains_are_trees_that_keep_order() {
        for ranks in 1..=64 {
            for chains in [1, 2, 3, 4, 7, 63, 64, 100] {
                let tree = Chains { ranks, chains };
                check::is_tree(&tree);
                check::keeps_order(&tree);
                check::rounds_are_as_counted(&tree);
            }
            assert_eq!(rounds(&Chains::one(ranks), 1), ranks - 1);
        }
    }

    #[test]
    fn stars_are_trees_that_keep_order() {
        for ranks in 1..=64 {
            for center in 0..ranks {
                let tree = Star { ranks, center };
                check::is_tree(&tree);
                check::keeps_order(&tree);
                assert_eq!(rounds(&tree, 3), 3 * (ranks - 1));
            }
        }
    }
}
