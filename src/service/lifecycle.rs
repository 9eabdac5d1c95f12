//! The start and the end of MPI: what is started then and ended, and who is told of calls in between.

use super::measuring::Measure;
use super::{checkpoint, ending, learned, outputs, partial, places, report, silence, sites, synchronise, trace, watch};
use crate::call::attachment::Visit;
use crate::call::choices::VERSIONS;
use crate::call::regions::{self, Said};
use crate::call::requests::REQUESTS;
use crate::call::{hooks, messages, registry};
use crate::communicator::agreement;
use crate::mpi::communicator::Key;
use crate::mpi::error::SUCCESS;
use crate::mpi::words;
use crate::mpi::{Result, alone, bytes, constants};
use crate::process::flags::{self, ASKED, DUE};
use crate::process::floating_point::apart;
use crate::process::monitoring::Monitoring;
use crate::process::runtime::{self, Runtime};
use crate::process::{guard, last_communicators, library, log, recorded};
use crate::selection::{Sync, variables, without_effect};
use mpi_sys::MPI_Comm;
use serde::{Deserialize, Serialize};
use std::os::raw::{c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Puts the rooms together when the library is loaded: what is below knows nothing of what it starts, and a program may
/// come to MPI by a way that is not intercepted.
#[used]
#[unsafe(link_section = ".init_array")]
static COMPOSE: extern "C" fn() = compose;

extern "C" fn compose() {
    words::remember_stderr();
    runtime::on_start(start_here);
    guard::set_last_call(registry::last_call);
    guard::set_abandon(registry::abandon_all);
    hooks::set_report(|runtime| {
        if flags::take(ASKED) {
            partial::report(runtime, "at SIGUSR2", Visit::BetweenCalls, partial::OnStderr::EachRank);
        }
        if flags::take(DUE) {
            checkpoint::take(runtime);
        }
    });
}

/// Starts what each rank starts by itself, with the runtime.
fn start_here(runtime: &Runtime) -> Result {
    // The end of MPI_COMM_SELF is the one sure sign of MPI_Finalize, whichever way it was called.
    Key::new(self_is_freed)?.set(constants::comm_self(), std::ptr::dangling_mut::<u8>().cast())?;
    alone::make()?;
    trace::start(runtime);
    Ok(())
}

/// What `MPI_Init` and `MPI_Init_thread` do besides `native`.
pub fn init(native: impl Fn() -> c_int) -> c_int {
    // Another library's constructor may have come here first.
    compose();
    library::bind();
    let code = native();
    if code == SUCCESS {
        guard::enter(
            "MPI_Init",
            || SUCCESS,
            || {
                apart(begin);
                SUCCESS
            },
        );
    }
    code
}

/// Collie's own part of it.
fn begin() {
    let begun = Instant::now();
    // Only rank 0's configuration counts, so only rank 0 has to be right about it from the start.
    let Some(runtime) = runtime::start() else { return };
    if runtime.world_rank == 0 {
        runtime.own_configuration();
    }
    if let Err(error) = start(runtime) {
        let rank = runtime.world_rank;
        log::tell(&format!("rank {rank}: not everything that was requested could be enabled: {error}"));
    }
    partial::listen(runtime);
    ending::listen(runtime);
    runtime.leave_init(begun.elapsed());
}

/// Whether the program is one of ours that chooses for each communicator how its messages travel.
static TRANSPORTS_ARE_CHOSEN: AtomicBool = AtomicBool::new(false);

/// It is, of this process.
pub fn transports_are_chosen() {
    TRANSPORTS_ARE_CHOSEN.store(true, Ordering::Relaxed);
}

/// What rank 0 wants on all ranks from the start.
#[derive(Serialize, Deserialize)]
struct StartSettings {
    sync: Sync,
    /// Whether a trace or the time line of a page is wanted.
    time_lines: bool,
    watchdog_seconds: Option<u32>,
    /// See [`Runtime::replaced_from`].
    replaced_from: u32,
    checkpoint_seconds: Option<u32>,
    observe_messages: bool,
    sites: bool,
    files: places::Decided,
    measure: Measure,
}

impl StartSettings {
    /// Of this process's configuration: it is rank 0, and decides where files go.
    fn decide(runtime: &Runtime) -> Self {
        let configuration = runtime.own_configuration();
        // What is said of the transport by a variable need not be what is measured.
        let is_chosen = |variable: &str| variable == variables::NUMA && TRANSPORTS_ARE_CHOSEN.load(Ordering::Relaxed);
        let vain = without_effect(configuration, runtime.raw());
        for (variable, why) in vain.into_iter().filter(|(variable, _)| !is_chosen(variable)) {
            log::tell(&format!("rank 0: {variable} has no effect: {why}"));
        }
        let files = places::decide(runtime);
        outputs::try_paths(files);
        learned::begin(configuration);
        Self {
            sync: configuration.sync,
            time_lines: configuration.wants_time_lines(),
            watchdog_seconds: configuration.watchdog_seconds,
            replaced_from: configuration.replaced_from(),
            checkpoint_seconds: configuration.checkpoint_seconds,
            observe_messages: configuration.observe_messages,
            sites: configuration.sites,
            files: files.decided(),
            measure: Measure::wanted(runtime, configuration),
        }
    }
}

/// Starts what rank 0 wants on all ranks from the start. Collective over `MPI_COMM_WORLD`.
fn start(runtime: &'static Runtime) -> Result {
    let begin = || {
        bytes::meet(constants::comm_world(), runtime.world_rank, runtime.world_size)?;
        agreement::begin(runtime)
    };
    runtime.uncounted(|| silence::warn_if_slow(runtime, begin))?;
    // Rank 0 may want what this process alone did not.
    trace::start(runtime);
    let own = (runtime.world_rank == 0).then(|| StartSettings::decide(runtime));
    let settings = runtime.uncounted(|| bytes::of_first(constants::comm_world(), own.as_ref()))?;
    let StartSettings {
        sync, time_lines, watchdog_seconds, replaced_from, checkpoint_seconds, observe_messages, ..
    } = settings;
    runtime.uncounted(|| settings.measure.carry_out(runtime))?;
    runtime.replaced_from.store(replaced_from, Ordering::Relaxed);
    messages::start(runtime, observe_messages);
    if settings.sites {
        sites::start();
    }
    places::take_over(settings.files);
    if let Some(seconds) = watchdog_seconds {
        watch::start(runtime, seconds);
    }
    if let Some(seconds) = checkpoint_seconds {
        checkpoint::start(runtime, seconds);
    }
    synchronise::start(runtime, sync, time_lines)
}

/// What `MPI_Finalize` does besides `native`.
pub fn finalize(native: impl Fn() -> c_int) -> c_int {
    finish(|_| true);
    native()
}

/// Attribute callback: `MPI_COMM_SELF` is freed first thing in `MPI_Finalize`.
///
/// # Safety
/// Called by MPI.
unsafe extern "C" fn self_is_freed(_: MPI_Comm, _: c_int, _: *mut c_void, _: *mut c_void) -> c_int {
    finish(Runtime::is_everywhere);
    SUCCESS
}

/// What `MPI_Pcontrol` does: 0 off, 1 on, 2 forget what was recorded, 3 write a report now (on all ranks together);
/// with a name, 1 begins a region and -1 ends it.
pub fn pcontrol(level: c_int, name: impl FnOnce() -> Option<String>) {
    let Some(runtime) = runtime::get() else { return };
    match level {
        -1 => {
            if let Some(name) = name()
                && !regions::end(runtime, &name)
            {
                warn_once(&format!("MPI_Pcontrol(-1, \"{name}\"): no such region has begun on this thread"));
            }
        }
        0 => set_recording(runtime, false),
        1 => {
            if !runtime.recording.load(Ordering::Relaxed) {
                set_recording(runtime, true);
            }
            if let Some(name) = name() {
                regions::begin(runtime, &name, Said::ByPcontrol);
            }
        }
        2 => {
            // Communicators find out by themselves, when a call or a report next looks at them.
            let walk = registry::walk();
            VERSIONS.reset();
            walk.iter().for_each(|walk| walk.reset(runtime));
            runtime.cache.reset();
            synchronise::reset(runtime);
            REQUESTS.reset();
            messages::reset();
            regions::reset(runtime);
            sites::reset();
            recorded::reset(runtime);
        }
        3 => {
            report::report(runtime);
        }
        other => warn_once(&format!("MPI_Pcontrol({other}): unknown level; accepted: -1, 0, 1, 2, 3")),
    }
}

/// Warns of a mistake of the program, which other profilers may take for none, the first time that it is made.
fn warn_once(mistake: &str) {
    if log::is_new(mistake) {
        ::log::warn!("{mistake}");
    }
}

/// Switches recording. Calls that were seen before would go on as they did.
fn set_recording(runtime: &Runtime, on: bool) {
    runtime.recording.store(on, Ordering::Relaxed);
    messages::set_recording(on);
    recorded::set(runtime, on);
    VERSIONS.changed();
}

/// Tells the report and frees what is ours, once. Others are asked for what they know only if `are_there` says that all
/// ranks come here.
fn finish(are_there: impl Fn(&Runtime) -> bool) {
    let Some(runtime) = runtime::get() else { return };
    guard::enter(
        "MPI_Finalize",
        || SUCCESS,
        || {
            let written = if are_there(runtime) { report::last_report(runtime) } else { report::of_this_rank(runtime) };
            checkpoint::end(runtime, written);
            // SAFETY: in MPI_Finalize no collective is under way.
            unsafe { registry::release_all() };
            runtime.monitoring.iter().for_each(Monitoring::end);
            if let Err(error) = synchronise::release() {
                ::log::warn!("a private communicator could not be freed: {error}");
            }
            watch::end();
            partial::ignore();
            ending::ignore();
            runtime.finished.store(true, Ordering::Relaxed);
            last_communicators::invalidate_caches();
            SUCCESS
        },
    );
}
