//! What the caches of a process hold together, and what became of their entries.

use super::Budget;
use std::sync::atomic::{AtomicU64, Ordering};

/// What the caches of a process share: the memory that is left for them, and what became of their entries.
#[derive(Debug)]
pub struct CacheAccount {
    budget: Budget,
    bound: u64,
    pub(super) entries: AtomicU64,
    bytes: AtomicU64,
    most_bytes: AtomicU64,
    pub(super) evicted: AtomicU64,
    pub(super) refused: AtomicU64,
}

/// An account as it stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheUsage {
    /// Entries held.
    pub entries: u64,
    /// Bytes held, tables included.
    pub bytes: u64,
    /// Most bytes held at any time.
    pub most_bytes: u64,
    /// Bytes that may be held.
    pub bound: u64,
    /// Entries that had to go for others.
    pub evicted: u64,
    /// Entries that there was no room for even so.
    pub refused: u64,
}

impl CacheAccount {
    /// With room for `bytes`.
    pub const fn of(bytes: u64) -> Self {
        const fn zero() -> AtomicU64 {
            AtomicU64::new(0)
        }
        Self {
            budget: Budget::of(bytes),
            bound: bytes,
            entries: zero(),
            bytes: zero(),
            most_bytes: zero(),
            evicted: zero(),
            refused: zero(),
        }
    }

    /// How it stands. The numbers are read one by one while other threads may change them.
    pub fn usage(&self) -> CacheUsage {
        let read = |number: &AtomicU64| number.load(Ordering::Relaxed);
        CacheUsage {
            entries: read(&self.entries),
            bytes: read(&self.bytes),
            most_bytes: read(&self.most_bytes),
            bound: self.bound,
            evicted: read(&self.evicted),
            refused: read(&self.refused),
        }
    }

    /// Forgets what was counted; what is held stays.
    pub fn reset(&self) {
        self.evicted.store(0, Ordering::Relaxed);
        self.refused.store(0, Ordering::Relaxed);
        self.most_bytes.store(self.bytes.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Bytes that may be held.
    pub(super) const fn bound(&self) -> u64 {
        self.bound
    }

    /// Takes so many bytes, if they are left.
    pub(super) fn take(&self, bytes: u64) -> bool {
        let taken = self.budget.take(bytes);
        if taken {
            let held = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
            self.most_bytes.fetch_max(held, Ordering::Relaxed);
        }
        taken
    }

    /// Gives them back.
    pub(super) fn give(&self, bytes: u64) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.budget.give(bytes);
    }
}
