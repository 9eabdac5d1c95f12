//! Calls made ready, to be kept for the next ones like them.

use super::arguments::Arguments;
use super::attachment::Attached;
use super::cached::{CachedCall, Ready};
use super::hooks;
use super::local_arguments::{Lasts, LocalArguments};
use super::made::Made;
use super::plan::{Candidate, Plan, Policy};
use super::program::{self, Prepared, seat_and_call};
use crate::operation::Operation;
use crate::process::runtime::Runtime;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Whether no rank has anything to send.
pub fn is_empty(operation: Operation, local: &LocalArguments) -> bool {
    local.bytes() == 0 && operation.has_data() && !operation.has_own_counts()
}

/// A call with everybody in its plan made ready; with nobody where only some of them come to run.
pub fn call(attached: &mut Attached, operation: Operation, local: LocalArguments, plan: Plan) -> CachedCall {
    if plan.policy() == Policy::Learn {
        let prepared = plan.candidates().iter().map(|_| None).collect();
        return CachedCall { local, plan, prepared, ready: 0, short: 0 };
    }
    let candidates = plan.candidates().iter();
    let prepared: Ready = candidates.map(|candidate| prepare(attached, operation, &local, candidate)).collect();
    let short = plan.policy() == Policy::Fixed && may_be_short(attached) && is_short(&plan, &prepared, 0);
    CachedCall { local, plan, prepared, ready: u8::MAX, short: short.into() }
}

/// Makes one candidate of the plan ready.
pub fn make_ready(attached: &mut Attached, operation: Operation, call: &mut CachedCall, place: usize) {
    call.prepared[place] = prepare(attached, operation, &call.local, &call.plan.candidates()[place]);
    call.ready |= 1 << place;
    let short = may_be_short(attached) && is_short(&call.plan, &call.prepared, place);
    call.short |= u8::from(short) << place;
}

/// Keeps a call for the next one like it, if it holds for that.
pub fn keep(attached: &mut Attached, arguments: &Arguments, call: &Rc<CachedCall>) {
    match call.local.lasts() {
        Lasts::Once => {}
        Lasts::WhileAlike => attached.calls.keep(arguments, Rc::clone(call)),
        // Found by the fast path alone.
        Lasts::WhileMadeAlike if call.short == 0 => {}
        Lasts::WhileMadeAlike => {
            if let Some(made) = Made::of(arguments, &attached.communicator.facts) {
                attached.calls.keep_made(arguments, &made, Rc::clone(call));
            }
        }
    }
}

/// Whether calls need nothing but to be carried out and counted, and where GPUs are used, to be
/// [looked at](super::device_memory::passes).
fn may_be_short(attached: &mut Attached) -> bool {
    if attached.communicator.asks_for_device_memory() {
        attached.communicator.device.watch();
    }
    only_counts(attached.communicator.runtime)
}

/// Whether calls need nothing but to be carried out and counted. Whatever else wants to see single calls says so here:
/// calls that were seen before go past it otherwise.
fn only_counts(runtime: &Runtime) -> bool {
    runtime.recording.load(Ordering::Relaxed)
        && hooks::log().is_none()
        && hooks::waiting().is_none()
        && hooks::sites().is_none()
        && !log::log_enabled!(log::Level::Trace)
}

/// Whether nothing stands between a call and the native library, or a program that is kept.
fn is_short(plan: &Plan, prepared: &Ready, place: usize) -> bool {
    match (&plan.candidates()[place].choice, &prepared[place]) {
        (None, _) => true,
        (Some(_), Some(prepared)) => prepared.is_kept(),
        (Some(_), None) => false,
    }
}

/// Makes a candidate ready; nothing where there is nothing to make ready: it is the native library, or has nothing to
/// send.
fn prepare(
    attached: &mut Attached,
    operation: Operation,
    local: &LocalArguments,
    candidate: &Candidate,
) -> Option<Prepared> {
    let choice = candidate.choice.as_ref()?;
    if is_empty(operation, local) {
        return None;
    }
    let (seat, call) = seat_and_call(&attached.communicator, operation, local);
    let form = program::form(&attached.communicator, &seat, choice, &call, local);
    let lower = || program::lowered(&seat, &call, choice, &form);
    let lowered = match &local.own {
        None => attached.calls.program(program::Key::of(&call, &form), choice, lower),
        // No other call has the same blocks, as a rule.
        Some(_) => lower().map(Arc::new),
    };
    Some(Prepared::new(seat, (choice, &call), local, form, lowered))
}
