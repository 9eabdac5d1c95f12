//! Communicators that are being made, and whether Collie may make one beside them.
//!
//! Open MPI makes one communicator at a time in each process: where several are begun, the one whose parent is older
//! goes first, and the others wait for it. Programs make calls on different communicators in different orders on their
//! ranks, which MPI allows: one rank may be duplicating a communicator that another will duplicate only after the
//! collective call in which Collie makes a communicator of its own. Each would wait for the other. So Collie makes one
//! only when none is being made on any rank, which the ranks ask each other; otherwise the call stays with the MPI
//! library, and a later one asks again.
//!
//! Threads may begin to make one between the question and its answer. Where there are several, the ranks ask twice:
//! when all have said that nothing is under way, each keeps its other threads from beginning anything, and says whether
//! it could. All ranks are in the call by then, so that nobody is kept for long.

use super::duplicating;
use super::origin;
use crate::mpi::communicator;
use crate::mpi::error::Result;
use crate::mpi::family;
use crate::process::flags::{self, CONCURRENT};
use crate::process::{guard, stack};
use mpi_sys::MPI_Comm;
use parking_lot::{Condvar, Mutex};

static MAKING: Making = Making::nothing();

/// What is being made in calls that return when it is made, by threads that may be in MPI at the same time.
struct Making {
    state: Mutex<State>,
    ended: Condvar,
}

struct State {
    /// Calls that make one for the program: the thread, and a place in its stack that belongs to the call. The thread may
    /// have left it by a jump, or be in a callback of it that makes another one.
    calls: Vec<(usize, usize)>,
    /// Whether one of them makes one of ours.
    ours: bool,
}

/// A call that makes one for the program, until this is dropped.
struct OfProgram {
    making: &'static Making,
    thread: usize,
    place: usize,
}

/// None is made for the program until this is dropped.
struct Reserved(&'static Making);

/// Leave to make one: all ranks have it.
pub struct Leave(#[expect(dead_code, reason = "held until the communicator is made")] Option<Reserved>);

/// Runs a call of this thread's that makes a communicator for the program. Waits while another thread makes one of ours.
#[inline]
pub fn by_program<T>(native: impl FnOnce() -> T) -> T {
    if !(family::MAKES_ONE_COMMUNICATOR_AT_A_TIME && flags::is_set(CONCURRENT)) {
        return native();
    }
    let mark = 0u64;
    let thread = guard::this_thread();
    let _made = MAKING.begin(thread, &raw const mark as usize, stack::is_running);
    native()
}

/// Asks all ranks of `comm` whether one may be made of it now. Collective over it, and alike on all ranks.
///
/// # Errors
/// What PMPI returned.
pub fn ask(comm: MPI_Comm) -> Result<Option<Leave>> {
    if !family::MAKES_ONE_COMMUNICATOR_AT_A_TIME {
        return Ok(Some(Leave(None)));
    }
    let thread = guard::this_thread();
    // What cannot be told is taken to be under way. Where a rank has no context id left, making one hangs.
    let free = origin::leaves_room() && !MAKING.is_beside(thread) && duplicating::are_complete().unwrap_or(false);
    let in_turns = !flags::is_set(CONCURRENT);
    let [free, in_turns] = communicator::least(comm, [u64::from(free), u64::from(in_turns)])?;
    if free == 0 {
        return Ok(None);
    }
    if in_turns == 1 {
        return Ok(Some(Leave(None)));
    }
    let reserved = MAKING.reserve(thread);
    Ok(communicator::all(comm, reserved.is_some())?.then_some(Leave(reserved)))
}

impl Drop for OfProgram {
    fn drop(&mut self) {
        let Self { making, thread, place } = *self;
        making.state.lock().calls.retain(|call| *call != (thread, place));
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.0.state.lock().ours = false;
        self.0.ended.notify_all();
    }
}

impl Making {
    const fn nothing() -> Self {
        Self { state: Mutex::new(State { calls: Vec::new(), ours: false }), ended: Condvar::new() }
    }

    fn begin(&'static self, thread: usize, place: usize, is_running: impl Fn(usize, usize) -> bool) -> OfProgram {
        let mut state = self.state.lock();
        // What it was in before it has left, but for calls whose callback this is.
        state.calls.retain(|(other, outer)| *other != thread || is_running(*outer, place));
        self.ended.wait_while(&mut state, |state| state.ours);
        state.calls.push((thread, place));
        OfProgram { making: self, thread, place }
    }

    /// Whether another thread than this one makes one. Where this one is in the middle of making one, it is in a
    /// callback of the program's, before the MPI library has begun to look for an id.
    fn is_beside(&self, thread: usize) -> bool {
        let state = self.state.lock();
        state.ours || state.calls.iter().any(|(other, _)| *other != thread)
    }

    fn reserve(&'static self, thread: usize) -> Option<Reserved> {
        let mut state = self.state.lock();
        if state.ours || state.calls.iter().any(|(other, _)| *other != thread) {
            return None;
        }
        state.ours = true;
        Some(Reserved(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_and_the_programs_keep_each_other_away() {
        static MAKING: Making = Making::nothing();
        let begin = |thread, place, runs| MAKING.begin(thread, place, move |_, _| runs);
        let left = begin(1, 16, false);
        assert!(MAKING.is_beside(2) && !MAKING.is_beside(1) && MAKING.reserve(2).is_none());
        // It has left that by a jump and makes another one, in a callback of which it makes a third.
        std::mem::forget(left);
        let outer = begin(1, 32, false);
        drop(begin(1, 8, true));
        assert!(MAKING.is_beside(2) && MAKING.reserve(2).is_none(), "the outer one is still being made");
        drop(outer);
        let reserved = MAKING.reserve(2).unwrap();
        assert!(MAKING.is_beside(1) && MAKING.reserve(3).is_none());
        std::thread::scope(|scope| {
            let other = scope.spawn(|| std::mem::forget(begin(3, 16, false)));
            std::thread::sleep(std::time::Duration::from_millis(20));
            assert!(!other.is_finished() && MAKING.state.lock().calls.is_empty());
            drop(reserved);
        });
        assert!(MAKING.reserve(2).is_none() && MAKING.reserve(3).is_some());
    }
}
