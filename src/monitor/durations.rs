//! Durations, counted in 16 equal steps per power of two.

use std::ops::{Deref, Range};
use std::sync::Arc;

/// Powers of two that are told apart; the longest duration is 2^48 ticks, a day on a clock of three of them per
/// nanosecond.
const POWERS: u32 = 48;
/// Steps per power of two, as a power of two: a duration is known within 1/16.
const FINENESS: u32 = 4;
pub(super) const STEPS: usize = ((POWERS - FINENESS + 1) << FINENESS) as usize;

/// Steps that hold any durations, ascending, and how many; a part of a list that many share.
#[derive(Clone, Debug)]
pub struct Steps {
    all: Arc<[(u16, u32)]>,
    own: Range<u32>,
}

impl Steps {
    /// The part `own` of `all`; empty if it has no such part.
    pub fn part(all: &Arc<[(u16, u32)]>, own: Range<u32>) -> Self {
        let own = if own.start <= own.end && own.end as usize <= all.len() { own } else { 0..0 };
        Self { all: Arc::clone(all), own }
    }
}

impl Default for Steps {
    fn default() -> Self {
        std::iter::empty().collect()
    }
}

impl Deref for Steps {
    type Target = [(u16, u32)];

    fn deref(&self) -> &Self::Target {
        &self.all[self.own.start as usize..self.own.end as usize]
    }
}

impl PartialEq for Steps {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl FromIterator<(u16, u32)> for Steps {
    fn from_iter<I: IntoIterator<Item = (u16, u32)>>(steps: I) -> Self {
        let all: Arc<[(u16, u32)]> = steps.into_iter().collect();
        Self { own: 0..all.len() as u32, all }
    }
}

/// Durations that are kept one by one before steps are counted. They and their number fill a line of the cache, but for
/// what a [`Table`](super::Table) keeps behind them.
const FEW: usize = 27;

/// How many durations fell into each step. Longer ones than the longest count as that long.
///
/// A counter for each step, 2.8 KiB, and a few instructions to find it. (The crate hdrhistogram has the same steps;
/// going through its counters takes it four microseconds, forty milliseconds for the counters of a large run.) Programs
/// that make communicators for a few calls have thousands of kinds of calls with a few durations each, for which
/// memory is neither taken nor cleared.
#[derive(Debug)]
#[repr(C)]
pub struct Durations {
    /// By step, how many, once there were more than a few.
    counts: Option<Box<[u32; STEPS]>>,
    /// How many of the first few there are.
    number: u16,
    /// Their steps, while no others are counted.
    few: [u16; FEW],
}

impl Durations {
    /// Without any.
    pub const fn new() -> Self {
        Self { counts: None, number: 0, few: [0; FEW] }
    }

    /// Counts one.
    #[inline]
    pub fn record(&mut self, ticks: u64) {
        let step = step(ticks);
        if let Some(counts) = &mut self.counts {
            counts[step] = counts[step].saturating_add(1);
        } else if let Some(next) = self.few.get_mut(usize::from(self.number)) {
            *next = step as u16;
            self.number += 1;
        } else {
            self.count_from_here(step);
        }
    }

    #[cold]
    fn count_from_here(&mut self, step: usize) {
        let mut counts = Box::new([0; STEPS]);
        self.few.iter().for_each(|step| counts[usize::from(*step)] += 1);
        counts[step] += 1;
        self.counts = Some(counts);
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        *self = Self::new();
    }

