//! Calls of a thread beside collectives: how many, what they moved, and how long they took.
//!
//! Calls that may wait are all timed: one wait is as long as a million short calls, and nothing beforehand tells which
//! it is. Of those that [return at once](MessageCall::returns_at_once), two readings of the clock take as long as a
//! short one, so while they take less than a microsecond on average only one in eight is timed; which, is left to
//! chance, so that nothing the program repeats is taken for all of it. A timed call stands for those before it that
//! were not, but one that took long against its kind for no more than [`MOST_NS`] each, so that it is not multiplied.

use super::{Area, MessageCall};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

const NUMBER: usize = MessageCall::ALL.len();

/// Calls on average between two timed ones of the short, doubled.
const UNTIMED: u32 = 15;

/// Below what mean calls that return at once are short, nanoseconds.
const SHORT_NS: f64 = 1_000.0;

/// The longest that one timed call has each of the calls it stands for be.
const MOST_NS: f64 = 20_000.0;

/// Calls of one kind, summed up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageSum {
    /// Calls.
    pub calls: u64,
    /// Bytes that they sent, or moved to or from windows and files (of a file, those that were asked for).
    pub bytes: u64,
    /// Ticks that they took; of those that return at once as far as the timed ones tell.
    pub ticks: u64,
}

/// What one thread counts and any thread may read. Only its own thread changes it, so that no step has to be one with
/// another.
#[derive(Debug)]
pub struct MessageCounts {
    counts: [Count; NUMBER],
    /// Ticks of all point-to-point calls.
    message_ticks: AtomicU64,
    /// Of what chance depends on.
    seed: AtomicU32,
}

#[derive(Debug)]
struct Count {
    calls: AtomicU64,
    bytes: AtomicU64,
    ticks: AtomicU64,
    /// Calls that are not to be timed before the next one that is.
    untimed: AtomicU32,
    /// Calls that the next timed one stands for, besides itself.
    stands_for: AtomicU32,
    /// A recent mean of timed calls, in sixteenths of a tick.
    mean: AtomicU64,
}

/// Which calls are short, in ticks.
#[derive(Clone, Copy, Debug)]
pub struct Shortness {
    short: u64,
    most: u64,
}

impl Shortness {
    /// On a clock with ticks of such a length.
    pub fn of(nanoseconds_per_tick: f64) -> Self {
        let ticks = |nanoseconds: f64| (nanoseconds / nanoseconds_per_tick) as u64;
        Self { short: ticks(SHORT_NS), most: ticks(MOST_NS) }
    }
}

impl Count {
    const fn new() -> Self {
        Self {
            calls: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            ticks: AtomicU64::new(0),
            untimed: AtomicU32::new(0),
            stands_for: AtomicU32::new(0),
            mean: AtomicU64::new(0),
        }
    }
}

#[inline(always)]
fn add(to: &AtomicU64, value: u64) {
    to.store(to.load(Ordering::Relaxed).wrapping_add(value), Ordering::Relaxed);
}

impl Default for MessageCounts {
    fn default() -> Self {
        Self {
            counts: [const { Count::new() }; NUMBER],
            message_ticks: AtomicU64::new(0),
            seed: AtomicU32::new(0x9e37_79b9),
        }
    }
}

impl MessageCounts {
    /// A call comes; whether it is to be timed.
    #[inline(always)]
    pub fn count(&self, call: MessageCall, bytes: u64) -> bool {
        let count = &self.counts[call as usize];
        add(&count.calls, 1);
        add(&count.bytes, bytes);
        if !call.returns_at_once() {
            return true;
        }
        let untimed = count.untimed.load(Ordering::Relaxed);
        if untimed == 0 {
            return true;
        }
        count.untimed.store(untimed - 1, Ordering::Relaxed);
        false
    }

    /// The call that was to be timed took so long.
    #[inline]
    pub fn timed(&self, call: MessageCall, ticks: u64, shortness: Shortness) {
        if !call.returns_at_once() {
            return self.took(call, ticks);
        }
        let count = &self.counts[call as usize];
        let stands_for = u64::from(count.stands_for.load(Ordering::Relaxed));
        self.took(call, ticks.saturating_add(stands_for * ticks.min(shortness.most)));
        let before = count.mean.load(Ordering::Relaxed);
        // A sixteenth of the way to each: one long call among short ones has the next ones looked at.
        let mean = if before == 0 { 16 * ticks } else { before - before / 16 + ticks };
        count.mean.store(mean, Ordering::Relaxed);
        let untimed = if mean / 16 < shortness.short { self.below(UNTIMED) } else { 0 };
        count.untimed.store(untimed, Ordering::Relaxed);
        count.stands_for.store(untimed, Ordering::Relaxed);
    }

    /// A call whose time is known anyway, and stands for no other.
    pub fn known(&self, call: MessageCall, ticks: u64) {
        add(&self.counts[call as usize].calls, 1);
        self.took(call, ticks);
    }

    #[inline]
    fn took(&self, call: MessageCall, ticks: u64) {
        add(&self.counts[call as usize].ticks, ticks);
        if matches!(call.area(), Area::PointToPoint) {
            add(&self.message_ticks, ticks);
        }
    }

