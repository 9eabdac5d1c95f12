//! Flags that ask something of a call besides its own work, all of them off in most runs and in one byte.
//!
//! * Somebody asked for a report (`SIGUSR2`): it is written before the next call, by the thread that makes it.
//! * A checkpoint is due (`COLLIE_CHECKPOINT`): this rank's record is taken before the next call.
//! * Calls are watched (`COLLIE_WATCHDOG`): the thread says what it is in the middle of.
//! * Threads make collectives at the same time (`MPI_THREAD_MULTIPLE`, or a session, which may have asked for it):
//!   holding a communicator takes more than where they come in turns.

use crate::threads::{Flags, Threads};

/// A report was asked for.
pub const ASKED: u8 = 1;
/// Calls are watched.
pub const WATCHED: u8 = 2;
/// Several threads may be in collectives.
pub const CONCURRENT: u8 = 4;
/// A checkpoint is due.
pub const DUE: u8 = 8;

// What each call looks at lies together, in few lines of the cache.
#[unsafe(link_section = "collie_looked_at")]
static FLAGS: Flags = Flags::new();

/// Sets one of the above. May be called by a signal handler.
pub fn set(what: u8) {
    FLAGS.set(what);
}

/// Takes one of the above back; whether it was set.
pub fn take(what: u8) -> bool {
    FLAGS.take(what)
}

/// Whether it is set.
#[inline]
pub fn is_set(what: u8) -> bool {
    FLAGS.all() & what != 0
}

/// How the program's threads come to MPI; the same from `MPI_Init` on, unless a session begins later.
#[inline]
pub fn threads() -> Threads {
    if is_set(CONCURRENT) { Threads::AtOnce } else { Threads::InTurns }
}

/// The same for a call on the fast path; `None` if a flag sends it to the slow one.
#[inline(always)]
pub fn short_call() -> Option<Threads> {
    match FLAGS.all() {
        0 => Some(Threads::InTurns),
        CONCURRENT => Some(Threads::AtOnce),
        _ => None,
    }
}
