//! Calls whose ranks learn who carries them out fastest: whose turn it is, and that one made ready.

use super::arguments::Arguments;
use super::attachment::Attached;
use super::cached::CachedCall;
use super::learner::{Learner, Turn};
use super::ready;
use crate::monitor::NATIVE;
use crate::mpi::error::Result;
use crate::process::runtime::Runtime;
use std::rc::Rc;

/// What decides about calls that are not the default's.
pub const LEARNED: &str = "learn";

/// A call with who carries it out.
pub struct InTurn {
    /// The call, in which that one is ready.
    pub call: Rc<CachedCall>,
    /// Who it is.
    pub turn: Turn,
    /// Ticks that making it ready took; 0 where it was.
    making_ready: u64,
    learner: Rc<Learner>,
}

/// Takes the next turn. The ranks may first compare what they measured: collective over the communicator.
///
/// # Errors
/// What PMPI returned.
pub fn take(runtime: &Runtime, attached: &mut Attached, arguments: &Arguments, call: Rc<CachedCall>) -> Result<InTurn> {
    let learner = Rc::clone(call.plan.learner().expect("the plan of a call that is learned of"));
    let turn = learner.turn(runtime, &mut attached.communicator)?;
    if call.ready >> turn.place & 1 != 0 {
        return Ok(InTurn { call, turn, making_ready: 0, learner });
    }
    let start = runtime.clock.raw();
    let call = with_ready(attached, arguments, call, turn.place);
    let making_ready = runtime.clock.raw().saturating_sub(start).max(1);
    Ok(InTurn { call, turn, making_ready, learner })
}

impl InTurn {
    /// The call took `ticks`, without what was done before it.
    pub fn took(&self, runtime: &Runtime, ticks: u64) {
        if self.turn.measured {
            let ns = runtime.nanoseconds(ticks);
            // Not 0: the first call is a slow one, however short that was by this clock.
            let ready_ns = if self.making_ready > 0 { runtime.nanoseconds(self.making_ready).max(1) } else { 0 };
            self.learner.measured(self.turn.place, ns, ready_ns, self.call.local.bytes());
        }
    }
}

/// The same call with one more candidate ready, kept in its place.
fn with_ready(attached: &mut Attached, arguments: &Arguments, call: Rc<CachedCall>, place: usize) -> Rc<CachedCall> {
    attached.calls.forget(arguments);
    // One that was jumped out of is held for good.
    let anew =
        |shared: Rc<CachedCall>| ready::call(attached, arguments.operation, shared.local.clone(), shared.plan.clone());
    let mut call = Rc::try_unwrap(call).unwrap_or_else(anew);
    if place > 0 {
        let choice = &call.plan.candidates()[place].choice;
        let name = choice.as_ref().map_or_else(|| NATIVE.to_owned(), ToString::to_string);
        let bytes = call.local.bytes();
        let counter = attached.communicator.tally.counter(arguments.operation, bytes, &name, LEARNED);
        call.plan.count_in(place, counter);
    }
    ready::make_ready(attached, arguments.operation, &mut call, place);
    let call = Rc::new(call);
    ready::keep(attached, arguments, &call);
    call
}
