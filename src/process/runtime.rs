//! The one static: what Collie knows of the process, from the start of MPI to its end.

use super::clock::Clock;
use super::monitoring::Monitoring;
use super::{flags, folder, library, log, stacked};
use crate::monitor::{Budget, CacheAccount, NetworkRecord, SharedLists};
use crate::mpi::cores::Allowed;
use crate::mpi::end::{EX_CONFIG, EX_SOFTWARE, end_job};
use crate::mpi::error::{Error, Result, check};
use crate::mpi::library::bind;
use crate::mpi::limits::{self, ProtocolLimits};
use crate::mpi::{communicator, constants, node};
use crate::selection::{Configuration, ConfigurationErrors, Mpi, RawConfiguration, Spawned};
use mpi_sys::MPI_Comm;
use once_cell::sync::OnceCell;
use std::os::raw::c_int;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

static RUNTIME: OnceCell<Option<Runtime>> = OnceCell::new();

/// What Collie knows of the process.
pub struct Runtime {
    /// Rank in `MPI_COMM_WORLD`.
    pub world_rank: usize,
    /// Size of `MPI_COMM_WORLD`.
    pub world_size: usize,
    /// A number that the ranks of this node share.
    pub node: u64,
    /// The MPI library.
    pub mpi: Mpi,
    /// What the system lets this process use.
    pub allowed: Allowed,
    /// Whether ranks outnumber the cores here, as all ranks together found; as far as the launcher tells otherwise.
    oversubscribed: OnceCell<bool>,
    /// Whether this node has a network that moves long messages by itself.
    pub fast_network: bool,
    /// Where the MPI library's protocol within this node changes: as measured between two ranks in `MPI_Init`,
    /// otherwise as known by name.
    limits: [OnceCell<ProtocolLimits>; 2],
    /// What measuring them took, on rank 0.
    limits_took: OnceCell<(u32, f64)>,
    message_ns: OnceCell<u64>,
    /// The clock that times the calls.
    pub clock: Clock,
    /// Length of its tick.
    pub nanoseconds_per_tick: f64,
    /// Tick and wall time of the start.
    pub started: (u64, SystemTime),
    /// The same by the clock that is not set.
    began: Instant,
    /// Tick of the end of what Collie does in `MPI_Init`, and how long that took.
    left_init: OnceCell<(u64, Duration)>,
    /// See [`is_everywhere`](Self::is_everywhere).
    has_met_all: AtomicBool,
    /// This process's own configuration, as it was set.
    raw: RawConfiguration,
    /// The same understood. Counts where this process is rank 0 of `MPI_COMM_WORLD`, and where nobody was told in
    /// `MPI_Init`.
    pub configuration: std::result::Result<Arc<Configuration>, ConfigurationErrors>,
    /// Rank 0's, where that is another one.
    told: OnceCell<(RawConfiguration, Arc<Configuration>)>,
    /// The one that counts, with the network that was measured in `MPI_Init`, where it wants that.
    measured: OnceCell<(RawConfiguration, Arc<Configuration>)>,
    /// What was measured of it, on rank 0.
    network: OnceCell<NetworkRecord>,
    /// What is left of the memory for counters.
    pub budget: Arc<Budget>,
    /// What the caches of calls may hold, and what became of it.
    pub cache: Arc<CacheAccount>,
    /// What communicators with the same ranks share.
    pub lists: SharedLists,
    /// The MPI library's own count of messages, where it counts them.
    pub monitoring: Option<Monitoring>,
    /// Whether calls are recorded (`MPI_Pcontrol`).
    pub recording: AtomicBool,
    /// Which call on a communicator is the first that may be replaced: rank 0's choice, told to all ranks in
    /// `MPI_Init`. The default where nobody told.
    pub replaced_from: AtomicU32,
    /// Whether the end has been dealt with.
    pub finished: AtomicBool,
}

/// Runs too short to tell the length of a tick any better.
const SHORT_RUN: Duration = Duration::from_millis(300);

/// What starts with the runtime, and rests on it.
static ON_START: OnceCell<fn(&Runtime) -> Result> = OnceCell::new();

/// Has `action` run when the runtime starts; to be said before.
pub fn on_start(action: fn(&Runtime) -> Result) {
    ON_START.get_or_init(|| action);
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

/// Whether the runtime has not been started, nor could it: `MPI_Init` was never called.
pub fn has_never_started() -> bool {
    RUNTIME.get().is_none()
}

/// Starts the runtime, once MPI is initialised.
#[cold]
pub fn start() -> Option<&'static Runtime> {
    // A program that has come to `MPI_Init` past our entries may have loaded its MPI library after this one.
    // SAFETY: bound before, or by the first call that comes here: nothing has read a constant that is still to be found.
    if RUNTIME.get().is_none() && (unsafe { bind() }.is_err() || !is_mpi_up()) {
        return None;
    }
    RUNTIME.get_or_init(|| Some(make().unwrap_or_else(|error| cannot_start(error)))).as_ref()
}

