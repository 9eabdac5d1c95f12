//! How a call begins: it does what the [`flags`] ask and holds its communicator, by the rules of
//! [`threads`](crate::threads).

use super::attachment::{Attached, Attachment};
use super::hooks;
use crate::communicator::state::Communicator;
use crate::monitor::{Form, Function, Subject, Watched};
use crate::mpi::communicator;
use crate::operation::Operation;
use crate::process::flags::{self, ASKED, DUE, WATCHED};
use crate::process::guard;
use crate::process::runtime::Runtime;
use crate::process::watched;
use crate::threads::{Away, Held};
use std::os::raw::c_int;
use std::sync::Arc;

/// Says for as long as it lasts that a call is watched.
pub struct Watching(Arc<Watched>);

impl Drop for Watching {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// What a call may wait for other ranks in. Meanwhile others may look at what is kept of its communicator.
#[derive(Clone, Copy)]
pub struct Outside<'a> {
    attachment: &'a Attachment,
    native: &'a dyn Fn() -> c_int,
}

impl<'a> Outside<'a> {
    /// Of a call that passes to PMPI by `native`.
    ///
    /// # Safety
    /// This thread holds the state, and has no reference to use later into what may change of it, when one of the
    /// methods is called.
    pub unsafe fn new(attachment: &'a Attachment, native: &'a dyn Fn() -> c_int) -> Self {
        Self { attachment, native }
    }

    /// The native call.
    #[inline]
    pub fn native(&self) -> c_int {
        self.wait(|| guard::pass_on(self.native))
    }

    /// Something else that waits for other ranks, and changes nothing of the state.
    #[inline]
    pub fn wait<R>(&self, action: impl FnOnce() -> R) -> R {
        // SAFETY: the promise of who made this.
        unsafe { self.attachment.away(guard::this_thread(), Away::Whole, action) }
    }

    /// An algorithm of ours, which counts its messages.
    #[inline]
    pub fn play<R>(&self, operation: Operation, action: impl FnOnce() -> R) -> R {
        // SAFETY: as above; what the messages are counted in is what is named by that.
        guard::play(operation, || unsafe { self.attachment.away(guard::this_thread(), Away::Mostly, action) })
    }
}

/// A call on a communicator, or a start of one, begins: does what the flags ask and holds the communicator's state.
///
/// # Safety
/// The communicator is alive, and this thread is in no call on it already.
#[inline]
pub unsafe fn begin<'a>(
    runtime: &Runtime,
    attachment: &'a Attachment,
    function: Function,
    start: u64,
) -> (Held<'a, Attached>, Option<Watching>) {
    // Before anything is held: the report looks at this communicator too, and at that of a call around this one.
    let is_outermost = !guard::is_in_a_callback();
    if flags::is_set(ASKED | DUE) && is_outermost {
        hooks::report(runtime);
    }
    // SAFETY: the caller's promise.
    let mut attached = unsafe { attachment.hold() };
    let communicator = &mut attached.communicator;
    (communicator.last_call, communicator.last_function) = (start, Some(function));
    // Starting something does not wait for anybody.
    let is_watched = flags::is_set(WATCHED) && function.form == Form::Blocking && is_outermost;
    let watching = is_watched.then(|| Watching(watch(&mut attached.communicator, function, start)));
    (attached, watching)
}

/// This thread comes to a call that is watched.
fn watch(communicator: &mut Communicator, function: Function, start: u64) -> Arc<Watched> {
    let (number, subject) = match communicator.watched.take() {
        Some((number, subject)) => (number + 1, subject),
        None => (1, Arc::new(subject(communicator))),
    };
    communicator.watched = Some((number, Arc::clone(&subject)));
    let own = watched::of_this_thread();
    own.enter(subject, function, number, start);
    own
}

/// The communicator, as far as it can be told without asking another rank.
fn subject(known: &Communicator) -> Subject {
    let facts = &known.facts;
    let members = communicator::world_ranks(facts.comm, false).unwrap_or_default();
    let own_ranks = || (0..facts.size as u32).collect();
    let world: Option<Vec<u32>> = members.into_iter().map(|rank| u32::try_from(rank).ok()).collect();
    Subject {
        name: known.title(false),
        rank: facts.rank as u32,
        members: world.filter(|members| members.len() == facts.size).unwrap_or_else(own_ranks),
    }
}
