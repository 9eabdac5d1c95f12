//! The one static: what Collie knows of the process, from the start of MPI to its end.

use super::flags;
use super::monitoring::Monitoring;
use crate::call::requests::Requests;
use crate::communicator::origin::Origins;
use crate::communicator::state::{self, Shared};
use crate::monitor::{Budget, CacheAccount, CommunicatorRecord, EventLog, Overflow, SharedLists, Traffic};
use crate::mpi::communicator::{self, Key};
use crate::mpi::{constants, inline, node};
use crate::run::Counts;
use crate::selection::{Configuration, ConfigurationErrors, RawConfiguration, Sync};
use crate::service::places::Places;
use crate::service::synchronise::Synchronisation;
use crate::service::trace::ElementsTable;
use mpi_sys::MPI_Comm;
use once_cell::sync::OnceCell;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

static RUNTIME: OnceCell<Option<Runtime>> = OnceCell::new();

/// What Collie knows of the process.
pub struct Runtime {
    /// Rank in `MPI_COMM_WORLD`.
    pub world_rank: usize,
    /// Size of `MPI_COMM_WORLD`.
    pub world_size: usize,
    /// Where reports and the trace go: rank 0's word, once it is told.
    pub files: OnceCell<Places>,
    /// A number that the ranks of this node share.
    pub node: u64,
    /// Whether ranks outnumber the cores here.
    pub oversubscribed: bool,
    /// Whether this node has a network that moves long messages by itself.
    pub fast_network: bool,
    /// Bytes of the longest message that the MPI library sends inline within this node, if known.
    pub inline: Option<usize>,
    /// Where a communicator's state hangs.
    pub key: Key,
    /// Where communicators come from.
    pub origins: Origins,
    /// The clock that times the calls.
    pub clock: quanta::Clock,
    /// Length of its tick.
    pub nanoseconds_per_tick: f64,
    /// Tick and wall time of the start.
    pub started: (u64, SystemTime),
    /// This process's own configuration, as text and understood.
    pub raw: RawConfiguration,
    /// The same understood. Counts where this process is rank 0 of a communicator.
    pub configuration: Result<Arc<Configuration>, ConfigurationErrors>,
    /// The log of single calls, if one is wanted.
    pub events: Option<Mutex<EventLog>>,
    /// What the logged calls were made with.
    pub elements: Mutex<ElementsTable>,
    /// What is left of the memory for cells.
    pub budget: Arc<Budget>,
    /// What the caches of calls may hold, and what became of it.
    pub cache: Arc<CacheAccount>,
    /// What communicators with the same ranks share.
    pub lists: SharedLists,
    /// Calls without a cell on communicators that are gone.
    pub retired_overflow: Mutex<Overflow>,
    /// What was played on communicators that are gone.
    pub retired_played: Mutex<Counts>,
    /// The MPI library's own count of messages, where it counts them.
    pub monitoring: Option<Monitoring>,
    /// Whether calls are recorded (`MPI_Pcontrol`).
    pub recording: AtomicBool,
    /// Requests of collectives.
    pub requests: Requests,
    /// Waiting apart from working.
    pub synchronisation: Synchronisation,
    /// Communicators that calls were made on, in the order of their first call. Locked by whoever walks them and by the end
    /// of each; never while waiting for a call.
    pub states: Mutex<Vec<Arc<Shared>>>,
    /// What was recorded on communicators that are gone.
    pub retired: Mutex<Vec<(usize, CommunicatorRecord)>>,
    /// Messages of our algorithms on communicators that are gone, by world rank.
    pub retired_traffic: Mutex<Traffic>,
    /// Number of communicators that calls were made on so far.
    pub places: AtomicUsize,
    /// Private communicators held.
    pub private_communicators: AtomicUsize,
    /// Communicators seen first by this process as their rank 0.
    pub numbered: AtomicU64,
    /// Which call on a communicator is the first that may be replaced: rank 0's choice, told to all ranks in `MPI_Init`. The
    /// default where nobody told.
    pub replaced_from: AtomicU32,
    /// Whether the end has been dealt with.
    pub finished: AtomicBool,
}

/// The runtime, while MPI is there. Starts it if the program came to MPI by a way that is not intercepted.
#[inline]
pub fn get() -> Option<&'static Runtime> {
    let runtime = match RUNTIME.get() {
        Some(runtime) => runtime.as_ref()?,
        None => start()?,
    };
    (!runtime.finished.load(Ordering::Relaxed)).then_some(runtime)
}

/// The same, if it has been started.
pub fn known() -> Option<&'static Runtime> {
    let runtime = RUNTIME.get()?.as_ref()?;
    (!runtime.finished.load(Ordering::Relaxed)).then_some(runtime)
}

/// Starts the runtime, once MPI is initialised.
#[cold]
pub fn start() -> Option<&'static Runtime> {
    if RUNTIME.get().is_none() && !is_mpi_up() {
        return None;
    }
    RUNTIME.get_or_init(|| Some(make().unwrap_or_else(|error| cannot_start(error)))).as_ref()
}

/// Ends the job: this rank alone would be native, out of step with the others.
fn cannot_start(error: crate::mpi::Error) -> ! {
    super::log::tell_before_the_end(&format!("cannot start on this rank: {error}; ending the job"));
    // SAFETY: MPI is initialised where the runtime is made.
    unsafe { mpi_sys::PMPI_Abort(constants::comm_world(), 70) };
    std::process::abort()
}

fn is_mpi_up() -> bool {
    let (mut initialized, mut finalized) = (0, 0);
    // SAFETY: both may be called at any time; the out-parameters are valid for writes.
    unsafe {
        mpi_sys::PMPI_Initialized(&mut initialized);
        mpi_sys::PMPI_Finalized(&mut finalized);
    }
    initialized != 0 && finalized == 0
}

