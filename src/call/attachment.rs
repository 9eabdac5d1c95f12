//! What hangs on a communicator of the program's, as an attribute: a state that one thread holds at a time, by the
//! rules of [`threads`](crate::threads), and what any thread may use at any time.

use super::cached::Calls;
use super::choices::{Chosen, VERSIONS};
use super::decisions::Decisions;
use super::hooks;
use super::trials::Trials;
use crate::communicator::agreement::Agreed;
use crate::communicator::fallback::Fallback;
use crate::communicator::state::Communicator;
use crate::mpi::error::Result;
use crate::operation::Operation;
use crate::process::flags::WATCHED;
use crate::process::runtime::Runtime;
use crate::process::{flags, guard, watched};
use crate::selection::{Mode, Wanted};
use crate::threads::{Away, Held, Owned, Threads};
use std::sync::Arc;

/// What hangs on a communicator.
pub struct Attachment {
    /// What the program chose for this communicator.
    pub chosen: Arc<Chosen>,
    state: Owned<Attached>,
}

/// When somebody who makes no call looks at the communicators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visit {
    /// Between the calls of this thread. What it holds all the same was left behind by a `longjmp`.
    BetweenCalls,
    /// In the middle of a call of this thread, from an error handler of the program's: MPI may be asked.
    InACall,
    /// At any time, as in a signal handler: MPI may be in the middle of something.
    AnyTime,
}

/// The state, as it is for somebody who looks at it.
pub struct Seen<'a> {
    /// What is there.
    pub attached: &'a Attached,
    /// Whether a call is under way.
    pub is_under_way: bool,
    /// Whether an algorithm of ours is running: what its messages are counted in is not to be touched.
    pub is_sending: bool,
    /// Whether the numbers have been reset since the last call began.
    pub is_outdated: bool,
}

/// The part of it that one thread holds at a time. Whoever looks at it may borrow what is in cells: a holder that is
/// away does not.
///
/// In this order, so that what each call looks at lies together.
#[repr(C)]
pub struct Attached {
    /// The version that `decisions` and `calls` rest on, and the resets that the numbers have seen.
    version: u64,
    resets: u64,
    /// What is kept of the communicator whatever its calls are.
    pub communicator: Communicator,
    /// What is kept of calls.
    pub calls: Calls,
    /// The decisions of late.
    pub decisions: Decisions,
    /// What is learned, in mode `learn`, once the ranks know alike what was learned elsewhere.
    pub trials: Option<Trials>,
    /// What the program chose for this communicator.
    chosen: Arc<Chosen>,
}

// SAFETY: handles of MPI are plain values, valid on every thread; counted references in the caches are cloned for the
// length of a call by the thread that holds the state, and by nobody else; all else may change threads anyway.
unsafe impl Send for Attached {}

impl Attachment {
    /// For a communicator that no call has been made on.
    pub fn new(communicator: Communicator) -> Self {
        let chosen = Arc::new(Chosen::nothing());
        // Arrays of a call between two groups have an entry for each rank of the other one, and it is never kept.
        let entries = if communicator.facts.inter { 0 } else { communicator.facts.size };
        let attached = Attached {
            decisions: Decisions::default(),
            calls: Calls::new(&communicator.runtime.cache, entries),
            trials: None,
            communicator,
            chosen: Arc::clone(&chosen),
            version: VERSIONS.version(),
            resets: VERSIONS.resets(),
        };
        Self { chosen, state: Owned::new(attached) }
    }

    /// Holds the state, once no other thread does any more, and brings it up to date.
    ///
    /// # Safety
    /// This thread is not in a call on the communicator.
    #[inline]
    pub unsafe fn hold(&self) -> Held<'_, Attached> {
        // SAFETY: the number is the thread's own. By the caller's promise nothing that lives holds the state for it,
        // and where threads come in turns another's call has ended when this thread is in MPI.
        let mut state = unsafe { self.state.hold(guard::this_thread(), flags::threads()) };
        state.catch_up();
        state
    }

    /// The same for the fast path of a call, which looks itself whether the state is up to date.
    ///
    /// # Safety
    /// As for [`hold`](Self::hold); `thread` is this thread's number.
    #[inline(always)]
    pub unsafe fn hold_as_is(&self, thread: usize, threads: Threads) -> Held<'_, Attached> {
        // SAFETY: as above.
        unsafe { self.state.hold(thread, threads) }
    }

    /// Waits until no other thread holds the state.
    ///
    /// # Safety
    /// As for [`hold`](Self::hold).
    pub unsafe fn wait_until_free(&self) {
        // SAFETY: as there.
        unsafe { self.state.wait_until_free(guard::this_thread(), flags::threads()) }
    }

    /// Lets go of what this thread holds, if it does.
    ///
    /// # Safety
    /// A `longjmp` has led out of the call that held it.
    pub unsafe fn abandon(&self) {
        // SAFETY: the number is the thread's own; the rest is the caller's promise.
        unsafe { self.state.abandon(guard::this_thread()) }
    }

    /// Holds the state, unless a call does. What this thread holds was left behind by a `longjmp`.
    ///
    /// # Safety
    /// This thread is in no call.
    pub unsafe fn try_hold(&self) -> Option<Held<'_, Attached>> {
        let thread = guard::this_thread();
        if self.state.is_held_by(thread) {
            // SAFETY: the caller's promise.
            return Some(unsafe { self.hold() });
        }
        // SAFETY: the number is the thread's own; where threads come in turns, it is this one's.
        let mut state = unsafe { self.state.try_hold(thread, flags::threads()) }?;
        state.catch_up();
        Some(state)
    }

    /// Whether the call that this thread has entered was made by a callback in a call on the same communicator, which
    /// goes on with the state afterwards.
    pub fn is_in_use(&self) -> bool {
        guard::is_in_a_callback() && self.is_held_here()
    }

    /// Whether this thread holds the state.
    pub fn is_held_here(&self) -> bool {
        self.state.is_held_by(guard::this_thread())
    }

    /// Looks at the state, unless a call is in the middle of changing it.
    ///
    /// # Safety
    /// `action` keeps to what it is told that it may touch, and clones no counted reference of the caches. With
    /// [`Visit::BetweenCalls`] this thread is in no call.
    pub unsafe fn look<R>(&self, visit: Visit, action: impl FnOnce(Seen) -> R) -> Option<R> {
        if visit == Visit::BetweenCalls
            // SAFETY: the caller's promise.
            && let Some(held) = unsafe { self.try_hold() }
        {
            return Some(action(Seen { attached: &held, is_under_way: false, is_sending: false, is_outdated: false }));
        }
        // SAFETY: the number is the thread's own; the rest is the caller's promise. What is in cells is borrowed by
        // nobody else and holds numbers only.
        unsafe {
            self.state.look(guard::this_thread(), flags::threads(), |attached, away| {
                let (is_under_way, is_sending) = (away.is_some(), away == Some(Away::Mostly));
                action(Seen { attached, is_under_way, is_sending, is_outdated: attached.is_outdated() })
            })
        }
    }

    /// Runs what may wait for other ranks in the middle of a call on this thread, which others may look at meanwhile.
    ///
    /// # Safety
    /// This thread holds the state. Until `action` is done nothing of it is changed, but for what the messages of our
    /// algorithms are counted in with [`Away::Mostly`]; and no reference made before to what may change is used after
    /// it.
    #[inline(always)]
    pub unsafe fn away<R>(&self, thread: usize, how: Away, action: impl FnOnce() -> R) -> R {
        // SAFETY: the caller's promise.
        unsafe { self.state.away(thread, how, action) }
    }
}

