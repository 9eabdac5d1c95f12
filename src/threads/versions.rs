//! Numbers that say that something has changed, so that whoever rests on it finds out by himself.

use super::sync::{AtomicU64, Ordering};

/// What calls rest on and any thread may change at any time. A call that finds the version as it was rests on nothing
/// that changed before; one that finds another sees all that was stored before the change was told.
#[derive(Debug)]
pub struct Versions {
    pub(super) version: AtomicU64,
    pub(super) resets: AtomicU64,
}

impl Default for Versions {
    fn default() -> Self {
        Self { version: AtomicU64::new(0), resets: AtomicU64::new(0) }
    }
}

impl Versions {
    /// Changes with everything told here.
    #[inline(always)]
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Number of resets. Read it after [`version`](Self::version): the resets of that version are among them.
    pub fn resets(&self) -> u64 {
        self.resets.load(Ordering::Relaxed)
    }

    /// Tells that what decisions or the way of calls rest on has changed; to be told after changing it.
    pub fn changed(&self) {
        self.version.fetch_add(1, Ordering::Release);
    }

    /// Tells that what was counted so far no longer counts.
    pub fn reset(&self) {
        self.resets.fetch_add(1, Ordering::Relaxed);
        self.changed();
    }
}

/// Changes whenever what threads remember of communicators by their handles may have come to mean something else.
#[derive(Debug)]
pub struct Generation(pub(super) AtomicU64);

impl Default for Generation {
    fn default() -> Self {
        Self(AtomicU64::new(1))
    }
}

impl Generation {
    /// The present one. A thread that got to know of a handle from the one that made it, as programs must see to, finds
    /// the generation changed if an earlier owner of that handle is gone.
    #[inline(always)]
    pub fn now(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    /// Begins another; before anything is taken away.
    pub fn next(&self) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }
}
