//! A byte of things to look out for.

use super::sync::{AtomicU8, Ordering};

/// Bits that any thread and any signal handler may set. They carry nothing but themselves: who acts on one reads what
/// it needs from elsewhere.
#[derive(Debug)]
pub struct Flags(pub(super) AtomicU8);

impl Default for Flags {
    fn default() -> Self {
        Self(AtomicU8::new(0))
    }
}

impl Flags {
    /// All of them.
    #[inline(always)]
    pub fn all(&self) -> u8 {
        self.0.load(Ordering::Relaxed)
    }

    /// Sets some. May be called by a signal handler.
    pub fn set(&self, which: u8) {
        self.0.fetch_or(which, Ordering::Relaxed);
    }

    /// Takes some back; whether one of them was set. Of several threads that ask, one is told so.
    pub fn take(&self, which: u8) -> bool {
        self.0.fetch_and(!which, Ordering::Relaxed) & which != 0
    }
}