/// Ends the job: this rank alone would be native, out of step with the others.
fn cannot_start(error: Error) -> ! {
    end_job(&format!("cannot start on this rank: {error}; ending the job"), EX_SOFTWARE)
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
fn is_concurrent() -> Result<bool> {
    let mut level = 0;
    // SAFETY: the out-parameter is valid for writes.
    check(unsafe { mpi_sys::PMPI_Query_thread(&mut level) })?;
    Ok(level == mpi_sys::MPI_THREAD_MULTIPLE as c_int)
}

fn make() -> Result<Runtime> {
    let world = constants::comm_world();
    let clock = Clock::new();
    let nanoseconds_per_tick = clock.delta_as_nanos(0, 1 << 30) as f64 / f64::from(1 << 30);
    // As of reports: wherever the program has gone meanwhile.
    let mut raw = RawConfiguration::from_environment_below(&folder::of_command());
    if raw.learned.is_some() {
        raw.place = [node::machine(), library::version().lines().next().unwrap_or_default().to_owned()];
    }
    let configuration = raw.parse().map(Arc::new);
    if is_concurrent()? {
        flags::set(flags::CONCURRENT);
    }
    let (world_rank, world_size) = (communicator::rank(world)?, communicator::size(world)?);
    log::start(world_rank, configuration.as_ref().ok().map(AsRef::as_ref));
    if world_rank == 0 {
        stacked::tell();
    }
    // A wrong configuration ends the job where it is rank 0's; others take over that one.
    let memory = configuration.as_ref().map_or_else(|_| Configuration::default().memory, |known| known.memory) as u64;
    let budget = Arc::new(Budget::of(memory / 2));
    let runtime = Runtime {
        world_rank,
        world_size,
        node: node::identity(),
        mpi: Mpi::of(library::version()),
        allowed: Allowed::here(),
        oversubscribed: OnceCell::new(),
        fast_network: node::fast_network(),
        limits: [OnceCell::new(), OnceCell::with_value(limits::known())],
        limits_took: OnceCell::new(),
        message_ns: OnceCell::new(),
        started: (clock.raw(), SystemTime::now()),
        began: Instant::now(),
        left_init: OnceCell::new(),
        has_met_all: AtomicBool::new(false),
        clock,
        nanoseconds_per_tick,
        raw,
        lists: SharedLists::within(Arc::clone(&budget)),
        budget,
        cache: Arc::new(CacheAccount::of(memory / 8)),
        configuration,
        told: OnceCell::new(),
        measured: OnceCell::new(),
        network: OnceCell::new(),
        monitoring: Monitoring::start(world_rank, world_size),
        recording: AtomicBool::new(true),
        replaced_from: AtomicU32::new(Configuration::REPLACED_FROM),
        finished: AtomicBool::new(false),
    };
    if let Some(start) = ON_START.get() {
        start(&runtime)?;
    }
    Ok(runtime)
}

impl Runtime {
    /// Which messages within a node travel in pieces, unless the configuration says so.
    pub fn limits(&self) -> ProtocolLimits {
        self.limits.iter().find_map(OnceCell::get).copied().unwrap_or_default()
    }

    /// Whether ranks outnumber the cores of this node.
    pub fn oversubscribed(&self) -> bool {
        let by_launcher = || node::ranks().is_some_and(|ranks| ranks > self.allowed.of_node(false));
        *self.oversubscribed.get_or_init(by_launcher)
    }

    /// Takes what all ranks found in `MPI_Init`: whether they are on one node, and whether they are allowed the same
    /// cores.
    pub fn set_cores(&self, one_node: bool, alike: bool) {
        let ranks = if one_node { Some(self.world_size) } else { node::ranks() };
        let oversubscribed = ranks.is_some_and(|ranks| ranks > self.allowed.of_node(alike));
        // The first counts, as with limits.
        let _ = self.oversubscribed.set(oversubscribed);
    }

    /// The rank with which they were measured, and the seconds that it took: known where they were, on rank 0.
    pub fn limits_took(&self) -> Option<(u32, f64)> {
        self.limits_took.get().copied()
    }

    /// Takes what was measured, before any communicator has agreed on anything but `MPI_COMM_WORLD`'s name.
    pub fn set_limits(&self, measured: ProtocolLimits, message_ns: u64, took: Option<(u32, f64)>) {
        took.map(|took| self.limits_took.set(took));
        // The first counts, which all ranks were told alike.
        let _ = (self.limits[0].set(measured), self.message_ns.set(message_ns));
    }

    /// Nanoseconds of a short message within a node; 0 where that was not measured.
    pub fn message_ns(&self) -> u64 {
        self.message_ns.get().copied().unwrap_or(0)
    }

    /// Takes the network that was measured, of whose text all ranks are told alike, if this process's configuration
    /// wants that; before any communicator has agreed on anything but `MPI_COMM_WORLD`'s name.
    ///
    /// # Errors
    /// The text is no network's.
    pub fn set_network(&self, told: &str) -> std::result::Result<(), ConfigurationErrors> {
        if let Some(raw) = self.raw().with_measured(told)
            && (self.told.get().is_some() || self.configuration.is_ok())
        {
            let configuration = Arc::new(raw.parse()?);
            // The first counts, as with limits.
            let _ = self.measured.set((raw, configuration));
        }
        Ok(())
    }

    /// What was measured of the network: known on rank 0, where it was.
    pub fn network(&self) -> Option<&NetworkRecord> {
        self.network.get()
    }

    /// Takes what is to be said of that.
    pub fn tell_network(&self, found: NetworkRecord) {
        let _ = self.network.set(found);
    }

    /// Takes rank 0's configuration in place of its own, before any communicator has agreed on anything.
    pub fn set_configuration(&self, raw: RawConfiguration, configuration: Arc<Configuration>) {
        // The first counts, as with limits.
        let _ = self.told.set((raw, configuration));
    }

    fn not_own(&self) -> Option<&(RawConfiguration, Arc<Configuration>)> {
        self.measured.get().or_else(|| self.told.get())
    }

    /// This process's configuration as text, for others to parse.
    pub fn raw(&self) -> &RawConfiguration {
        self.not_own().map_or(&self.raw, |(raw, _)| raw)
    }

    /// This process's configuration, where it counts for others.
    ///
    /// Ends the job if it is wrong: a misspelt choice must not silently become something else.
    pub fn own_configuration(&self) -> &Arc<Configuration> {
        match (self.not_own(), &self.configuration) {
            (Some((_, configuration)), _) | (None, Ok(configuration)) => configuration,
            (None, Err(errors)) => refuse(self.world_rank, errors),
        }
    }

    /// The same where it counts for this process alone: the defaults where it is wrong.
    pub fn configuration_here(&self) -> Arc<Configuration> {
        match (self.not_own(), &self.configuration) {
            (Some((_, configuration)), _) | (None, Ok(configuration)) => Arc::clone(configuration),
            (None, Err(_)) => Arc::default(),
        }
    }

    /// Runs `action`, whose messages are not the program's.
    pub fn uncounted<T>(&self, action: impl FnOnce() -> T) -> T {
        match &self.monitoring {
            Some(monitoring) => monitoring.uncounted(action),
            None => action(),
        }
    }

    /// Which call on `comm` is the first that may be replaced, the same on all its ranks. Ranks of other worlds
    /// (spawned or joined processes) may have been told something else, so that the default holds where there are any.
    ///
    /// # Errors
    /// What PMPI said of the communicator.
    pub fn replaced_from(&self, comm: MPI_Comm) -> Result<u32> {
        let told = self.replaced_from.load(Ordering::Relaxed);
        let by_all = told == Configuration::REPLACED_FROM || communicator::local_group_is_in_world(comm)?;
        Ok(if by_all { told } else { Configuration::REPLACED_FROM })
    }

    /// Whether the ranks of `comm` must not be asked anything, because those of other worlds may be without Collie.
    /// Alike on all ranks that have it.
    ///
    /// # Errors
    /// What PMPI said of the communicator.
    pub fn leaves_alone(&self, comm: MPI_Comm) -> Result<bool> {
        Ok(self.configuration_here().spawned == Spawned::Native && !communicator::all_groups_are_in_world(comm)?)
    }

    /// `MPI_Init` has only to return, after Collie has been busy there for so long.
    pub fn leave_init(&self, took: Duration) {
        let _ = self.left_init.set((self.clock.raw(), took));
    }

    /// Tick at which the program's own run began: the end of `MPI_Init`, or where the runtime was started later.
    pub fn run_began(&self) -> u64 {
        self.left_init.get().map_or(self.started.0, |(tick, _)| *tick)
    }

    /// All ranks of `MPI_COMM_WORLD` have exchanged words of Collie's on a communicator.
    pub fn meets_all(&self) {
        self.has_met_all.store(true, Ordering::Relaxed);
    }

    /// Whether every rank of `MPI_COMM_WORLD` is sure to have come to Collie: where `MPI_Init` did not, one that sends
    /// and receives only may never do so, and answers nothing.
    pub fn is_everywhere(&self) -> bool {
        self.world_size == 1 || self.left_init.get().is_some() || self.has_met_all.load(Ordering::Relaxed)
    }

    /// How long Collie was busy in `MPI_Init`; nothing where it came to MPI otherwise.
    pub fn init_took(&self) -> Option<Duration> {
        self.left_init.get().map(|(_, took)| *took)
    }

    /// How long a nanosecond of [`nanoseconds`](Self::nanoseconds) has been by the system's clock so far. The length of
    /// a tick is taken from some milliseconds at the start, and off by some 10 ppm: by 37 µs in each second between
    /// ranks of one node.
    pub fn stretch(&self) -> f64 {
        let supposed = self.nanoseconds(self.clock.raw().saturating_sub(self.started.0));
        let elapsed = self.began.elapsed();
        if elapsed < SHORT_RUN { 1.0 } else { elapsed.as_nanos() as f64 / supposed.max(1) as f64 }
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
    end_job(&lines.join("\n"), EX_CONFIG)
}
