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
use crate::monitor::{Function, Traffic};
use crate::process::{flags, guard};
use crate::run::Counts;
use crate::threads::Away;
use std::os::raw::c_int;

/// Runs a call on the fast path; `None` if it has to take the slow one.
///
/// Of what this adds to a call that is passed on, the two readings of the clock take 35 ns. Reading the counter in place rather than
/// through quanta gained nothing; one static in place of the thread's own data, where MPI lets one thread call at a time,
/// gained 1 ns.
#[inline(always)]
pub fn carry_out(arguments: &Arguments, native: &impl Fn() -> c_int) -> Option<c_int> {
    guard::THREAD.with(|thread| {
        // SAFETY: the communicator is alive while a call on it is.
        let attachment = unsafe { &*registry::recent(thread, arguments.comm)? };
        if thread.is_inside() {
            return None;
        }
        let threads = flags::short_call()?;
        // SAFETY: this thread is in no other call.
        let mut held = unsafe { attachment.hold_as_is(thread.number(), threads) };
        if !held.is_up_to_date() {
            return None;
        }
        let Attached { communicator: Communicator { runtime, tally, last_call, last_function, .. }, calls, .. } =
            &mut *held;
        let clock = &runtime.clock;
        let start = clock.raw();
        let known = calls.find(arguments)?;
        let place = known.short_place()?;
        if !known.local.fits(arguments) {
            return None;
        }
        known.count_short();
        (*last_call, *last_function) = (start, Some(Function::from(arguments.operation)));
        let (counter, bytes) = (known.plan.candidates()[place].counter, known.local.bytes() as u64);
        let mark = guard::Mark::new();
        let inside = thread.enter(&mark);
        let code = match &known.prepared[place] {
            Some(prepared) => thread.play(arguments.operation, || {
                let (traffic, played) = (tally.traffic.get_mut(), tally.played.get_mut());
                // SAFETY: held above. What changes meanwhile is what that names, and of all else only what was made ready is
                // read; references into the state are made anew afterwards.
                unsafe { attachment.away(thread.number(), Away::Mostly, || play(prepared, arguments, traffic, played)) }
            }),
            // SAFETY: as above, and nothing changes.
            None => unsafe { attachment.away(thread.number(), Away::Whole, native) },
        };
        let ticks = clock.raw().saturating_sub(start);
        held.communicator.tally.table.record(counter, bytes, ticks);
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
