//! The communicators that calls were made on, and what remains of those that are gone.

use super::attachment::{Attachment, Seen, Visit};
use super::hooks;
use super::requests::REQUESTS;
use super::trials::Trials;
use crate::communicator::dying;
use crate::communicator::facts::Facts;
use crate::communicator::state::Communicator;
use crate::communicator::tally::Tally;
use crate::monitor::{Budget, COUNTER_BYTES, CommunicatorRecord, LearnedRecord, Overflow, Traffic, join_learned};
use crate::mpi::communicator::{self, Key};
use crate::mpi::error::{Error, Result, SUCCESS};
use crate::process::floating_point::apart;
use crate::process::guard::{self, Thread};
use crate::process::runtime::{self, Runtime};
use crate::process::{flags, last_communicators};
use crate::run::Counts;
use crate::threads::Threads;
use mpi_sys::MPI_Comm;
use once_cell::sync::OnceCell;
use parking_lot::{Mutex, MutexGuard};
use std::os::raw::{c_int, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

static REGISTRY: OnceCell<Registry> = OnceCell::new();

/// The communicators of the process; there from the first call on.
struct Registry {
    /// Where a communicator's attachment hangs.
    key: Key,
    /// Communicators that calls were made on, in the order of their first call. Locked by whoever walks them and by the
    /// end of each; never while waiting for a call.
    attachments: Mutex<Vec<Arc<Attachment>>>,
    /// What remains of those that are gone.
    retired: Mutex<Retired>,
    /// Communicators that have got a place in this rank's record.
    places: AtomicUsize,
}

/// What remains of communicators that are gone, all together.
pub struct Retired {
    /// What was recorded, by place.
    pub records: Vec<(usize, CommunicatorRecord)>,
    /// What these take of the memory for records, bytes.
    taken: u64,
    /// Calls without a counter.
    pub overflow: Overflow,
    /// What was played.
    pub played: Counts,
    /// Messages of our algorithms, by world rank: those by MPI, and those through shared memory.
    pub traffic: [Traffic; 2],
    /// What was learned where this rank was the first.
    pub learned: Vec<LearnedRecord>,
}

impl Retired {
    /// Of none yet.
    fn new(world_size: usize) -> Self {
        let (overflow, played) = (Overflow::default(), Counts::default());
        Self {
            records: Vec::new(),
            taken: 0,
            overflow,
            played,
            traffic: [(); 2].map(|()| Traffic::new(world_size)),
            learned: Vec::new(),
        }
    }

    fn reset(&mut self, budget: &Budget) {
        self.records.clear();
        budget.give(std::mem::take(&mut self.taken));
        self.overflow = Overflow::default();
        self.played = Counts::default();
        self.traffic.iter_mut().for_each(Traffic::reset);
        // What was learned stays: programs forget what was recorded of their warming up, and the calls to come are
        // those learned of.
    }
}

/// The one that the thread remembers for `comm`, if it means what it did. Valid while the communicator is.
#[inline(always)]
pub fn recent(thread: &Thread, comm: MPI_Comm) -> Option<*const Attachment> {
    // Nobody but `of` has the thread remember any.
    thread.communicators.find(comm).map(<*const ()>::cast)
}

/// Why nothing is known of a handle.
#[derive(Clone, Copy, Debug)]
pub enum Unknown {
    /// It is no communicator's. The program's error handler has heard so, and this is what PMPI returned.
    Told(c_int),
    /// It is being freed, whether or not something still hangs on it, or nothing can hang on communicators at all.
    Untold,
}

impl Unknown {
    /// Ends a call on it, which `native` passes on: an error is told to its handler once.
    pub fn end(self, native: impl FnOnce() -> c_int) -> c_int {
        match self {
            Self::Told(code) => code,
            Self::Untold => guard::pass_on(native),
        }
    }
}

/// What hangs on `comm`, made if this is the first call on it. No communication. Valid while the communicator is.
///
/// # Errors
/// There is no such communicator, or soon none.
#[inline]
pub fn of(runtime: &'static Runtime, comm: MPI_Comm) -> std::result::Result<*const Attachment, Unknown> {
    let thread = guard::thread();
    if let Some(known) = recent(thread, comm) {
        return Ok(known);
    }
    let generation = last_communicators::generation();
    let attachment = find_or_make(runtime, comm)?;
    thread.communicators.add(comm, generation, attachment.cast());
    Ok(attachment)
}

#[cold]
fn find_or_make(runtime: &'static Runtime, comm: MPI_Comm) -> std::result::Result<*const Attachment, Unknown> {
    if dying::is_dying(comm) {
        return Err(Unknown::Untold);
    }
    let registry = REGISTRY.get_or_try_init(|| Registry::new(runtime)).map_err(|_| Unknown::Untold)?;
    // Where the handle is no communicator's, this calls an error handler of the program's, which may make calls itself
    // or jump out of this one: nothing is held.
    let known = guard::pass_on(|| registry.key.get(comm)).map_err(|invalid| Unknown::Told(invalid.returned))?;
    if !known.is_null() {
        return Ok(known.cast_const().cast());
    }
    // Two threads that come first at the same time, to call and to choose.
    static MAKING: Mutex<()> = Mutex::new(());
    let _making = MAKING.lock();
    // The communicator is a valid one. What fails from here on is no fault of the program's, and native calls on this
    // rank alone would leave it out of step with the others.
    let made = match registry.key.get(comm) {
        Ok(known) if !known.is_null() => Ok(known.cast_const().cast()),
        Ok(_) => communicator::size(comm).and_then(|size| registry.make(runtime, comm, size)),
        Err(invalid) => Err(Error(invalid.returned)),
    };
    made.map_err(|error| panic!("nothing can be kept of a communicator: {error}"))
}

impl Registry {
    fn new(runtime: &Runtime) -> Result<Self> {
        Ok(Self {
            key: Key::new(forget)?,
            attachments: Mutex::default(),
            retired: Mutex::new(Retired::new(runtime.world_size)),
            places: AtomicUsize::new(0),
        })
    }

    fn make(&self, runtime: &'static Runtime, comm: MPI_Comm, size: usize) -> Result<*const Attachment> {
        // Nothing will be recorded of it when there is no room for a counter.
        let place = match runtime.budget.has(COUNTER_BYTES) {
            true => self.places.fetch_add(1, Ordering::Relaxed),
            false => Tally::NOWHERE,
        };
        let attachment = Arc::new(Attachment::new(Communicator::new(runtime, comm, size, place)?));
        let hung = Arc::into_raw(Arc::clone(&attachment));
        last_communicators::is_kept(comm);
        self.key.set(comm, hung.cast_mut().cast())?;
        self.attachments.lock().push(attachment);
        Ok(hung)
    }
}

/// All communicators that calls were made on, and what remains of those that are gone: none goes while this is held.
pub struct Walk {
    registry: &'static Registry,
    attachments: MutexGuard<'static, Vec<Arc<Attachment>>>,
}

/// Keeps all communicators for a walk; `None` if there was no call yet.
pub fn walk() -> Option<Walk> {
    let registry = REGISTRY.get()?;
    Some(Walk { registry, attachments: registry.attachments.lock() })
}

impl Walk {
    /// Number of places in this rank's record.
    pub fn places(&self) -> usize {
        self.registry.places.load(Ordering::Relaxed)
    }

    /// What remains of those that are gone.
    pub fn retired(&self) -> MutexGuard<'static, Retired> {
        self.registry.retired.lock()
    }

    /// Forgets what remains of those that are gone.
    pub fn reset(&self, runtime: &Runtime) {
        self.retired().reset(&runtime.budget);
    }

    /// Calls `action` with every communicator but those that a call is in the middle of changing. Gives the number of
    /// these.
    ///
    /// # Safety
    /// As for [`Attachment::look`].
    pub unsafe fn each(&self, visit: Visit, mut action: impl FnMut(Seen)) -> usize {
        // SAFETY: the caller's promise.
        let mut is_left_out = |attachment: &Attachment| unsafe { attachment.look(visit, &mut action).is_none() };
        self.attachments.iter().filter(|attachment| is_left_out(attachment)).count()
    }
}

