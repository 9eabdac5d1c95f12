//! What a rank remembers of buffers in memory of GPUs, and when the ranks tell each other.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

/// Calls between two in which the ranks tell each other, once there have been so many: an exchange takes about as long
/// as a short call.
const APART: u64 = 64;

/// The calls on a communicator where some rank uses a GPU, and whether this rank had a buffer in
/// memory of one.
#[derive(Debug, Default)]
pub struct DeviceCalls {
    watched: bool,
    calls: Cell<u64>,
    /// Whether the ranks have told each other before the call that comes next, or is under way.
    have_told: Cell<bool>,
    /// Set in the middle of a call, when others may look at the communicator.
    found: AtomicBool,
}

impl DeviceCalls {
    /// From now on calls that came before are looked at, too.
    pub const fn watch(&mut self) {
        self.watched = true;
    }

    /// Whether they are.
    #[inline(always)]
    pub const fn is_watched(&self) -> bool {
        self.watched
    }

    /// Whether the ranks are to tell each other before the next call what they had so far. The first time at once and
    /// soon again, since a program that passes such buffers does so from the start, as a rule. All ranks see it alike,
    /// as they make the same calls.
    pub const fn is_due(&self) -> bool {
        let number = self.calls.get();
        number.is_multiple_of(APART) || number < APART && number.is_power_of_two()
    }

    /// Whether they have told each other before this call already: this rank made one in its place that was refused.
    pub const fn have_told(&self) -> bool {
        self.have_told.get()
    }

    /// They tell each other now.
    pub fn tell(&self) {
        self.have_told.set(true);
    }

    /// Counts a call.
    pub fn count(&self) {
        self.calls.set(self.calls.get() + 1);
        self.have_told.set(false);
    }

    /// Takes the last one back, which was refused: the ranks have told each other, or had no need to, before the one in
    /// its place.
    pub fn take_back(&self) {
        self.calls.set(self.calls.get().saturating_sub(1));
        self.have_told.set(true);
    }

    /// This rank had such a buffer.
    pub fn find(&self) {
        self.found.store(true, Ordering::Relaxed);
    }

    /// Whether this rank had one.
    pub fn has_found(&self) -> bool {
        self.found.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ranks_tell_each_other_soon_and_then_now_and_again() {
        let calls = DeviceCalls::default();
        let is_due = |_: &u32| {
            let is_due = calls.is_due();
            calls.count();
            is_due
        };
        let due: Vec<_> = (0..200).filter(is_due).collect();
        assert_eq!(due, [0, 1, 2, 4, 8, 16, 32, 64, 128, 192]);
    }
}
