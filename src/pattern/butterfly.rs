//! Butterflies: in each step the ranks meet in pairs that hold the same blocks, and after ⌈log2 p⌉ steps everyone has
//! met everyone's contribution.
//!
//! Whoever halves its blocks in step s keeps the half that its own bit of that step names and hands the other half to
//! its partner. So that the halves are contiguous and the partner of step s still holds the same blocks, the two differ
//! in the bit of step s and agree in the bits of all steps before.

use smallvec::SmallVec;

/// One rank's side of one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Whom to meet.
    pub partner: usize,
    /// Whether the upper half of the blocks held stays here (it is the lower one at the partner).
    pub upper: bool,
    /// Whether the own part stands on the left when the two are folded (it stands on the right at the partner).
    pub left: bool,
}

/// The steps of one rank, the first one first.
pub type Steps = SmallVec<[Step; 16]>;

/// The hypercube: partner r ⊕ 2^s in step s. Every fold joins neighbouring groups of ranks in rank order.
pub fn hypercube(ranks: usize, rank: usize) -> Steps {
    debug_assert!(ranks.is_power_of_two());
    let distances = (0..ranks.ilog2()).map(|step| 1usize << step);
    distances
        .map(|distance| {
            let upper = rank & distance != 0;
            Step { partner: rank ^ distance, upper, left: !upper }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ops::Range;

    /// Block range of every rank, and the contributions in every block, after all halvings.
    fn halve(all: &[Steps]) -> Vec<(Range<usize>, Vec<usize>)> {
        let ranks = all.len();
        let mut held: Vec<_> = (0..ranks).map(|rank| (0..ranks, vec![rank])).collect();
        for step in 0..all[0].len() {
            let before = held.clone();
            for rank in 0..ranks {
                let own = all[rank][step];
                let other = all[own.partner][step];
                assert_eq!(other.partner, rank, "partners agree");
                assert_ne!(own.upper, other.upper, "each half stays with one of the two");
                assert_ne!(own.left, other.left, "one stands on the left");
                assert_eq!(before[rank].0, before[own.partner].0, "both hold the same blocks");
                let (blocks, contributions) = &mut held[rank];
                let middle = blocks.start + blocks.len() / 2;
                *blocks = if own.upper { middle..blocks.end } else { blocks.start..middle };
                let theirs = &before[own.partner].1;
                *contributions = if own.left {
                    contributions.iter().chain(theirs).copied().collect()
                } else {
                    theirs.iter().chain(contributions.iter()).copied().collect()
                };
            }
        }
        held
    }

    #[test]
    fn hypercube_halves_to_one_block_each_with_every_rank_in_order() {
        for ranks in [1, 2, 4, 8, 16, 32, 64] {
            let all: Vec<_> = (0..ranks).map(|rank| hypercube(ranks, rank)).collect();
            let mut owners = vec![0; ranks];
            for (blocks, contributions) in halve(&all) {
                assert_eq!(blocks.len(), 1);
                owners[blocks.start] += 1;
                assert_eq!(contributions, (0..ranks).collect::<Vec<_>>());
            }
            assert!(owners.iter().all(|owners| *owners == 1));
        }
    }
}
