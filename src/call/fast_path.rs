//! The fast path of a call that came before: nothing is asked, what was made ready for it runs.
//!
//! A call takes it when the thread remembers its communicator, its arguments but for the addresses are those of an
//! earlier call, and nothing but the table of counters wants to know of it. All else takes the
//! slow path in [`collective`](super::collective). Both play the same program with the same player.

use super::arguments::Arguments;
use super::attachment::Attached;
use super::program::Prepared;
use super::registry;
use crate::communicator::state::Communicator;
use crate::monitor::Traffic;
use crate::process::{flags, guard};
use crate::run::Counts;
use std::os::raw::c_int;

/// Runs a call on the fast path; `None` if it has to take the slow one.
///
/// Of what this adds to a call that is passed on, the two readings of the clock take 35 ns. Reading the counter in place rather than
/// through quanta gained nothing; one static in place of the thread's own data, where MPI lets one thread call at a time,
/// gained 1 ns.
#[inline(always)]
pub fn carry_out(arguments: &Arguments, native: &impl Fn() -> c_int) -> Option<c_int> {
    guard::THREAD.with(|thread| {
        let attachment = registry::recent(thread, arguments.comm)?;
        if thread.is_inside() {
            return None;
        }
        let threads = flags::short_call()?;
        // SAFETY: the communicator is alive while a call on it is, and this thread is in no other.
        let mut held = unsafe { (*attachment).hold_as_is(thread.number(), threads) };
        if !held.is_up_to_date() {
            return None;
        }
        let Attached { communicator: Communicator { runtime, tally, last_call, .. }, calls, .. } = &mut *held;
        let clock = &runtime.clock;
        let start = clock.raw();
        let known = calls.find(arguments)?;
        let place = known.short_place()?;
        if !known.local.fits(arguments) {
            return None;
        }
        known.count_short();
        *last_call = start;
        let mark = guard::Mark::new();
        let inside = thread.enter(&mark);
        let code = match &known.prepared[place] {
            Some(prepared) => thread.play(arguments.operation, || {
                play(prepared, arguments, tally.traffic.get_mut(), tally.played.get_mut())
            }),
            None => native(),
        };
        let ticks = clock.raw().saturating_sub(start);
        tally.table.record(known.plan.candidates()[place].counter, known.local.bytes() as u64, ticks);
        thread.count(1, ticks);
        drop(held);
        Some(inside.leave(code))
    })
}

/// Plays a kept program; gives the code to return to the program.
#[inline]
fn play(prepared: &Prepared, arguments: &Arguments, traffic: &mut Traffic, played: &mut Counts) -> c_int {
    let (send, receive) = (arguments.send.address.cast_mut().cast(), arguments.receive.address.cast_mut().cast());
    match prepared.play_kept(send, receive, traffic, played) {
        Ok(()) => mpi_sys::MPI_SUCCESS as c_int,
        Err(error) => guard::raise(arguments.comm, error),
    }
}