    /// A number from 0 on below `end`.
    #[inline]
    fn below(&self, end: u32) -> u32 {
        // Marsaglia's xorshift (Journal of Statistical Software 8, 2003).
        let mut seed = self.seed.load(Ordering::Relaxed);
        seed ^= seed << 13;
        seed ^= seed >> 17;
        seed ^= seed << 5;
        self.seed.store(seed, Ordering::Relaxed);
        ((u64::from(seed) * u64::from(end)) >> 32) as u32
    }

    /// A call that was counted has moved so many bytes more.
    pub fn moved(&self, call: MessageCall, bytes: u64) {
        add(&self.counts[call as usize].bytes, bytes);
    }

    /// What was counted, by call.
    pub fn sums(&self) -> [MessageSum; NUMBER] {
        std::array::from_fn(|place| {
            let count = &self.counts[place];
            MessageSum {
                calls: count.calls.load(Ordering::Relaxed),
                bytes: count.bytes.load(Ordering::Relaxed),
                ticks: count.ticks.load(Ordering::Relaxed),
            }
        })
    }

    /// Ticks of all point-to-point calls.
    #[inline]
    pub fn message_ticks(&self) -> u64 {
        self.message_ticks.load(Ordering::Relaxed)
    }
}

impl MessageSum {
    /// Both together.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            calls: self.calls + other.calls,
            bytes: self.bytes.wrapping_add(other.bytes),
            ticks: self.ticks + other.ticks,
        }
    }

    /// What came since `before`.
    #[must_use]
    pub const fn since(self, before: Self) -> Self {
        Self {
            calls: self.calls.saturating_sub(before.calls),
            bytes: self.bytes.wrapping_sub(before.bytes),
            ticks: self.ticks.saturating_sub(before.ticks),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs calls that return at once, of such lengths, in nanoseconds of a clock whose ticks are that long; the sum,
    /// and how many were timed.
    fn run(lengths: impl Iterator<Item = u64>) -> (MessageSum, u64) {
        run_of(MessageCall::Irecv, lengths)
    }

    fn run_of(call: MessageCall, lengths: impl Iterator<Item = u64>) -> (MessageSum, u64) {
        let counts = MessageCounts::default();
        let shortness = Shortness::of(1.0);
        let mut timed = 0;
        for length in lengths {
            if counts.count(call, 8) {
                timed += 1;
                counts.timed(call, length, shortness);
            }
        }
        (counts.sums()[call as usize], timed)
    }

    #[test]
    fn of_short_calls_a_few_tell_the_time_of_all() {
        let (sum, timed) = run((0..100_000).map(|call| 150 + call * 37 % 100));
        assert_eq!((sum.calls, sum.bytes), (100_000, 800_000));
        assert!((100_000 / 10..100_000 / 6).contains(&timed), "{timed}");
        let all: u64 = (0..100_000).map(|call| 150 + call * 37 % 100).sum();
        assert!((sum.ticks as f64 / all as f64 - 1.0).abs() < 0.02, "{} of {all}", sum.ticks);
    }

    #[test]
    fn long_calls_are_all_timed() {
        assert_eq!(run((0..1000).map(|_| 50_000)), (MessageSum { calls: 1000, bytes: 8000, ticks: 50_000_000 }, 1000));
    }

    #[test]
    fn periods_and_rare_long_calls_are_told_as_they_are() {
        for period in [2, 5, 8, 16, 64] {
            let length = |call: u64| if call.is_multiple_of(period) { 9_000 } else { 200 };
            let (sum, _) = run((0..200_000).map(length));
            let all: u64 = (0..200_000).map(length).sum();
            assert!((sum.ticks as f64 / all as f64 - 1.0).abs() < 0.1, "period {period}: {} of {all}", sum.ticks);
        }
    }
    #[test]
    fn calls_that_may_wait_are_all_timed() {
        let length = |call: u64| if call == 1_500 { 2_000_000_000 } else { 200 };
        for call in [MessageCall::Recv, MessageCall::Send, MessageCall::Waitall, MessageCall::WinFence] {
            let (sum, timed) = run_of(call, (0..2_000).map(length));
            assert_eq!((sum.ticks, timed), (2_000_000_000 + 1_999 * 200, 2_000));
        }
    }

    #[test]
    fn one_long_call_stands_for_no_other_as_long() {
        for at in 1_000..1_100 {
            let (sum, _) = run((0..2_000).map(|call| if call == at { 300_000_000 } else { 200 }));
            let most = 300_000_000 + 2_100 * 200 + 15 * 20_000;
            assert!(sum.ticks <= most, "at {at}: {} above {most}", sum.ticks);
        }
    }

    #[test]
    fn what_is_known_anyway_leaves_the_others_as_they_are() {
        let counts = MessageCounts::default();
        for _ in 0..10_000 {
            counts.known(MessageCall::Test, 100);
            if counts.count(MessageCall::Test, 0) {
                counts.timed(MessageCall::Test, 100, Shortness::of(1.0));
            }
        }
        let sum = counts.sums()[MessageCall::Test as usize];
        assert_eq!(sum.calls, 20_000);
        assert!((2_000_000 - 1_500..=2_000_000).contains(&sum.ticks), "{}", sum.ticks);
        assert_eq!(counts.message_ticks(), sum.ticks);
    }
}