/// Those that calls were made on as of now.
pub fn all() -> Vec<Arc<Attachment>> {
    walk().map_or_else(Vec::new, |walk| walk.attachments.clone())
}

/// Frees the private communicators.
///
/// # Safety
/// This thread is in no call.
pub unsafe fn release_all() {
    let Some(registry) = REGISTRY.get() else { return };
    // Freeing a communicator may run callbacks of the program, which must not find the list locked.
    let attachments = std::mem::take(&mut *registry.attachments.lock());
    // In one order on all ranks: the MPI library may free one together with the others, though MPI does not ask for that.
    let identity = |attachment: &Arc<Attachment>| {
        // SAFETY: the caller's promise.
        unsafe { attachment.try_hold() }.map(|held| held.communicator.identity().to_owned())
    };
    let mut in_order: Vec<_> = attachments.iter().filter_map(|one| Some((identity(one)?, one))).collect();
    in_order.sort_by(|(one, _), (other, _)| one.cmp(other));
    for (_, attachment) in in_order {
        // SAFETY: the caller's promise.
        if let Some(mut attached) = unsafe { attachment.try_hold() }
            && let Err(error) = attached.release()
        {
            log::warn!("a private communicator could not be freed: {error}");
        }
    }
    *registry.attachments.lock() = attachments;
}

