//! How much memory one rank's records may still take.

use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that are left, for all communicators of a rank together. Of those that are gone the records stay until the
/// report is written, which take less than the counters did; that is given back, and so is what caches held.
#[derive(Debug)]
pub struct Budget {
    left: AtomicU64,
}

impl Default for Budget {
    /// Without a bound.
    fn default() -> Self {
        Self::of(u64::MAX)
    }
}

impl Budget {
    /// Of that many bytes.
    pub const fn of(bytes: u64) -> Self {
        Self { left: AtomicU64::new(bytes) }
    }

    /// Takes `bytes`, if as many are left.
    pub fn take(&self, bytes: u64) -> bool {
        let less = |left: u64| left.checked_sub(bytes);
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }

    /// Takes `bytes`, or what is left, for what has to be kept in any case. Gives what it took.
    pub fn charge(&self, bytes: u64) -> u64 {
        let less = |left: u64| Some(left.saturating_sub(bytes));
        let left = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).unwrap_or(0);
        left.min(bytes)
    }

    /// Gives back `bytes` that were taken.
    pub fn give(&self, bytes: u64) {
        self.left.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Whether `bytes` are left.
    pub fn has(&self, bytes: u64) -> bool {
        self.left.load(Ordering::Relaxed) >= bytes
    }
}
