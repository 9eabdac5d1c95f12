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

/// How many durations fell into each step. Longer ones than the longest count as that long.
///
/// A counter for each step, 2.8 KiB, and a few instructions to find it. (The crate hdrhistogram has the same steps;
/// going through its counters takes it four microseconds, forty milliseconds for the counters of a large run.)
#[derive(Debug)]
pub struct Durations {
    counts: Box<[u32; STEPS]>,
}

impl Durations {
    /// Without any.
    pub fn new() -> Self {
        Self { counts: Box::new([0; STEPS]) }
    }

    /// Counts one.
    #[inline]
    pub fn record(&mut self, ticks: u64) {
        let count = &mut self.counts[step(ticks)];
        *count = count.saturating_add(1);
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.counts.fill(0);
    }

    /// Appends what was counted as steps of nanoseconds; `shortest` and `longest` bound it.
    pub fn append_to(
        &self,
        steps: &mut Vec<(u16, u32)>,
        (shortest, longest): (u64, u64),
        nanoseconds: impl Fn(u64) -> u64,
    ) {
        let first = steps.len();
        let (lowest, highest) = (step(shortest), step(longest));
        // Most powers of two between a call that met nobody and one that waited are empty.
        let powers = self.counts.chunks(1 << FINENESS).enumerate().take((highest >> FINENESS) + 1);
        let held = powers.skip(lowest >> FINENESS).filter(|(_, counts)| counts.iter().any(|count| *count != 0));
        let each = held.flat_map(|(power, counts)| {
            counts.iter().enumerate().map(move |(place, count)| ((power << FINENESS) + place, *count))
        });
        for (of_ticks, count) in each.filter(|(_, count)| *count > 0) {
            let step = step(nanoseconds(middle(of_ticks))) as u16;
            match steps[first..].last_mut() {
                Some(last) if last.0 == step => last.1 = last.1.saturating_add(count),
                _ => steps.push((step, count)),
            }
        }
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
        for ticks in [7, 7, 1000, u64::MAX, 0] {
            durations.record(ticks);
        }
        let found = |bounds, tick: u64| {
            let mut steps = vec![(1, 1)];
            durations.append_to(&mut steps, bounds, |ticks| ticks / tick);
            steps.split_off(1)
        };
        assert_eq!(found((0, u64::MAX), 1), [(0, 1), (7, 2), (step(1000) as u16, 1), (STEPS as u16 - 1, 1)]);
        // A longer tick may bring several steps into one.
        assert_eq!(found((0, 7), 100), [(0, 3)]);
        durations.clear();
        let mut steps = Vec::new();
        durations.append_to(&mut steps, (0, u64::MAX), |ticks| ticks);
        assert!(steps.is_empty());
    }
}
