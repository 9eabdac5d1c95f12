//! What Collie keeps of each communicator, and how the ranks of one come to know the same.

use super::agreement::{Agreed, FOREIGN, agree};
use super::dying;
use super::origin::Origin;
use super::seat::Seat;
use crate::algorithm::{Call, Operation};
use crate::call::arguments::{Fallback, LocalArguments};
use crate::call::cached::Calls;
use crate::call::decisions::Decisions;
use crate::entry::control::{self, Chosen};
use crate::monitor::{
    Arrivals, Bucket, CELL_BYTES, CellId, CommunicatorRecord, DifferenceRecord, Epochs, Function, Key, Label, NATIVE,
    Subject, Table, Traffic, Turn,
};
use crate::mpi::error::{Error, Result};
use crate::mpi::{communicator, constants, family};
use crate::process::last_communicators;
use crate::process::runtime::{self, Runtime};
use crate::process::{flags, guard};
use crate::run::Counts;
use crate::selection::{Device, Mode};
use crate::service::synchronise;
use crate::threads::{Held, Owned, Threads};
use mpi_sys::MPI_Comm;
use parking_lot::Mutex;
use std::cell::RefCell;
use std::collections::HashMap;
use std::os::raw::{c_int, c_void};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What Collie keeps of a communicator: a state that one thread holds at a time, by the rules of
/// [`threads`](crate::threads), and what any thread may use at any time.
pub struct Shared {
    /// What the program chose for this communicator.
    pub chosen: Arc<Mutex<Option<Box<Chosen>>>>,
    state: Owned<Communicator>,
}

/// When somebody who is in no call looks at the communicators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visit {
    /// Between the calls of this thread. What it holds all the same was left behind by a `longjmp`.
    BetweenCalls,
    /// At any time, perhaps from a callback of the program's in the middle of a call.
    AnyTime,
}

impl Shared {
    /// Holds the state, once no other thread does any more, and brings it up to date.
    ///
    /// # Safety
    /// This thread is not in a call on the communicator.
    #[inline]
    pub unsafe fn hold(&self) -> Held<'_, Communicator> {
        // SAFETY: the number is the thread's own. By the caller's promise nothing that lives holds the state for it, and
        // where threads come in turns another's call has ended when this thread is in MPI.
        let mut state = unsafe { self.state.hold(guard::this_thread(), flags::threads()) };
        state.catch_up();
        state
    }

    /// The same for the fast path of a call, which looks itself whether the state is up to date.
    ///
    /// # Safety
    /// As for [`hold`](Self::hold); `thread` is this thread's number.
    #[inline(always)]
    pub unsafe fn hold_as_is(&self, thread: usize, threads: Threads) -> Held<'_, Communicator> {
        // SAFETY: as above.
        unsafe { self.state.hold(thread, threads) }
    }

    /// Holds the state, unless a call does.
    ///
    /// # Safety
    /// With [`Visit::BetweenCalls`] this thread is in no call.
    pub unsafe fn try_hold(&self, visit: Visit) -> Option<Held<'_, Communicator>> {
        let thread = guard::this_thread();
        if visit == Visit::BetweenCalls && self.state.is_held_by(thread) {
            // SAFETY: the caller's promise.
            return Some(unsafe { self.hold() });
        }
        // SAFETY: the number is the thread's own; where threads come in turns, it is this one's.
        let mut state = unsafe { self.state.try_hold(thread, flags::threads()) }?;
        state.catch_up();
        Some(state)
    }
}

