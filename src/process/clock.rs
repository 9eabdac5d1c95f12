//! The clock that times calls: the processor's counter wherever [`quanta`] reads that, read in place.
//!
//! A call that is passed on reads it twice, and the crate's own way to it, a function call and a choice between clocks,
//! is a tenth of what else such a call adds.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether ticks are those of [`counter`]: beside what else each call looks at, rather than where the clock is.
#[unsafe(link_section = "collie_looked_at")]
static IS_COUNTER: AtomicBool = AtomicBool::new(false);

/// The clock; its ticks are of unknown length.
#[derive(Debug)]
pub struct Clock {
    clock: quanta::Clock,
}

impl Clock {
    /// The best of this machine.
    pub fn new() -> Self {
        let clock = quanta::Clock::new();
        // No other clock shows what the counter does, let alone several times.
        let is_between = |_| {
            let before = counter();
            let ticks = clock.raw();
            before.zip(counter()).is_some_and(|(before, after)| (before..=after).contains(&ticks))
        };
        // Of one machine all clocks find out the same.
        IS_COUNTER.store((0..3).all(is_between), Ordering::Relaxed);
        Self { clock }
    }

    /// The ticks so far.
    #[inline(always)]
    pub fn raw(&self) -> u64 {
        match IS_COUNTER.load(Ordering::Relaxed).then(counter).flatten() {
            Some(ticks) => ticks,
            None => self.clock.raw(),
        }
    }

    /// Nanoseconds between two readings.
    pub fn delta_as_nanos(&self, start: u64, end: u64) -> u64 {
        self.clock.delta_as_nanos(start, end)
    }
}

/// The processor's counter, where Rust can read it.
#[inline(always)]
fn counter() -> Option<u64> {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every processor of this architecture has the instruction.
    return Some(unsafe { std::arch::x86_64::_rdtsc() });
    #[cfg(not(target_arch = "x86_64"))]
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn ticks_are_those_that_lengths_are_told_of() {
        let clock = Clock::new();
        let (outer, start, inner) = (Instant::now(), clock.raw(), Instant::now());
        while inner.elapsed().as_millis() < 20 {}
        let (nanoseconds, most) = (clock.delta_as_nanos(start, clock.raw()) as f64, outer.elapsed().as_nanos() as f64);
        assert!(nanoseconds >= 0.0198e9 && nanoseconds <= most * 1.01, "{nanoseconds} ns in {most} ns");
    }
}
