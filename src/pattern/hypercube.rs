//! Hypercube dimensions and the folding of ranks beyond a power of two.

use super::butterfly::Steps;

/// ⌈log2 p⌉, the rounds of anything that doubles.
pub const fn ceil_log2(p: usize) -> u32 {
    p.next_power_of_two().trailing_zeros()
}

/// ⌊log2 p⌋ for p ≥ 1.
pub const fn floor_log2(p: usize) -> u32 {
    p.ilog2()
}

/// A rank's part in folding p ranks onto the largest power of two (or other core size) not above p.
///
/// The first `2·extra` ranks form neighbouring pairs; the even one of each pair hands its contribution to the odd one
/// and waits for the result. What is left keeps rank order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Stands aside; its contribution is carried by the rank given.
    Extra {
        /// The rank that works for this one.
        proxy: usize,
    },
    /// Works for itself and for `extra`, as rank `core` of the core.
    Proxy {
        /// The rank worked for, always the next lower one.
        extra: usize,
        /// Own number in the core.
        core: usize,
    },
    /// Works for itself, as rank `core` of the core.
    Base {
        /// Own number in the core.
        core: usize,
    },
}

/// Folding of `ranks` ranks onto a core of `core` ranks, with `core ≤ ranks ≤ 2·core`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Folding {
    ranks: usize,
    core: usize,
}

impl Folding {
    /// Onto the largest power of two not above `ranks`.
    pub const fn power_of_two(ranks: usize) -> Self {
        Self { ranks, core: 1 << floor_log2(ranks) }
    }

    /// Onto a core of `core` ranks.
    ///
    /// # Panics
    /// If a proxy would have to work for more than one other rank.
    pub const fn onto(ranks: usize, core: usize) -> Self {
        assert!(core <= ranks && ranks <= 2 * core, "one extra rank per proxy at most");
        Self { ranks, core }
    }

    /// Size of the core.
    pub const fn core(&self) -> usize {
        self.core
    }

    /// Number of ranks that stand aside.
    pub const fn extra(&self) -> usize {
        self.ranks - self.core
    }

    /// The part of `rank`.
    pub const fn part(&self, rank: usize) -> Part {
        let extra = self.extra();
        if rank >= 2 * extra {
            Part::Base { core: rank - extra }
        } else if rank.is_multiple_of(2) {
            Part::Extra { proxy: rank + 1 }
        } else {
            Part::Proxy { extra: rank - 1, core: rank / 2 }
        }
    }

    /// `steps` of the core with partners that are ranks instead of numbers of the core.
    pub fn ranks_of(&self, mut steps: Steps) -> Steps {
        for step in &mut steps {
            step.partner = self.rank(step.partner);
        }
        steps
    }

    /// The rank that is number `core` of the core.
    pub const fn rank(&self, core: usize) -> usize {
        if core < self.extra() { 2 * core + 1 } else { core + self.extra() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folding_pairs_every_extra_rank_with_its_proxy_and_keeps_order() {
        for (ranks, core) in (1..=64usize).flat_map(|ranks| (ranks.div_ceil(2)..=ranks).map(move |core| (ranks, core)))
        {
            let folding = Folding::onto(ranks, core);
            let mut cores = Vec::new();
            for rank in 0..ranks {
                match folding.part(rank) {
                    Part::Extra { proxy } => {
                        assert!(matches!(folding.part(proxy), Part::Proxy { extra, .. } if extra == rank));
                    }
                    Part::Proxy { core, .. } | Part::Base { core } => {
                        assert_eq!(folding.rank(core), rank);
                        cores.push(core);
                    }
                }
            }
            assert_eq!(cores, (0..folding.core()).collect::<Vec<_>>());
        }
    }
}