    /// Appends what was counted as steps of nanoseconds; `shortest` and `longest` bound it.
    pub fn append_to(
        &self,
        steps: &mut Vec<(u16, u32)>,
        (shortest, longest): (u64, u64),
        nanoseconds: impl Fn(u64) -> u64,
    ) {
        let first = steps.len();
        let mut append = |of_ticks, count: u32| {
            let step = step(nanoseconds(middle(of_ticks))) as u16;
            match steps[first..].last_mut() {
                Some(last) if last.0 == step => last.1 = last.1.saturating_add(count),
                _ => steps.push((step, count)),
            }
        };
        let Some(counts) = &self.counts else {
            let mut few = self.few;
            let few = &mut few[..usize::from(self.number)];
            few.sort_unstable();
            return few.iter().for_each(|step| append(usize::from(*step), 1));
        };
        let (lowest, highest) = (step(shortest), step(longest));
        // Most powers of two between a call that met nobody and one that waited are empty.
        let powers = counts.chunks(1 << FINENESS).enumerate().take((highest >> FINENESS) + 1);
        let held = powers.skip(lowest >> FINENESS).filter(|(_, counts)| counts.iter().any(|count| *count != 0));
        let each = held.flat_map(|(power, counts)| {
            counts.iter().enumerate().map(move |(place, count)| ((power << FINENESS) + place, *count))
        });
        each.filter(|(_, count)| *count > 0).for_each(|(of_ticks, count)| append(of_ticks, count));
    }
}

/// The step of a duration.
#[inline]
pub(super) const fn step(ticks: u64) -> usize {
    let longest = (1 << POWERS) - 1;
    let ticks = if ticks > longest { longest } else { ticks };
    if ticks < 1 << FINENESS {
        return ticks as usize;
    }
    // Between 2^power and twice that, the bits after the leading one are the step.
    let power = ticks.ilog2();
    let shift = power - FINENESS;
    ((shift as usize) << FINENESS) + (ticks >> shift) as usize
}

/// The middle of a step.
pub(super) const fn middle(step: usize) -> u64 {
    let whole = 1 << FINENESS;
    if step < 2 * whole {
        return step as u64;
    }
    let shift = step / whole - 1;
    (((step % whole + whole) as u64) << shift) + (1 << (shift - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_follow_one_another_and_hold_their_middle() {
        assert_eq!(step(u64::MAX), STEPS - 1);
        for place in 0..STEPS {
            assert_eq!(step(middle(place)), place);
        }
        for ticks in (0..POWERS).flat_map(|power| [1u64 << power, (1 << power) + 1, (2 << power) - 1]) {
            let kept = middle(step(ticks)) as f64;
            assert!((kept / ticks as f64 - 1.0).abs() <= 1.0 / 32.0, "{ticks} became {kept}");
            assert!(step(ticks) <= step(ticks + 1) && step(ticks + 1) <= step(ticks) + 1);
        }
    }

    #[test]
    fn what_was_counted_comes_back() {
        let mut durations = Durations::new();
        for ticks in [1000, 7, 7, u64::MAX, 0] {
            durations.record(ticks);
        }
        let found = |durations: &Durations, bounds, tick: u64| {
            let mut steps = vec![(1, 1)];
            durations.append_to(&mut steps, bounds, |ticks| ticks / tick);
            steps.split_off(1)
        };
        let all = (0, u64::MAX);
        assert_eq!(found(&durations, all, 1), [(0, 1), (7, 2), (step(1000) as u16, 1), (STEPS as u16 - 1, 1)]);
        // More than are kept one by one.
        (0..FEW).for_each(|_| durations.record(7));
        let sevens = FEW as u32 + 2;
        assert_eq!(found(&durations, all, 1), [(0, 1), (7, sevens), (step(1000) as u16, 1), (STEPS as u16 - 1, 1)]);
        // A longer tick may bring several steps into one.
        assert_eq!(found(&durations, (0, 7), 100), [(0, sevens + 1)]);
        durations.clear();
        assert!(found(&durations, all, 1).is_empty());
        durations.record(70);
        durations.record(7);
        assert_eq!(found(&durations, (7, 70), 100), [(0, 2)]);
    }

    #[test]
    fn no_number_of_durations_is_lost() {
        for number in 0..3 * FEW as u64 {
            let mut durations = Durations::new();
            (0..number).for_each(|ticks| durations.record(ticks * 50));
            let mut steps = Vec::new();
            durations.append_to(&mut steps, (0, number * 50), |ticks| ticks);
            assert_eq!(steps.iter().map(|(_, count)| u64::from(*count)).sum::<u64>(), number);
            assert!(steps.is_sorted_by(|before, after| before.0 < after.0));
        }
    }
}