/// What Collie keeps of a communicator for the thread that holds it.
pub struct Communicator {
    /// What Collie knows of the process.
    pub runtime: &'static Runtime,
    /// The program's communicator.
    pub comm: MPI_Comm,
    /// Own rank in it.
    pub rank: usize,
    /// Its size (of the local group of an intercommunicator).
    pub size: usize,
    /// Whether it connects two groups.
    pub inter: bool,
    /// Where it comes from.
    pub origin: Arc<Origin>,
    /// What its ranks have agreed on; nothing until the first call that needs it.
    pub agreed: Option<Agreed>,
    /// Why its ranks have agreed to leave all its calls to the MPI library from here on.
    left: Option<Fallback>,
    /// The private communicator.
    pub private: Private,
    /// When its last call began, in ticks of the clock.
    pub last_call: u64,
    /// Calls until its ranks agree, the one that they agree in included; all ranks count them alike.
    new_for: u32,
    /// What was recorded.
    pub table: Table,
    /// Messages of our algorithms, by rank of this communicator.
    pub traffic: RefCell<Traffic>,
    /// What the player did.
    pub played: RefCell<Counts>,
    /// Native and ours in turns.
    pub alternation: RefCell<Alternation>,
    /// What verification found.
    pub verified: RefCell<Verified>,
    /// When this rank came to its calls, where waiting is told apart. Behind a lock of its own, since all ranks put theirs
    /// together, which must not keep calls from the communicator.
    pub arrivals: Arc<Mutex<Arrivals>>,
    /// Number of the last watched call, and what is told of the communicator.
    pub watched: Option<(u64, Arc<Subject>)>,
    /// Place among the communicators of this rank's record.
    pub place: usize,
    /// The decisions of late.
    pub decisions: Decisions,
    /// What is kept of calls.
    pub calls: Calls,
    natives: Vec<((Operation, Bucket, &'static str), CellId)>,
    /// Labels of calls that are only observed, algorithm and reason.
    observed: Option<(Label, Label)>,
    /// What the program chose for this communicator.
    pub chosen: Arc<Mutex<Option<Box<Chosen>>>>,
    /// The version that `decisions` and `calls` rest on, and the resets that the numbers have seen.
    version: u64,
    resets: u64,
}

// SAFETY: handles of MPI are plain values, valid on every thread; counted references in the caches are cloned for the
// length of a call by the thread that holds the state, and by nobody else; all else may change threads anyway.
unsafe impl Send for Communicator {}

/// The private communicator of a communicator.
#[derive(Clone, Copy, Debug)]
pub enum Private {
    /// No call has needed it yet.
    Unmade,
    /// Here it is.
    Made(MPI_Comm),
    /// The ranks found together that it cannot be had.
    Refused,
    /// The ranks gave it back together, for a communicator of the program's.
    GivenBack,
}

/// Mode `compare`: whose turn it is, and what the turns took.
#[derive(Default)]
pub struct Alternation {
    turns: HashMap<(Operation, Bucket), Turn>,
    /// Durations by epoch.
    pub epochs: Epochs,
}

impl Alternation {
    /// The epoch of the next call, which all ranks of the communicator count alike; `seed` is what they agreed on.
    fn next(&mut self, seed: u64, operation: Operation, bytes: usize) -> u32 {
        let bucket = Bucket::of(bytes as u64);
        let kind = (operation as u64) << 8 | u64::from(bucket.0);
        self.turns.entry((operation, bucket)).or_insert_with(|| Turn::new(seed ^ kind)).next()
    }
}

/// Mode `verify`: what was compared and where it differed.
#[derive(Default)]
pub struct Verified {
    /// Calls compared on this rank.
    pub calls: u64,
    /// The first few differences.
    pub differences: Vec<DifferenceRecord>,
}

/// What is kept of `comm`, made if this is the first call on it. No communication. Valid while the communicator is.
///
/// # Errors
/// What PMPI says of an invalid handle; and that it is being freed.
#[inline]
pub fn of(runtime: &'static Runtime, comm: MPI_Comm) -> Result<*const Shared> {
    guard::THREAD.with(|thread| {
        if let Some(shared) = thread.communicators.find(comm) {
            return Ok(shared);
        }
        let generation = last_communicators::generation();
        let shared = find_or_make(runtime, comm)?;
        thread.communicators.add(comm, generation, shared);
        Ok(shared)
    })
}

#[cold]
fn find_or_make(runtime: &'static Runtime, comm: MPI_Comm) -> Result<*const Shared> {
    // Two threads that come first at the same time, to call and to choose.
    static MAKING: Mutex<()> = Mutex::new(());
    let _making = MAKING.lock();
    let known = runtime.key.get(comm)?;
    if !known.is_null() {
        return Ok(known.cast());
    }
    if dying::is_dying(comm) {
        return Err(Error(mpi_sys::MPI_ERR_COMM as c_int));
    }
    let size = communicator::size(comm)?;
    // The communicator is a valid one. What fails from here on is no fault of the program's, and native calls on this rank
    // alone would leave it out of step with the others.
    make(runtime, comm, size).map_err(|error| panic!("nothing can be kept of a communicator: {error}"))
}

fn make(runtime: &'static Runtime, comm: MPI_Comm, size: usize) -> Result<*const Shared> {
    let chosen = Arc::default();
    let state = Communicator {
        runtime,
        comm,
        rank: communicator::rank(comm)?,
        size,
        inter: communicator::is_inter(comm)?,
        origin: runtime.origins.of(comm)?,
        agreed: None,
        left: None,
        private: Private::Unmade,
        last_call: runtime.clock.raw(),
        new_for: if comm == constants::comm_world() { 1 } else { runtime.replaced_from(comm)? },
        table: Table::within(Arc::clone(&runtime.budget)),
        traffic: RefCell::new(Traffic::within(Arc::clone(&runtime.budget), size)),
        played: RefCell::default(),
        alternation: RefCell::default(),
        verified: RefCell::default(),
        arrivals: Arc::default(),
        watched: None,
        // Nothing will be recorded of it when there is no room for a cell.
        place: match runtime.budget.has(CELL_BYTES) {
            true => runtime.places.fetch_add(1, Ordering::Relaxed),
            false => u32::MAX as usize,
        },
        decisions: Decisions::default(),
        calls: Calls::new(&runtime.cache),
        natives: Vec::new(),
        observed: None,
        chosen: Arc::clone(&chosen),
        version: control::VERSIONS.version(),
        resets: control::VERSIONS.resets(),
    };
    let shared = Arc::new(Shared { chosen, state: Owned::new(state) });
    let hung = Arc::into_raw(Arc::clone(&shared));
    runtime.key.set(comm, hung.cast_mut().cast())?;
    runtime.states.lock().push(shared);
    Ok(hung)
}

/// Calls `action` with every communicator that no call is under way on. Gives the number of the others.
///
/// # Safety
/// With [`Visit::BetweenCalls`] this thread is in no call.
pub unsafe fn each(states: &[Arc<Shared>], visit: Visit, mut action: impl FnMut(&mut Communicator)) -> usize {
    let mut left_out = 0;
    for shared in states {
        // SAFETY: the caller's promise.
        match unsafe { shared.try_hold(visit) } {
            Some(mut state) => action(&mut state),
            None => left_out += 1,
        }
    }
    left_out
}

/// Where the thread's last call was, for messages.
pub fn last_call() -> String {
    let shared = guard::THREAD.with(|thread| thread.communicators.last());
    // SAFETY: asked while a call on this communicator is under way on this thread, so it is alive.
    let shared = unsafe { shared.as_ref() };
    // The panic has let go of the state.
    // SAFETY: at any time.
    let Some(state) = shared.and_then(|shared| unsafe { shared.try_hold(Visit::AnyTime) }) else {
        return String::new();
    };
    format!(" on communicator {} (rank {} of {})", state.identity(), state.rank, state.size)
}

/// MPI's callback when a communicator goes away: keeps what was recorded and frees the private communicator.
///
/// # Safety
/// Called by MPI with the pointer that was set on the communicator.
pub unsafe extern "C" fn forget(_: MPI_Comm, _: c_int, state: *mut c_void, _: *mut c_void) -> c_int {
    let Some(runtime) = runtime::get() else { return mpi_sys::MPI_SUCCESS as c_int };
    last_communicators::invalidate_caches();
    // SAFETY: made by `find_or_make` from an `Arc`.
    let shared = unsafe { Arc::from_raw(state.cast_const().cast::<Shared>()) };
    // Reports walk the list under the same lock, so that each counts the communicator once, there or as gone.
    let mut states = runtime.states.lock();
    states.retain(|known| !Arc::ptr_eq(known, &shared));
    // SAFETY: its communicator is going away, so no call on it is under way.
    let mut state = unsafe { shared.hold() };
    if let Some(record) = state.record(runtime) {
        runtime.retired.lock().push((state.place, record));
    }
    runtime.retired_overflow.lock().add(state.table.overflow());
    runtime.retired_played.lock().add(*state.played.get_mut());
    state.count_traffic(&mut runtime.retired_traffic.lock());
    runtime.synchronisation.retire(&state);
    drop(states);
    if let Err(error) = state.release(runtime) {
        log::warn!("a private communicator could not be freed: {error}");
    }
    mpi_sys::MPI_SUCCESS as c_int
}

impl Communicator {
    /// Makes the ranks agree, if they have not yet. Collective over the program's communicator.
    ///
    /// # Errors
    /// What PMPI returned.
    pub fn agree(&mut self, runtime: &Runtime) -> Result<&Agreed> {
        if self.agreed.is_none() {
            let agreed = runtime.uncounted(|| agree(runtime, self))?;
            synchronise::remark(runtime, &agreed);
            if agreed.has_gpu && agreed.configuration.device == Device::Native {
                self.leave(Fallback::Gpu);
            }
            self.agreed = Some(agreed);
        }
        Ok(self.agreed.as_ref().expect("just set"))
    }

    /// The private communicator, made if this is the first call that needs it. Collective over the program's.
    ///
    /// # Errors
    /// What PMPI returned.
    pub fn private(&mut self, runtime: &Runtime) -> Result<Option<MPI_Comm>> {
        match self.private {
            Private::Made(private) => return Ok(Some(private)),
            Private::Refused | Private::GivenBack => return Ok(None),
            Private::Unmade => {}
        }
        let within_budget = self.agreed.as_ref().is_some_and(|agreed| agreed.within_budget);
        let made = if within_budget { runtime.uncounted(|| communicator::make_private(self.comm))? } else { None };
        self.private = match made {
            Some(private) => {
                runtime.private_communicators.fetch_add(1, Ordering::Relaxed);
                Private::Made(private)
            }
            None => Private::Refused,
        };
        Ok(made)
    }

    /// Frees the private communicator.
    ///
    /// # Errors
    /// What PMPI returned.
    pub fn release(&mut self, runtime: &Runtime) -> Result {
        if let Private::Made(private) = std::mem::replace(&mut self.private, Private::Refused) {
            runtime.private_communicators.fetch_sub(1, Ordering::Relaxed);
            communicator::free(private)?;
        }
        Ok(())
    }

    /// Why there is no private communicator where there is none.
    pub const fn without_private(&self) -> Fallback {
        match self.private {
            Private::GivenBack => Fallback::GivenBack,
            Private::Unmade | Private::Made(_) | Private::Refused => Fallback::NoPrivateCommunicator,
        }
    }

    /// Frees the private communicator for good, since the program needs its id. All ranks of the communicator do so between
    /// the same two calls on it; the calls from then on stay with the MPI library.
    ///
    /// # Errors
    /// What PMPI returned.
    pub fn give_back(&mut self, runtime: &Runtime) -> Result {
        self.decisions = Decisions::default();
        self.calls.clear();
        let released = self.release(runtime);
        self.private = Private::GivenBack;
        released
    }

    /// This rank's place and the call, for an algorithm that was decided on.
    pub fn seat_and_call(&self, operation: Operation, local: &LocalArguments) -> (Seat, Call<'_>) {
        let agreed = self.agreed.as_ref().expect("a plan of ours rests on an agreement");
        let Private::Made(comm) = self.private else { unreachable!("a plan of ours has a private communicator") };
        let yielding = agreed.situation.oversubscribed && family::SPINS_WHILE_WAITING;
        let call = Call {
            operation,
            root: local.root,
            count: local.count,
            unit: local.unit,
            commutative: local.reduction.is_none_or(|reduction| reduction.commutative),
            in_place: operation.tells_in_place() && local.send.is_none(),
            nodes: &agreed.nodes,
            half_bandwidth: agreed.half_bandwidth,
        };
        (Seat { comm, rank: self.rank, size: self.size, yielding, fragments: agreed.fragments }, call)
    }

    /// Forgets decisions that rest on another version of what the program chose and of what is recorded, and numbers
    /// that were reset.
    #[inline]
    fn catch_up(&mut self) {
        let version = control::VERSIONS.version();
        if self.version != version {
            self.begin(version);
        }
    }

    #[cold]
    fn begin(&mut self, version: u64) {
        self.version = version;
        self.decisions = Decisions::default();
        self.calls.clear();
        let resets = control::VERSIONS.resets();
        if self.resets != resets {
            self.resets = resets;
            self.reset();
        }
    }

    /// Whether decisions rest on what holds now.
    #[inline]
    pub fn is_up_to_date(&self) -> bool {
        self.version == control::VERSIONS.version()
    }

    /// In mode `compare`, the epoch of the next call.
    pub fn next_epoch(&self, operation: Operation, bytes: usize) -> u32 {
        let agreed = self.agreed.as_ref().expect("both sides rest on an agreement");
        self.alternation.borrow_mut().next(agreed.seed, operation, bytes)
    }

    /// The cell of calls of `bytes` bytes that run as `algorithm` because of `decided_by`.
    pub fn cell(&mut self, operation: Operation, bytes: usize, algorithm: &str, decided_by: &str) -> CellId {
        let (algorithm, decided_by) = (self.table.label(algorithm), self.table.label(decided_by));
        let bucket = Bucket::of(bytes as u64);
        self.table.cell(Key { function: Function::from(operation), bucket, algorithm, decided_by })
    }

    /// The cell of calls that go to the native library for a reason that needs no agreement.
    pub fn native_cell(&mut self, operation: Operation, bytes: usize, reason: &'static str) -> CellId {
        let key = (operation, Bucket::of(bytes as u64), reason);
        if let Some((_, cell)) = self.natives.iter().find(|(known, _)| *known == key) {
            return *cell;
        }
        let cell = self.cell(operation, bytes, NATIVE, reason);
        self.natives.push((key, cell));
        cell
    }

    /// The cell of calls that are passed on, whatever is chosen for others.
    #[inline]
    pub fn observed_cell(&mut self, function: Function, bytes: u64) -> CellId {
        let table = &mut self.table;
        let (algorithm, decided_by) =
            *self.observed.get_or_insert_with(|| (table.label(NATIVE), table.label("observed only")));
        table.cell(Key { function, bucket: Bucket::of(bytes), algorithm, decided_by })
    }

    /// What was recorded, for the report; `None` if nothing was.
    pub fn record(&mut self, runtime: &Runtime) -> Option<CommunicatorRecord> {
        let cells = self.table.records(runtime.nanoseconds_per_tick);
        if cells.is_empty() {
            return None;
        }
        Some(CommunicatorRecord {
            identity: self.identity().to_owned(),
            name: communicator::name(self.comm).ok().flatten(),
            made_by: self.origin.made_by.to_owned(),
            parent: self.origin.parent.clone(),
            size: self.size as u32,
            rank: self.rank as u32,
            members: self.members(),
            cells,
            epochs: self.alternation.get_mut().epochs.records(runtime.nanoseconds_per_tick),
            verified_calls: self.verified.get_mut().calls,
            differences: self.verified.get_mut().differences.clone(),
            ..CommunicatorRecord::default()
        })
    }

    /// Its identity: what all its ranks work out alike, or else what they have agreed on.
    pub fn identity(&self) -> &str {
        self.agreed.as_ref().map_or(&self.origin.identity, |agreed| &agreed.identity)
    }

    /// World ranks of its ranks, told by one of them.
    fn members(&self) -> Vec<u32> {
        match &self.agreed {
            _ if self.rank != 0 => Vec::new(),
            Some(agreed) => agreed.members.iter().copied().filter(|member| *member != FOREIGN).collect(),
            None => {
                let ranks = communicator::world_ranks(self.comm, false).unwrap_or_default();
                ranks.into_iter().filter_map(|rank| u32::try_from(rank).ok()).collect()
            }
        }
    }

    /// Adds the messages of our algorithms, by world rank; those to other worlds have no place in this one's report.
    pub fn count_traffic(&mut self, all: &mut Traffic) {
        let Some(agreed) = &self.agreed else { return };
        for sent in self.traffic.get_mut().records() {
            let to = agreed.members[sent.to as usize];
            if to != FOREIGN {
                all.add_to(to as usize, sent.messages, sent.bytes);
            }
        }
    }

    /// Forgets what was recorded.
    fn reset(&mut self) {
        self.table.reset();
        self.traffic.get_mut().reset();
        *self.played.get_mut() = Counts::default();
        self.alternation.get_mut().epochs = Epochs::new();
        *self.verified.get_mut() = Verified::default();
        self.arrivals.lock().reset();
    }

    /// Counts a call of an operation that may be replaced; whether it is one of the first, which are left to the MPI library
    /// without asking the other ranks for anything (`COLLIE_AFTER`).
    pub fn is_new(&mut self) -> bool {
        self.new_for = self.new_for.saturating_sub(1);
        self.new_for > 0 && self.agreed.is_none() && self.never().is_none()
    }

    /// Whether the ranks tell each other before every call if a buffer of it is memory of a GPU. All ranks see it alike.
    pub fn asks_for_device_memory(&self) -> bool {
        let Some(agreed) = self.agreed.as_ref().filter(|_| self.left.is_none()) else { return false };
        match (agreed.configuration.device, self.private) {
            _ if agreed.configuration.mode == Mode::Native => false,
            // Nothing of ours can run.
            (_, Private::Refused | Private::GivenBack) => false,
            (Device::Auto, _) => agreed.has_gpu,
            (Device::Ask, _) => true,
            (Device::Host | Device::Native, _) => false,
        }
    }

    /// Leaves all calls from here on to the MPI library. All ranks do so in the same call.
    pub fn leave(&mut self, why: Fallback) {
        self.left = Some(why);
        self.calls.clear();
    }

    /// Why calls are not replaced from here on, if they are not.
    pub const fn stays_native(&self) -> Option<Fallback> {
        match self.never() {
            None => self.left,
            never => never,
        }
    }

    /// Why the communicator's calls are never replaced, if they are not.
    pub const fn never(&self) -> Option<Fallback> {
        if self.inter {
            Some(Fallback::Intercommunicator)
        } else if self.size == 1 {
            Some(Fallback::OneRank)
        } else {
            None
        }
    }
}