/// Whether several threads may call MPI at the same time.
fn is_concurrent() -> crate::mpi::Result<bool> {
    let mut level = 0;
    // SAFETY: the out-parameter is valid for writes.
    crate::mpi::error::check(unsafe { mpi_sys::PMPI_Query_thread(&mut level) })?;
    Ok(level == mpi_sys::MPI_THREAD_MULTIPLE as std::os::raw::c_int)
}

fn make() -> crate::mpi::Result<Runtime> {
    let world = constants::comm_world();
    let key = Key::new(state::forget)?;
    // The end of MPI_COMM_SELF is the one sure sign of MPI_Finalize, whichever way it was called.
    Key::new(crate::service::lifecycle::self_is_freed)?
        .set(constants::comm_self(), std::ptr::dangling_mut::<u8>().cast())?;
    let clock = quanta::Clock::new();
    let nanoseconds_per_tick = clock.delta_as_nanos(0, 1 << 30) as f64 / f64::from(1 << 30);
    let raw = RawConfiguration::from_environment();
    let configuration = raw.parse().map(Arc::new);
    if is_concurrent()? {
        flags::set(flags::CONCURRENT);
    }
    let (world_rank, world_size) = (communicator::rank(world)?, communicator::size(world)?);
    super::log::start(world_rank, configuration.as_ref().ok().map(AsRef::as_ref));
    if world_rank == 0 {
        super::stacked::tell();
    }
    // A wrong configuration ends the job, or is another rank's to decide about.
    let budget = Arc::new(Budget::of(configuration.as_ref().map_or(0, |known| known.memory as u64 / 2)));
    Ok(Runtime {
        world_rank,
        world_size,
        files: OnceCell::new(),
        node: node::identity(),
        oversubscribed: node::oversubscribed(),
        fast_network: node::fast_network(),
        inline: inline::limit(),
        key,
        origins: Origins::new()?,
        started: (clock.raw(), SystemTime::now()),
        clock,
        nanoseconds_per_tick,
        raw,
        events: configuration.as_ref().ok().and_then(|configuration| crate::service::trace::log_for(configuration)),
        elements: Mutex::default(),
        lists: SharedLists::within(Arc::clone(&budget)),
        budget,
        cache: Arc::new(CacheAccount::of(configuration.as_ref().map_or(0, |known| known.memory as u64 / 8))),
        retired_overflow: Mutex::default(),
        retired_played: Mutex::default(),
        configuration,
        monitoring: Monitoring::start(world_rank, world_size),
        recording: AtomicBool::new(true),
        requests: Requests::default(),
        synchronisation: Synchronisation::new(),
        states: Mutex::default(),
        retired: Mutex::default(),
        retired_traffic: Mutex::new(Traffic::new(world_size)),
        places: AtomicUsize::new(0),
        private_communicators: AtomicUsize::new(0),
        numbered: AtomicU64::new(0),
        replaced_from: AtomicU32::new(Configuration::REPLACED_FROM),
        finished: AtomicBool::new(false),
    })
}

impl Runtime {
    /// This process's configuration, where it counts for others.
    ///
    /// Ends the job if it is wrong: a misspelt choice must not silently become something else.
    pub fn own_configuration(&self) -> &Arc<Configuration> {
        match &self.configuration {
            Ok(configuration) => configuration,
            Err(errors) => refuse(self.world_rank, errors),
        }
    }

    /// Where reports and the trace go. As far as this process knows, if MPI was started by a way that is not intercepted.
    pub fn files(&self) -> &Places {
        self.files.get_or_init(|| Places::of(self))
    }

    /// Runs `action`, whose messages are not the program's.
    pub fn uncounted<T>(&self, action: impl FnOnce() -> T) -> T {
        match &self.monitoring {
            Some(monitoring) => monitoring.uncounted(action),
            None => action(),
        }
    }

    /// Whether calls need nothing but to be carried out and counted. Whatever else wants to see single calls says so here:
    /// calls that were seen before go past it otherwise.
    pub fn only_counts(&self) -> bool {
        self.recording.load(Ordering::Relaxed)
            && self.events.is_none()
            && self.synchronisation.mode() == Sync::Off
            && !log::log_enabled!(log::Level::Trace)
    }

    /// Which call on `comm` is the first that may be replaced, the same on all its ranks. Ranks of other worlds (spawned or
    /// joined processes) may have been told something else, so that the default holds where there are any.
    ///
    /// # Errors
    /// What PMPI said of the communicator.
    pub fn replaced_from(&self, comm: MPI_Comm) -> crate::mpi::Result<u32> {
        let told = self.replaced_from.load(Ordering::Relaxed);
        let by_all = told == Configuration::REPLACED_FROM || communicator::is_of_this_world(comm)?;
        Ok(if by_all { told } else { Configuration::REPLACED_FROM })
    }

    /// Nanoseconds of a number of ticks.
    pub fn nanoseconds(&self, ticks: u64) -> u64 {
        (ticks as f64 * self.nanoseconds_per_tick) as u64
    }

    /// Wall time of the start, nanoseconds since 1970.
    pub fn started_unix_ns(&self) -> u64 {
        self.started.1.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
    }
}

/// Tells what is wrong with the configuration and ends the job.
pub fn refuse(world_rank: usize, errors: &ConfigurationErrors) -> ! {
    let errors = errors.to_string();
    let lines: Vec<_> = errors.lines().map(|line| format!("rank {world_rank}: {line}")).collect();
    super::log::tell_before_the_end(&lines.join("\n"));
    // SAFETY: MPI is initialised wherever configurations are looked at.
    unsafe { mpi_sys::PMPI_Abort(constants::comm_world(), 78) };
    std::process::abort()
}
