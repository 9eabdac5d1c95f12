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
    /// Whether it had to be made ready first.
    pub first: bool,
    learner: Rc<Learner>,
}

/// Takes the next turn. The ranks may first compare what they measured: collective over the communicator.
///
/// # Errors
/// What PMPI returned.
pub fn take(runtime: &Runtime, attached: &mut Attached, arguments: &Arguments, call: Rc<CachedCall>) -> Result<InTurn> {
    let learner = Rc::clone(call.plan.learner().expect("the plan of a call that is learned of"));
    let turn = learner.turn(runtime, &mut attached.communicator)?;
    let first = call.ready >> turn.place & 1 == 0;
    let call = if first { with_ready(attached, arguments, call, turn.place) } else { call };
    Ok(InTurn { call, turn, first, learner })
}

impl InTurn {
    /// The call took `ticks`, what was done before it included.
    pub fn took(&self, runtime: &Runtime, ticks: u64) {
        if self.turn.measured {
            let ns = runtime.nanoseconds(ticks.saturating_sub(self.turn.besides));
            self.learner.measured(self.turn.place, ns, self.first);
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
