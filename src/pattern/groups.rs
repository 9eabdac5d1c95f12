//! Groups of ranks that meet in rounds, every member with every other one: the hypercube with more than two ranks to a
//! side.

use super::hypercube::Folding;
use smallvec::SmallVec;

/// One rank's group in one round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// Number of members, at least 2.
    pub size: usize,
    /// Own place among them.
    pub own: usize,
    first: usize,
    stride: usize,
}

impl Group {
    /// The member at `place`, places in rank order.
    pub const fn member(&self, place: usize) -> usize {
        self.first + place * self.stride
    }
}

/// Folding onto the largest m·radix^t ≤ ranks with 1 ≤ m < radix, which never leaves more than one extra rank per
/// proxy.
///
/// # Panics
/// If `radix` is below 2.
pub fn folding(ranks: usize, radix: usize) -> Folding {
    assert!(radix >= 2, "groups have at least two members");
    let mut stride = 1;
    while stride <= ranks / radix {
        stride *= radix;
    }
    Folding::onto(ranks, ranks / stride * stride)
}

/// The groups of rank `rank` among m·radix^t ranks in the order of the rounds: t of `radix` neighbours of growing
/// distance, then one of m (unless m = 1). Whoever a group's members have met before are consecutive ranks, in the
/// order of the members.
pub fn rounds(ranks: usize, rank: usize, radix: usize) -> SmallVec<[Group; 16]> {
    let mut groups = SmallVec::new();
    let mut stride = 1;
    while stride < ranks {
        let size = radix.min(ranks / stride);
        let own = rank / stride % size;
        groups.push(Group { size, own, first: rank - own * stride, stride });
        stride *= size;
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_meets_all_of_the_core_in_order() {
        for ranks in 1..=64 {
            for radix in 2..=65 {
                let core = folding(ranks, radix).core();
                let mut met: Vec<_> = (0..core).map(|rank| vec![rank]).collect();
                let number = rounds(core, 0, radix).len();
                for round in 0..number {
                    let before = met.clone();
                    for (rank, met) in met.iter_mut().enumerate() {
                        let group = rounds(core, rank, radix)[round];
                        assert!(group.size >= 2 && group.size <= radix);
                        assert_eq!(group.member(group.own), rank);
                        *met = (0..group.size).flat_map(|place| before[group.member(place)].clone()).collect();
                    }
                }
                for met in met {
                    assert_eq!(met, (0..core).collect::<Vec<_>>());
                }
            }
        }
    }

    #[test]
    fn radix_two_is_the_power_of_two_and_large_radices_fold_nobody() {
        for ranks in 1..=64 {
            assert_eq!(folding(ranks, 2), Folding::power_of_two(ranks));
            assert_eq!(folding(ranks, ranks.max(2)).extra(), 0);
            assert_eq!(folding(ranks, 64).extra(), 0);
        }
    }
}
