//! The fast path of a call that came before: nothing is asked, what was made ready for it runs.
//!
//! A call takes it when the thread remembers its communicator, its arguments but for the addresses are those of an
//! earlier call, and nothing but the table of counters wants to know of it. All else takes the
//! slow path in [`collective`](super::collective). Both play the same program with the same player.
//! The shortest way is that of a call that is among the [recent ones](super::recent_calls).

use super::arguments::Arguments;
use super::attachment::{Attached, Attachment};
use super::cached::{CachedCall, Calls, Short};
use super::device_memory;
use super::local_arguments::LocalArguments;
use super::made::Made;
use super::named_calls::{Found, NamedKey};
use super::plan::Policy;
use super::program::Prepared;
use super::recent_calls::{CarriedOut, Known};
use super::registry;
use crate::communicator::facts::Facts;
use crate::communicator::failures;
use crate::communicator::state::Communicator;
use crate::communicator::tally::Tally;
use crate::monitor::{CounterId, Function, Traffic};
use crate::mpi::error::SUCCESS;
use crate::operation::Operation;
use crate::process::floating_point::apart;
use crate::process::guard::Thread;
use crate::process::{flags, guard};
use crate::run::Counts;
use crate::threads::{Away, Held};
use std::os::raw::c_int;
use std::rc::Rc;

/// Runs a call on the fast path; `None` if it has to take the slow one.
///
/// What this adds to a call that is passed on is two readings of the clock, of some 6 ns on some machines and 17 ns on
/// others, and some 150 instructions: it is compiled into each entry, so that the arguments stay in registers.
#[inline(always)]
pub fn carry_out(arguments: &Arguments, native: impl Fn() -> c_int + Copy) -> Option<c_int> {
    let thread = guard::thread();
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
    let start = held.communicator.runtime.clock.raw();
    let Some(Known { counter, bytes, played, rest }) = held.calls.recent.find(arguments) else {
        // Copies: what others may look at has to lie in memory.
        let (arguments, native) = (*arguments, native);
        return kept(thread, (attachment, held), start, &arguments, &native);
    };
    if let Some((call, place)) = played {
        let (call, arguments) = (call.upgrade(), *arguments);
        return match call {
            Some(call) => {
                if !counted_beside_a_gpu(&held.communicator, &arguments, Some(&call.local)) {
                    return None;
                }
                if let Some(rest) = rest {
                    rest.count();
                }
                let call = (call, Short { place, measured: false });
                Some(played_again(thread, (attachment, held), start, &arguments, call, (counter, bytes)))
            }
            None => kept(thread, (attachment, held), start, &arguments, &native),
        };
    }
    if held.communicator.device.is_watched() && !counted_beside_a_gpu(&held.communicator, &{ *arguments }, None) {
        return None;
    }
    if let Some(rest) = rest {
        rest.count();
    }
    // Not by `passed_on`: inlined here, it adds 24 instructions to MPI_Allreduce and 50 to MPI_Alltoallv.
    begin(&mut held.communicator, arguments.operation, start);
    let mark = guard::Mark::new();
    let inside = thread.enter_to_pass_on(&mark);
    // SAFETY: held above, and nothing changes.
    let code = unsafe { attachment.away(thread.number(), Away::Whole, native) };
    end(thread, &mut held.communicator, start, (counter, bytes));
    drop(held);
    Some(inside.leave(code))
}