/// Lets go of all states that this thread holds: it has jumped out of the call that did. Where threads come in turns the
/// next one to hold a state takes it as it is.
pub fn abandon_all() {
    if flags::threads() == Threads::InTurns {
        return;
    }
    for attachment in all() {
        // SAFETY: the caller has found out.
        unsafe { attachment.abandon() };
    }
}

/// Where the thread's last call was, for messages. Nothing where that communicator is gone.
pub fn last_call() -> String {
    let last = guard::thread().communicators.last().cast::<Attachment>();
    // What the thread remembers may have been freed since, where the call is none on a communicator: what is there the
    // list knows. It may be locked by this thread.
    let find = |registry: &'static Registry| {
        let attachments = registry.attachments.try_lock()?;
        attachments.iter().find(|known| Arc::as_ptr(known) == last).cloned()
    };
    let words = |seen: Seen| {
        let communicator = &seen.attached.communicator;
        let Facts { rank, size, .. } = communicator.facts;
        format!(" on {} (rank {rank} of {size})", communicator.title(true))
    };
    let attachment = REGISTRY.get().and_then(find);
    // After a panic nobody holds the state any more. SAFETY: `words` reads what is known of the communicator and what
    // its ranks have agreed on, none of which a holder that is away changes; it keeps nothing and clones no counted
    // reference. `AnyTime` asks nothing of this thread.
    attachment.and_then(|attachment| unsafe { attachment.look(Visit::AnyTime, words) }).unwrap_or_default()
}

/// MPI's callback when a communicator goes away: keeps what was recorded and frees the private communicator.
///
/// # Safety
/// Called by MPI with the pointer that was set on the communicator.
unsafe extern "C" fn forget(comm: MPI_Comm, _: c_int, hung: *mut c_void, _: *mut c_void) -> c_int {
    let (Some(runtime), Some(registry)) = (runtime::get(), REGISTRY.get()) else {
        return SUCCESS;
    };
    last_communicators::invalidate_caches();
    last_communicators::is_gone(comm);
    // SAFETY: made by `make` from an `Arc`.
    let attachment = unsafe { Arc::from_raw(hung.cast_const().cast::<Attachment>()) };
    if attachment.is_held_here() && guard::is_in_a_call() {
        // An error handler frees the communicator of the call that raised the error, and the call goes on with the
        // state. The list keeps that, as of a communicator that nobody calls any more. SAFETY: what is touched is for
        // anybody at any time.
        unsafe { attachment.look(Visit::AnyTime, |seen| seen.attached.communicator.mark_gone()) };
        return SUCCESS;
    }
    // Not with the list, which a thread that has jumped out of a call on the communicator needs to let go of it. SAFETY:
    // this thread is in no call on it.
    unsafe { attachment.wait_until_free() };
    // Reports walk the list under the same lock, so that each counts the communicator once, there or as gone.
    let mut attachments = registry.attachments.lock();
    attachments.retain(|known| !Arc::ptr_eq(known, &attachment));
    // SAFETY: its communicator is going away, so no call on it is under way.
    let mut attached = unsafe { attachment.hold() };
    apart(|| attached.trials.iter().for_each(Trials::keep));
    let mut retired = registry.retired.lock();
    if attached.communicator.facts.rank == 0 {
        apart(|| join_learned(&mut retired.learned, attached.trials.iter().flat_map(Trials::records)));
    }
    let communicator = &attached.communicator;
    REQUESTS.gone(runtime, communicator.tally.place);
    if let Some(record) = apart(|| communicator.record(runtime, false)) {
        retired.taken += communicator.tally.table.settle(record.bytes() as u64);
        retired.records.push((communicator.tally.place, record));
    }
    retired.overflow.add(communicator.tally.table.overflow());
    retired.played.add(*communicator.tally.played.borrow());
    communicator.count_traffic(&mut retired.traffic);
    drop(retired);
    if let Some(waiting) = hooks::waiting() {
        waiting.gone(communicator);
    }
    drop(attachments);
    if let Err(error) = attached.release() {
        log::warn!("a private communicator could not be freed: {error}");
    }
    SUCCESS
}