impl Attached {
    /// Makes the ranks agree, as far as they have not yet. Collective over the program's communicator.
    ///
    /// # Errors
    /// What PMPI returned.
    pub fn agree(&mut self, runtime: &Runtime) -> Result {
        if self.communicator.agreed.is_none() {
            let watched = flags::is_set(WATCHED).then(watched::of_this_thread);
            if let Some(watched) = &watched {
                watched.agrees(true);
            }
            let agreed = self.communicator.agree(runtime);
            if let Some(watched) = watched {
                watched.agrees(false);
            }
            let agreed = agreed?;
            if let Some(waiting) = hooks::waiting() {
                waiting.agreed(runtime, agreed);
            }
            if self.communicator.stays_native().is_some() {
                self.calls.clear();
            }
        }
        let learns = |agreed: &Agreed| agreed.configuration.mode == Mode::Learn;
        if self.trials.is_none()
            && self.communicator.stays_native().is_none()
            && self.communicator.agreed.as_ref().is_some_and(learns)
        {
            self.agree_on_trials(runtime)?;
        }
        Ok(())
    }

    /// The ranks come to know alike what was learned on other communicators.
    fn agree_on_trials(&mut self, runtime: &Runtime) -> Result {
        // What is learned rests on whether shared memory can be had.
        if self.communicator.wants_shared_memory() && self.communicator.private(runtime)?.is_none() {
            // Where that is only postponed, a later call asks again.
            return Ok(());
        }
        let shares_memory = self.communicator.shares_memory();
        let Communicator { facts, agreed: Some(agreed), .. } = &self.communicator else { return Ok(()) };
        self.trials = Some(Trials::agree(runtime, facts, agreed, shares_memory)?);
        Ok(())
    }

    /// What the program chose for an operation, on this communicator or everywhere.
    pub fn chosen(&self, operation: Operation) -> Option<Wanted> {
        self.chosen.here_or_everywhere(operation)
    }

    /// Leaves all calls from here on to the MPI library. All ranks do so in the same call.
    pub fn leave(&mut self, why: Fallback) {
        self.communicator.leave(why);
        self.calls.clear();
    }

    /// Frees the private communicator for good, since the program needs its id. All ranks of the communicator do so
    /// between the same two calls on it; the calls from then on stay with the MPI library.
    ///
    /// # Errors
    /// What PMPI returned.
    pub fn give_back(&mut self) -> Result {
        self.forget();
        self.communicator.give_back()
    }

    /// Frees the private communicator and what goes with it, at the end.
    ///
    /// # Errors
    /// What PMPI returned.
    pub fn release(&mut self) -> Result {
        self.forget();
        self.communicator.release()
    }

    /// Forgets decisions that rest on another version of what the program chose and of what is recorded, and numbers
    /// that were reset.
    #[inline]
    fn catch_up(&mut self) {
        let version = VERSIONS.version();
        if self.version != version {
            self.apply_version(version);
        }
    }

    #[cold]
    fn apply_version(&mut self, version: u64) {
        self.version = version;
        self.forget();
        let resets = VERSIONS.resets();
        if self.resets != resets {
            self.resets = resets;
            self.communicator.tally.reset();
        }
    }

    /// Whether the numbers have been reset since this was last brought up to date.
    fn is_outdated(&self) -> bool {
        // The version first: the resets of that version are among those read after it.
        self.version != VERSIONS.version() && self.resets != VERSIONS.resets()
    }

    /// Forgets what was decided and kept.
    fn forget(&mut self) {
        self.decisions = Decisions::default();
        self.calls.clear();
    }

    /// Whether decisions rest on what holds now.
    #[inline]
    pub fn is_up_to_date(&self) -> bool {
        self.version == VERSIONS.version()
    }
}
