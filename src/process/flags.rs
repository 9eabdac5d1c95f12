//! Flags that ask something of a call besides its own work, all of them off in most runs and in one byte.
//!
//! * Somebody asked for a report (`SIGUSR2`): it is written before the next call, by the thread that makes it.
//! * Calls are watched (`COLLIE_WATCHDOG`): the thread says what it is in the middle of.
//! * Threads make collectives at the same time (`MPI_THREAD_MULTIPLE`): holding a communicator takes more than where they
//!   come in turns.
//!
//! And how a call holds its communicator, by the rules of [`threads`](crate::threads).

use super::runtime::Runtime;
use crate::communicator::state::{Communicator, Shared, Visit};
use crate::monitor::{Form, Function, Watched};
use crate::service::partial::{self, OnStderr};
use crate::service::watch;
use crate::threads::{Flags, Held, Threads};
use std::sync::Arc;

/// A report was asked for.
pub const ASKED: u8 = 1;
/// Calls are watched.
pub const WATCHED: u8 = 2;
/// Several threads may be in collectives.
pub const CONCURRENT: u8 = 4;

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

/// What a call that was jumped out of had no chance to take back: the state that it holds is its own thread's to hold again.
#[cold]
pub fn jumped_out() {
    if is_set(WATCHED) {
        watch::of_this_thread().leave();
    }
}

/// How the program's threads come to MPI; the same from `MPI_Init` on.
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

/// Says for as long as it lasts that a call is watched.
pub struct Watching(Arc<Watched>);

impl Drop for Watching {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// A call on a communicator, or a start of one, begins: does what the flags ask and holds the communicator's state.
///
/// # Safety
/// The communicator is alive, and this thread is not in a call already.
#[inline]
pub unsafe fn call<'a>(
    runtime: &Runtime,
    shared: &'a Shared,
    function: Function,
    start: u64,
) -> (Held<'a, Communicator>, Option<Watching>) {
    // Before anything is held: the report looks at this communicator too.
    if is_set(ASKED) && take(ASKED) {
        partial::report(runtime, "at SIGUSR2", Visit::BetweenCalls, OnStderr::EachRank);
    }
    // SAFETY: the caller's promise.
    let mut state = unsafe { shared.hold() };
    state.last_call = start;
    // Starting something does not wait for anybody.
    let watched = is_set(WATCHED) && function.form == Form::Blocking;
    let watching = watched.then(|| Watching(watch::enter(&mut state, function, start)));
    (state, watching)
}
