//! What a call has to heed besides its own work, all of it off in most runs: one look at a byte tells.
//!
//! * Somebody asked for a report (`SIGUSR2`): it is written before the next call, by the thread that makes it.
//! * Calls are watched (`COLLIE_WATCHDOG`): the thread says what it is in the middle of.
//! * Threads make collectives at the same time (`MPI_THREAD_MULTIPLE`): a report of this rank alone, which no rank has
//!   made ready for, keeps off communicators with a call under way.

use super::runtime::{self, Runtime};
use super::state::State;
use super::{partial, watch};
use crate::monitor::{Function, Watched};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// A report was asked for.
pub const ASKED: u8 = 1;
/// Calls are watched.
pub const WATCHED: u8 = 2;
/// Several threads may be in collectives.
pub const CONCURRENT: u8 = 4;

static ATTENTION: AtomicU8 = AtomicU8::new(0);

/// Sets one of the above. May be called by a signal handler.
pub fn heed(what: u8) {
    ATTENTION.fetch_or(what, Ordering::Relaxed);
}

/// Takes one of the above back; whether it was set.
pub fn forget(what: u8) -> bool {
    ATTENTION.fetch_and(!what, Ordering::Relaxed) & what != 0
}

/// Whether it is set.
#[inline]
pub fn heeds(what: u8) -> bool {
    ATTENTION.load(Ordering::Relaxed) & what != 0
}

/// Lasts as long as a call does.
pub struct Attention {
    watched: Option<Arc<Watched>>,
    _busy: Option<Busy>,
}

/// Keeps reports off a communicator for as long as a call on it lasts.
pub struct Busy(*const AtomicBool);

thread_local! {
    /// The communicator that this thread keeps reports off.
    static HELD: Cell<*const State> = const { Cell::new(std::ptr::null()) };
}

impl Busy {
    #[cold]
    fn of(state: &State) -> Self {
        // Held by a report that is being written, and only for as long as reading the numbers takes.
        while state.busy.swap(true, Ordering::Acquire) {
            std::thread::yield_now();
        }
        HELD.set(state);
        Self(&raw const state.busy)
    }
}

/// What a call that was jumped out of had no chance to take back.
#[cold]
pub fn jumped_out() {
    let held = HELD.replace(std::ptr::null());
    if let Some(runtime) = runtime::get().filter(|_| !held.is_null()) {
        let states = runtime.states.lock();
        if let Some(pointer) = states.iter().find(|pointer| std::ptr::eq(pointer.0, held)) {
            // SAFETY: pointers in the list are live while it is locked; this field may be used by any thread.
            unsafe { (*pointer.0).busy.store(false, Ordering::Release) };
        }
    }
    if heeds(WATCHED) {
        watch::of_this_thread().leave();
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        HELD.set(std::ptr::null());
        // SAFETY: of a communicator that lives at least as long as the call on it.
        unsafe { (*self.0).store(false, Ordering::Release) };
    }
}

/// Before a call on a communicator: heeds what there is to heed.
#[inline]
pub fn call(runtime: &Runtime, state: &mut State, function: Function, start: u64) -> Option<Attention> {
    if ATTENTION.load(Ordering::Relaxed) == 0 { None } else { Some(attend(runtime, state, function, start)) }
}

/// The same for a call that would go the short way; `None` if it has to go the long one.
#[inline(always)]
pub fn short_call(state: &State) -> Option<Option<Busy>> {
    match ATTENTION.load(Ordering::Relaxed) {
        0 => Some(None),
        CONCURRENT => Some(Some(Busy::of(state))),
        _ => None,
    }
}

#[cold]
fn attend(runtime: &Runtime, state: &mut State, function: Function, start: u64) -> Attention {
    if forget(ASKED) {
        partial::report(runtime, "at SIGUSR2");
    }
    let watched = heeds(WATCHED).then(|| watch::enter(state, function, start));
    Attention { watched, _busy: heeds(CONCURRENT).then(|| Busy::of(state)) }
}

impl Drop for Attention {
    fn drop(&mut self) {
        if let Some(watched) = &self.watched {
            watched.leave();
        }
    }
}
