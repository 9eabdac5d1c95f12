//! Butterflies: in each step the ranks meet in pairs that hold the same blocks, and after ⌈log2 p⌉ steps everyone has
//! met everyone's contribution.
//!
//! Whoever halves its blocks in step s keeps the half that its own bit of that step names and hands the other half to
//! its partner. So that the halves are contiguous and the partner of step s still holds the same blocks, the two differ
//! in the bit of step s and agree in the bits of all steps before.
//!
//! Taken backwards, the steps are for exchanges of whole vectors: those who agree in the bits of the steps to come have
//! met the same ranks then, and fold them alike. (The hypercube can be taken either way.)

use smallvec::SmallVec;

/// One rank's side of one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Whom to meet.
    pub partner: usize,
    /// Whether the upper half of the blocks held stays here (it is the lower one at the partner). When the two fold,
    /// the one that keeps the upper half stands on the right.
    pub upper: bool,
}

/// The steps of one rank, the first one first.
pub type Steps = SmallVec<[Step; 16]>;

/// The hypercube: partner r ⊕ 2^s in step s. Every fold joins neighbouring groups of ranks in rank order.
pub fn hypercube(ranks: usize, rank: usize) -> Steps {
    debug_assert!(ranks.is_power_of_two());
    let distances = (0..ranks.ilog2()).map(|step| 1usize << step);
    distances.map(|distance| Step { partner: rank ^ distance, upper: rank & distance != 0 }).collect()
}

/// Swing, nearest first, for blocks: in step s even ranks meet r + ρ(s) and odd ranks r − ρ(s) modulo p, with ρ(s) =
/// Σ_{i ≤ s} (−2)^i = 1, −1, 3, −5, 11, …, about two thirds of the way that the hypercube goes, to and fro.
///
/// Ranks that hold the same blocks before step s are the even ones that agree modulo 2^{s+1} and the odd ones that do
/// so after going back ρ(s). So the bit of step s is bit s + 1 of an even rank and of what an odd rank finds when it
/// goes back ρ(s + 1), and in the last step, where nothing is left to agree on, the parity.
pub fn swing(ranks: usize, rank: usize) -> Steps {
    debug_assert!(ranks.is_power_of_two());
    let (number, even) = (ranks.ilog2(), rank.is_multiple_of(2));
    let upper = |step: u32| match (step + 1 == number, even) {
        (true, _) => !even,
        (false, true) => rank >> (step + 1) & 1 == 1,
        (false, false) => rank.wrapping_add_signed(-swing_distance(step + 1)) >> (step + 1) & 1 == 1,
    };
    (0..number).map(|step| Step { partner: swing_partner(ranks, rank, step), upper: upper(step) }).collect()
}

/// ρ(s) = (1 − (−2)^{s+1}) / 3.
const fn swing_distance(step: u32) -> isize {
    (1 - (-2isize).pow(step + 1)) / 3
}

fn swing_partner(ranks: usize, rank: usize, step: u32) -> usize {
    let distance = swing_distance(step);
    let signed = if rank.is_multiple_of(2) { distance } else { -distance };
    rank.wrapping_add_signed(signed) & (ranks - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ops::Range;

    /// Block range of every rank, and the contributions in every block, after all halvings.
    #[allow(clippy::needless_range_loop, reason = "a step is a place in every rank's list, not in one")]
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
                assert_eq!(before[rank].0, before[own.partner].0, "both hold the same blocks");
                let (blocks, contributions) = &mut held[rank];
                let middle = blocks.start + blocks.len() / 2;
                *blocks = if own.upper { middle..blocks.end } else { blocks.start..middle };
                let theirs = &before[own.partner].1;
                *contributions = joined(contributions, theirs, own.upper);
            }
        }
        held
    }

    fn joined(own: &[usize], theirs: &[usize], upper: bool) -> Vec<usize> {
        if upper { [theirs, own].concat() } else { [own, theirs].concat() }
    }

    fn assert_one_block_each(all: &[Steps], in_order: bool) {
        let ranks = all.len();
        let mut owners = vec![0; ranks];
        for (blocks, mut contributions) in halve(all) {
            assert_eq!(blocks.len(), 1);
            owners[blocks.start] += 1;
            if !in_order {
                contributions.sort_unstable();
            }
            assert_eq!(contributions, (0..ranks).collect::<Vec<_>>());
        }
        assert!(owners.iter().all(|owners| *owners == 1));
    }

    fn all(ranks: usize, steps: fn(usize, usize) -> Steps) -> Vec<Steps> {
        (0..ranks).map(|rank| steps(ranks, rank)).collect()
    }

    const POWERS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];

    #[test]
    fn hypercube_halves_to_one_block_each_with_every_rank_in_order() {
        for ranks in POWERS {
            assert_one_block_each(&all(ranks, hypercube), true);
        }
    }

    #[test]
    fn swing_halves_to_one_block_each_with_every_rank_once() {
        for ranks in POWERS {
            assert_one_block_each(&all(ranks, swing), false);
        }
    }

    #[test]
    fn backwards_swing_reaches_every_rank_once_and_all_fold_alike() {
        for ranks in POWERS {
            let steps = all(ranks, swing);
            let mut held: Vec<_> = (0..ranks).map(|rank| vec![rank]).collect();
            for step in (0..steps[0].len()).rev() {
                let before = held.clone();
                for rank in 0..ranks {
                    let own = steps[rank][step];
                    held[rank] = joined(&held[rank], &before[own.partner], own.upper);
                }
                for members in &held {
                    assert!(members.iter().all(|member| held[*member] == *members));
                }
            }
            for mut contributions in held {
                contributions.sort_unstable();
                assert_eq!(contributions, (0..ranks).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn swing_distances_alternate_and_stay_below_two_thirds_of_the_hypercube() {
        assert_eq!((0..6).map(swing_distance).collect::<Vec<_>>(), [1, -1, 3, -5, 11, -21]);
        for step in 1..20 {
            assert!(3 * swing_distance(step).unsigned_abs() <= (2 << step) + 1);
        }
    }
}
