//! What Collie keeps of each communicator, and how the ranks of one come to know the same.

use super::agreement::{Agreed, FOREIGN, agree};
use super::arguments::{self, Fallback, Significant};
use super::control::{self, Chosen};
use super::origin::Origin;
use super::quick::Quick;
use super::runtime::{self, Runtime};
use super::transport::Place;
use super::{dying, guard, synchronise};
use crate::algorithm::{Call, Choice, Operation};
use crate::monitor::{
    Arrivals, Bucket, CELL_BYTES, CellId, CommunicatorRecord, DifferenceRecord, Epochs, Function, Key, Label, NATIVE,
    Subject, Table, Traffic,
};
use crate::mpi::error::{Error, Result};
use crate::mpi::{communicator, constants};
use crate::selection::Mode;
use mpi_sys::MPI_Comm;
use std::cell::RefCell;
use std::collections::HashMap;
use std::os::raw::{c_int, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Decisions remembered per operation; a program's loop rarely mixes more sizes than this between two repeats.
const REMEMBERED: usize = 8;

/// A state in the list of all; used by one thread at a time, as MPI demands of collectives on one communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointer(pub *mut State);

// SAFETY: the list is only walked when no collective is under way (finalize, MPI_Pcontrol), or to remove an entry.
unsafe impl Send for Pointer {}

/// What Collie keeps of a communicator.
pub struct State {
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
    /// The private communicator.
    pub private: Private,
    /// Calls until its ranks agree, the one that they agree in included; all ranks count them alike.
    new_for: u32,
    /// What was recorded.
    pub table: Table,
    /// Messages of our algorithms, by rank of this communicator.
    pub traffic: RefCell<Traffic>,
    /// Native and ours in turns.
    pub turns: RefCell<Turns>,
    /// What verification found.
    pub verified: RefCell<Verified>,
    /// When this rank came to its calls, where waiting is told apart.
    pub arrivals: Arrivals,
    /// Number of the last watched call, and what is told of the communicator.
    pub watched: Option<(u64, Arc<Subject>)>,
    /// Whether a call is under way, where threads make them at the same time.
    pub busy: AtomicBool,
    /// Place among the communicators of this rank's record.
    pub place: usize,
    memory: [[Option<(Question, Plan)>; REMEMBERED]; Operation::ALL.len()],
    understood: [[Option<Box<Understood>>; REMEMBERED]; Operation::ALL.len()],
    natives: Vec<((Operation, Bucket, &'static str), CellId)>,
    /// Labels of calls that are only observed, algorithm and reason.
    observed: Option<(Label, Label)>,
    /// What the program chose for this communicator.
    pub chosen: Option<Box<Chosen>>,
    /// The version of the program's choices that `memory` rests on.
    version: u64,
}

/// The private communicator of a communicator.
#[derive(Clone, Copy, Debug)]
pub enum Private {
    /// No call has needed it yet.
    Unmade,
    /// Here it is.
    Made(MPI_Comm),
    /// The ranks found together that it cannot be had.
    Refused,
}

/// Calls per epoch of mode `compare`: few, so that programs with few calls get enough epochs for the test.
const EPOCH: u64 = 5;

/// Mode `compare`: whose turn it is, and what the turns took.
#[derive(Default)]
pub struct Turns {
    calls: HashMap<(Operation, Bucket), u64>,
    /// Durations by epoch.
    pub epochs: Epochs,
}

impl Turns {
    /// The epoch of the next call, which all ranks of the communicator count alike.
    pub fn next(&mut self, operation: Operation, bytes: usize) -> u32 {
        let calls = self.calls.entry((operation, Bucket::of(bytes as u64))).or_default();
        *calls += 1;
        u32::try_from((*calls - 1) / EPOCH).unwrap_or(u32::MAX)
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

/// All that a decision rests on, within one communicator and operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// Units of the call.
    pub count: usize,
    /// Bytes of one unit.
    pub unit: usize,
    /// Whether order does not matter.
    pub commutative: bool,
}

/// A call as it was understood and decided.
pub struct Understood {
    key: arguments::Key,
    /// What counted of its arguments.
    pub significant: Significant,
    /// What was decided.
    pub plan: Plan,
    /// The short way of such calls, if there is one; looked for when the first repeat comes.
    pub quick: Option<Option<Quick>>,
}

/// A decision: what runs, and where it is counted.
#[derive(Clone)]
pub struct Plan {
    /// The algorithm; `None` for the native library's.
    pub choice: Option<Arc<Choice>>,
    /// Where the call is counted.
    pub cell: CellId,
    /// Where the same call is counted when it runs natively all the same: in modes `compare` and `verify`.
    pub beside: Option<(Mode, CellId)>,
}

/// Changes whenever what a thread remembers of a communicator may have come to mean something else.
static GENERATION: AtomicU64 = AtomicU64::new(1);

/// A communicator as a thread remembers it.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    handle: usize,
    generation: u64,
    state: *mut State,
}

impl Known {
    /// No communicator.
    pub const NOTHING: Self = Self { handle: 0, generation: 0, state: std::ptr::null_mut() };

    /// Its state, if it is `comm` and that has not changed since.
    #[inline]
    pub fn state_of(&self, comm: MPI_Comm) -> Option<*mut State> {
        let same = self.handle == comm.0 as usize && self.generation == GENERATION.load(Ordering::Acquire);
        same.then_some(self.state)
    }
}

/// Makes all threads forget which communicator they saw last.
pub fn outdate() {
    GENERATION.fetch_add(1, Ordering::AcqRel);
}

/// The state of `comm`, made if this is the first call on it. No communication.
///
/// # Errors
/// What PMPI says of an invalid handle; and that it is being freed.
#[inline]
pub fn of(runtime: &'static Runtime, comm: MPI_Comm) -> Result<*mut State> {
    guard::THREAD.with(|thread| {
        if let Some(state) = thread.last.get().state_of(comm) {
            return Ok(state);
        }
        let generation = GENERATION.load(Ordering::Acquire);
        let state = find_or_make(runtime, comm)?;
        thread.last.set(Known { handle: comm.0 as usize, generation, state });
        Ok(state)
    })
}

#[cold]
fn find_or_make(runtime: &'static Runtime, comm: MPI_Comm) -> Result<*mut State> {
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

fn make(runtime: &'static Runtime, comm: MPI_Comm, size: usize) -> Result<*mut State> {
    let state = Box::new(State {
        runtime,
        comm,
        rank: communicator::rank(comm)?,
        size,
        inter: communicator::is_inter(comm)?,
        origin: runtime.origins.of(comm)?,
        agreed: None,
        private: Private::Unmade,
        new_for: if comm == constants::comm_world() { 1 } else { runtime.replaced_from(comm)? },
        table: Table::within(Arc::clone(&runtime.budget)),
        traffic: RefCell::new(Traffic::within(Arc::clone(&runtime.budget), size)),
        turns: RefCell::default(),
        verified: RefCell::default(),
        arrivals: Arrivals::default(),
        watched: None,
        busy: AtomicBool::new(false),
        // Nothing will be recorded of it when there is no room for a cell.
        place: match runtime.budget.has(CELL_BYTES) {
            true => runtime.places.fetch_add(1, Ordering::Relaxed),
            false => u32::MAX as usize,
        },
        memory: Default::default(),
        understood: Default::default(),
        natives: Vec::new(),
        observed: None,
        chosen: None,
        version: control::version(),
    });
    let state = Box::into_raw(state);
    runtime.key.set(comm, state.cast())?;
    runtime.states.lock().push(Pointer(state));
    Ok(state)
}

/// Where the thread's last call was, for messages.
pub fn last_call() -> String {
    let Known { state, .. } = guard::THREAD.with(|thread| thread.last.get());
    if state.is_null() {
        return String::new();
    }
    // SAFETY: asked while a call on this communicator is under way on this thread, so it is alive.
    let state = unsafe { &*state };
    format!(" on communicator {} (rank {} of {})", state.identity(), state.rank, state.size)
}

/// MPI's callback when a communicator goes away: keeps what was recorded and frees the private communicator.
///
/// # Safety
/// Called by MPI with the pointer that was set on the communicator.
pub unsafe extern "C" fn forget(_: MPI_Comm, _: c_int, state: *mut c_void, _: *mut c_void) -> c_int {
    let Some(runtime) = runtime::get() else { return mpi_sys::MPI_SUCCESS as c_int };
    let pointer = Pointer(state.cast());
    outdate();
    runtime.states.lock().retain(|known| *known != pointer);
    // SAFETY: made by `find_or_make` from a box; its communicator is going away, so nobody uses it any more.
    let mut state = unsafe { Box::from_raw(pointer.0) };
    if let Some(record) = state.record(runtime) {
        runtime.retired.lock().push((state.place, record));
    }
    runtime.retired_beyond.lock().add(state.table.beyond());
    state.count_traffic(&mut runtime.retired_traffic.lock());
    runtime.synchronisation.retire(&mut state);
    if let Err(error) = state.release(runtime) {
        log::warn!("a private communicator could not be freed: {error}");
    }
    mpi_sys::MPI_SUCCESS as c_int
}

impl State {
    /// Makes the ranks agree, if they have not yet. Collective over the program's communicator.
    ///
    /// # Errors
    /// What PMPI returned.
    pub fn agree(&mut self, runtime: &Runtime) -> Result<&Agreed> {
        if self.agreed.is_none() {
            let agreed = runtime.apart(|| agree(runtime, self))?;
            synchronise::remark(runtime, &agreed);
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
            Private::Refused => return Ok(None),
            Private::Unmade => {}
        }
        let within_budget = self.agreed.as_ref().is_some_and(|agreed| agreed.within_budget);
        let made = if within_budget { runtime.apart(|| communicator::make_private(self.comm))? } else { None };
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

    /// This rank's place and the call, for an algorithm that was decided on.
    pub fn place_and_call(&self, operation: Operation, significant: &Significant) -> (Place, Call<'_>) {
        let agreed = self.agreed.as_ref().expect("a plan of ours rests on an agreement");
        let Private::Made(comm) = self.private else { unreachable!("a plan of ours has a private communicator") };
        // Open MPI's own waiting gives the core away where ranks outnumber cores; MPICH's spins.
        let yielding = agreed.situation.oversubscribed && cfg!(mpi_family = "mpich");
        let call = Call {
            operation,
            root: significant.root,
            count: significant.count,
            unit: significant.unit,
            commutative: significant.reduction.is_none_or(|reduction| reduction.commutative),
            nodes: &agreed.nodes,
            half_bandwidth: agreed.half_bandwidth,
        };
        (Place { comm, rank: self.rank, size: self.size, yielding, pieces: agreed.pieces }, call)
    }

    /// Forgets decisions that rest on another version of the program's choices.
    #[inline]
    pub fn settle_for(&mut self, version: u64) {
        if self.version != version {
            self.version = version;
            self.memory = Default::default();
            self.understood = Default::default();
        }
    }

    /// A call like this one that was understood and decided before.
    #[inline]
    pub fn recognise(&self, operation: Operation, key: &arguments::Key) -> Option<&Understood> {
        let known = self.understood[operation as usize][(key.spread() >> 61) as usize].as_deref()?;
        (known.key == *key).then_some(known)
    }

    /// The same, to be completed.
    pub fn recognise_mut(&mut self, operation: Operation, key: &arguments::Key) -> Option<&mut Understood> {
        let known = self.understood[operation as usize][(key.spread() >> 61) as usize].as_deref_mut()?;
        (known.key == *key).then_some(known)
    }

    /// Whether decisions rest on this version of the program's choices.
    #[inline]
    pub const fn is_settled_for(&self, version: u64) -> bool {
        self.version == version
    }

    /// Forgets how calls were understood: what they rest on has changed.
    pub fn misunderstand(&mut self) {
        self.understood = Default::default();
    }

    /// Keeps a call for the next one like it.
    pub fn keep(&mut self, operation: Operation, key: arguments::Key, significant: Significant, plan: Plan) {
        let slot = (key.spread() >> 61) as usize;
        self.understood[operation as usize][slot] = Some(Box::new(Understood { key, significant, plan, quick: None }));
    }

    /// The decision remembered for a question.
    #[inline]
    pub fn recall(&self, operation: Operation, question: &Question) -> Option<&Plan> {
        match &self.memory[operation as usize][slot(question)] {
            Some((known, plan)) if known == question => Some(plan),
            _ => None,
        }
    }

    /// Remembers a decision.
    pub fn remember(&mut self, operation: Operation, question: Question, plan: Plan) {
        self.memory[operation as usize][slot(&question)] = Some((question, plan));
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
            epochs: self.turns.get_mut().epochs.records(runtime.nanoseconds_per_tick),
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
    pub fn reset(&mut self) {
        self.table.reset();
        self.traffic.get_mut().reset();
        self.turns.get_mut().epochs = Epochs::new();
        *self.verified.get_mut() = Verified::default();
        self.arrivals.reset();
    }

    /// Counts a call of an operation that may be replaced; whether it is one of the first, which are left to the MPI library
    /// without asking the other ranks for anything (`COLLIE_AFTER`).
    pub fn is_new(&mut self) -> bool {
        self.new_for = self.new_for.saturating_sub(1);
        self.new_for > 0 && self.agreed.is_none() && self.never().is_none()
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

const fn slot(question: &Question) -> usize {
    // Sizes in a program are mostly small or powers of two: mix high bits in.
    let bytes = question.count.wrapping_mul(question.unit) as u64;
    (bytes.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 61) as usize
}

const _: () = assert!(REMEMBERED == 8, "slot() gives three bits");
