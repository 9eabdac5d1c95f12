//! What a rank remembers of buffers in memory of GPUs, and when the ranks tell each other.

use std::cell::Cell;

/// Calls between two in which the ranks tell each other, once there have been so many: an exchange takes about as long
/// as a short call.
const APART: u64 = 64;

/// The calls that Collie carries out on a communicator where some rank uses a GPU, and whether this rank had a buffer in
/// memory of one.
#[derive(Debug, Default)]
pub struct DeviceCalls {
    calls: u64,
    found: Cell<bool>,
}

impl DeviceCalls {
    /// Counts a call; whether the ranks are to tell each other before it what they had so far. The first time at once
    /// and soon again, since a program that passes such buffers does so from the start, as a rule. All ranks see it
    /// alike, as they make the same calls.
    pub const fn is_due(&mut self) -> bool {
        let number = self.calls;
        self.calls += 1;
        number.is_multiple_of(APART) || number < APART && number.is_power_of_two()
    }

    /// This rank had such a buffer.
    pub fn find(&self) {
        self.found.set(true);
    }

    /// Whether this rank had one.
    pub fn has_found(&self) -> bool {
        self.found.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ranks_tell_each_other_soon_and_then_now_and_again() {
        let mut calls = DeviceCalls::default();
        let due: Vec<_> = (0..200).filter(|_| calls.is_due()).collect();
        assert_eq!(due, [0, 1, 2, 4, 8, 16, 32, 64, 128, 192]);
    }
}