/// The same for a call that is not among the recent ones.
#[inline(never)]
fn kept(
    thread: &Thread,
    (attachment, mut held): (&Attachment, Held<Attached>),
    mut start: u64,
    arguments: &Arguments,
    native: &dyn Fn() -> c_int,
) -> Option<c_int> {
    let is_named = held.calls.has_made() && Made::is_named(arguments);
    let is_watched = device_memory::is_watched(&held.communicator, arguments.operation);
    // Beside a GPU a call that the library refuses counts as not made. Its name does not tell whether it will be.
    if is_named && !is_watched && !held.calls.named.is_empty() {
        let key = asking(thread, || NamedKey::ask(arguments, &held.communicator.facts));
        match key.and_then(|key| held.calls.named.find(&key)) {
            Some(Found { counted, played: None }) => {
                // Finding that out is no time of the MPI library's.
                start = held.communicator.runtime.clock.raw();
                let operation = arguments.operation;
                return Some(passed_on(thread, (attachment, held), start, operation, native, counted, |_, _| {}));
            }
            Some(Found { counted, played: Some(call) }) => {
                if let Some(call) = call.upgrade().filter(|call| call.local.fits(arguments)) {
                    call.prepared.iter().flatten().for_each(|prepared| prepared.set_operation(arguments.op));
                    let call = (call, Short { place: 0, measured: false });
                    return Some(played_again(thread, (attachment, held), start, arguments, call, counted));
                }
            }
            None => {}
        }
    }
    let made = if is_named { asking(thread, || Made::of(arguments, &held.communicator.facts)) } else { None };
    let Attached { calls, communicator, .. } = &mut *held;
    let known = match &made {
        None => calls.find(arguments),
        Some(made) => calls.find_made(arguments, made),
    };
    let known = known.filter(|known| known.local.fits(arguments))?;
    let looked_at = known.plan.candidates().iter().any(|candidate| candidate.choice.is_some()).then_some(&known.local);
    if is_watched && !device_memory::passes(communicator, arguments, looked_at) {
        return None;
    }
    let short = known.take_short()?;
    if is_watched {
        communicator.device.count();
    }
    let (known, Short { place, measured }) = (Rc::clone(known), short);
    let counted = (known.plan.candidates()[place].counter, known.local.bytes() as u64);
    let is_played = known.prepared[place].is_some();
    if let Some(made) = &made {
        add_named((calls, &communicator.facts), arguments, made, &known, (short, is_played), counted);
        if !is_played && !measured {
            // Finding out what it was made of is none either.
            start = communicator.runtime.clock.raw();
        }
    } else if !measured {
        let rest = known.plan.learner().map(|learner| learner.rest());
        let carried_out = CarriedOut { counter: counted.0, played: is_played.then_some(&known), place, rest };
        calls.recent.add(arguments, &known.local, carried_out);
    }
    if is_played {
        return Some(played_again(thread, (attachment, held), start, arguments, (known, short), counted));
    }
    let learn = |communicator: &Communicator, ticks| {
        if measured {
            apart(|| known.learn(place, communicator.runtime.nanoseconds(ticks)));
        }
        drop(known);
    };
    Some(passed_on(thread, (attachment, held), start, arguments.operation, native, counted, learn))
}

/// Gives the kept call the handles of this one, and adds it to the named calls where its name tells all about it.
#[inline(always)]
fn add_named(
    (calls, facts): (&mut Calls, &Facts),
    arguments: &Arguments,
    made: &Made,
    known: &Rc<CachedCall>,
    (Short { place, measured }, is_played): (Short, bool),
    counted: (CounterId, u64),
) {
    // Recent calls are known by their handles.
    known.prepared.iter().flatten().for_each(|prepared| prepared.set_handles(made));
    let is_fixed = known.plan.policy() == Policy::Fixed && !measured;
    let tells_all = !is_played || place == 0 && arguments.operation.row().folds && made.are_all_predefined();
    if is_fixed
        && tells_all
        && let Some(key) = NamedKey::known(arguments, facts, made)
    {
        calls.named.add(key, counted, is_played.then_some(known));
    }
}

/// Counts a call on a communicator where a GPU is used; whether it may be carried out as one like it was. `local` is what
/// counts of its buffers, if an algorithm of ours does.
#[inline]
fn counted_beside_a_gpu(communicator: &Communicator, arguments: &Arguments, local: Option<&LocalArguments>) -> bool {
    if !device_memory::is_watched(communicator, arguments.operation) {
        return true;
    }
    let passes = device_memory::passes(communicator, arguments, local);
    if passes {
        communicator.device.count();
    }
    passes
}

/// Runs what asks the MPI library about arguments: it may call an error handler of the program's, which may make calls.
fn asking<R>(thread: &Thread, ask: impl FnOnce() -> R) -> R {
    let mark = guard::Mark::new();
    let inside = thread.enter(&mark);
    let answer = ask();
    inside.leave(SUCCESS);
    answer
}

/// Passes on a call that is not among the recent ones; `learn` gets what it took, before the state is let go.
#[inline(always)]
fn passed_on(
    thread: &Thread,
    (attachment, mut held): (&Attachment, Held<Attached>),
    start: u64,
    operation: Operation,
    native: &dyn Fn() -> c_int,
    counted: (CounterId, u64),
    learn: impl FnOnce(&Communicator, u64),
) -> c_int {
    begin(&mut held.communicator, operation, start);
    let mark = guard::Mark::new();
    let inside = thread.enter_to_pass_on(&mark);
    // SAFETY: held by the caller, and nothing changes.
    let code = unsafe { attachment.away(thread.number(), Away::Whole, native) };
    let ticks = end(thread, &mut held.communicator, start, counted);
    learn(&held.communicator, ticks);
    drop(held);
    inside.leave(code)
}

/// Plays a call once more, as the candidate of that place, which was made ready.
#[inline(never)]
fn played_again(
    thread: &Thread,
    (attachment, mut held): (&Attachment, Held<Attached>),
    start: u64,
    arguments: &Arguments,
    (call, Short { place, measured }): (Rc<CachedCall>, Short),
    counted: (CounterId, u64),
) -> c_int {
    let communicator = &mut held.communicator;
    begin(communicator, arguments.operation, start);
    let mark = guard::Mark::new();
    let inside = thread.enter(&mark);
    let prepared = call.prepared[place].as_ref().expect("a candidate of ours was made ready");
    let code = thread.play(arguments.operation, || {
        let Tally { traffic, played, .. } = &mut communicator.tally;
        let (traffic, played) = (traffic.get_mut(), played.get_mut());
        // SAFETY: held by the caller. What changes meanwhile is what that names, and of all else only what was made
        // ready is read, which the caller keeps; references into the state are made anew afterwards.
        unsafe { attachment.away(thread.number(), Away::Mostly, || play(prepared, arguments, traffic, played)) }
    });
    let ticks = end(thread, &mut held.communicator, start, counted);
    if measured {
        apart(|| call.learn(place, held.communicator.runtime.nanoseconds(ticks)));
    }
    // What counts who keeps it belongs to the state, and so to whoever holds that.
    drop(call);
    drop(held);
    inside.leave(code)
}

/// Makes note of the call that begins.
#[inline(always)]
fn begin(communicator: &mut Communicator, operation: Operation, start: u64) {
    let function = Function::from(operation);
    (communicator.last_call, communicator.last_function) = (start, Some(function));
}

/// Counts the call; gives what it took.
#[inline(always)]
fn end(thread: &Thread, communicator: &mut Communicator, start: u64, (counter, bytes): (CounterId, u64)) -> u64 {
    let ticks = communicator.runtime.clock.raw().saturating_sub(start);
    communicator.tally.table.record(counter, bytes, ticks);
    thread.count(1, ticks);
    ticks
}

/// Plays a kept program; gives the code to return to the program.
#[inline]
fn play(prepared: &Prepared, arguments: &Arguments, traffic: &mut Traffic, played: &mut Counts) -> c_int {
    let (send, receive) = (arguments.send.address.cast_mut().cast(), arguments.receive.address.cast_mut().cast());
    match prepared.play_kept(send, receive, traffic, played) {
        Ok(()) => SUCCESS,
        Err(error) => {
            let error = failures::noticed(arguments.comm, error);
            guard::raise(arguments.comm, error, arguments.operation.row().mpi_name)
        }
    }
}
