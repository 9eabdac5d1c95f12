//! The start and the end of MPI, and what is told at the end.

use super::places::Places;
use super::synchronise::Settled;
use super::{ending, outputs, partial, synchronise, trace, watch};
use crate::communicator::state::{self, Visit};
use crate::entry::control::VERSIONS;
use crate::monitor::{
    Bounds, CacheRecord, CacheUsage, CommunicatorRecord, Event, EventLog, JobRecord, Merged, Overflow, OverflowRecord,
    PlayedRecord, RankRecord, Summary, Traffic, TrafficRecord,
};
use crate::mpi::bytes::{self, ToRoot};
use crate::mpi::{Error, Result, constants, family, node};
use crate::process::monitoring::Monitoring;
use crate::process::runtime::{self, Runtime};
use crate::process::{guard, last_communicators, log};
use crate::run::Counts;
use crate::selection::{Mode, SELF_TEST, Sync};
use mpi_sys::MPI_Comm;
use parking_lot::Mutex;
use std::ffi::{CStr, c_char};
use std::os::raw::{c_int, c_void};
use std::sync::atomic::Ordering;
use std::time::{SystemTime, UNIX_EPOCH};

const SUCCESS: c_int = mpi_sys::MPI_SUCCESS as c_int;

/// What `MPI_Init` and `MPI_Init_thread` do besides `native`.
pub fn init(native: impl Fn() -> c_int) -> c_int {
    refuse_other_family();
    let code = native();
    if code == SUCCESS {
        guard::enter(
            "MPI_Init",
            || SUCCESS,
            || {
                // Only rank 0's configuration counts, so only rank 0 has to be right about it from the start.
                if let Some(runtime) = runtime::start() {
                    if runtime.world_rank == 0 {
                        runtime.own_configuration();
                    }
                    if let Err(error) = start(runtime) {
                        log::tell(&format!("rank {}: not all that was asked for is on: {error}", runtime.world_rank));
                    }
                    partial::listen(runtime);
                    ending::listen(runtime);
                }
                SUCCESS
            },
        );
    }
    code
}

/// Starts what rank 0 wants on all ranks from the start. Collective over `MPI_COMM_WORLD`.
fn start(runtime: &'static Runtime) -> Result {
    let mut wanted = Vec::new();
    if runtime.world_rank == 0 {
        let configuration = runtime.own_configuration();
        wanted.push(configuration.sync as u8);
        wanted.extend(configuration.watchdog_seconds.unwrap_or(0).to_le_bytes());
        wanted.extend(configuration.replaced_from().to_le_bytes());
        let files = runtime.files.get_or_init(|| Places::of(runtime).beside_others());
        outputs::try_paths(files);
        wanted.extend(files.encode());
    }
    runtime.uncounted(|| bytes::broadcast(constants::comm_world(), 0, &mut wanted))?;
    let number = |at: usize| u32::from_le_bytes([wanted[at], wanted[at + 1], wanted[at + 2], wanted[at + 3]]);
    let (sync, seconds, replaced_from) = (wanted[0], number(1), number(5));
    runtime.replaced_from.store(replaced_from, Ordering::Relaxed);
    runtime.files.get_or_init(|| Places::decode(&wanted[9..]));
    if seconds > 0 {
        watch::start(runtime, seconds);
    }
    synchronise::start(runtime, Sync::ALL[usize::from(sync)])
}

/// What `MPI_Finalize` does besides `native`.
pub fn finalize(native: impl Fn() -> c_int) -> c_int {
    finish();
    native()
}

/// Attribute callback: `MPI_COMM_SELF` is freed first thing in `MPI_Finalize`.
///
/// # Safety
/// Called by MPI.
pub unsafe extern "C" fn self_is_freed(_: MPI_Comm, _: c_int, _: *mut c_void, _: *mut c_void) -> c_int {
    finish();
    SUCCESS
}

/// What `MPI_Pcontrol` does: 0 off, 1 on, 2 forget what was recorded, 3 write a report now (on all ranks together).
pub fn pcontrol(level: c_int) {
    let Some(runtime) = runtime::get() else { return };
    match level {
        0 => set_recording(runtime, false),
        1 => set_recording(runtime, true),
        2 => {
            // Communicators find out by themselves, when a call or a report next looks at them.
            let _states = runtime.states.lock();
            VERSIONS.reset();
            runtime.retired.lock().clear();
            *runtime.retired_overflow.lock() = Overflow::default();
            *runtime.retired_played.lock() = Counts::default();
            runtime.cache.reset();
            runtime.retired_traffic.lock().reset();
            runtime.synchronisation.reset();
            runtime.requests.reset();
        }
        3 => {
            report(runtime);
        }
        other => ::log::warn!("MPI_Pcontrol({other}) is not known; accepted: 0, 1, 2, 3"),
    }
}

/// Switches recording. Calls that were seen before would go on as they did.
fn set_recording(runtime: &Runtime, on: bool) {
    runtime.recording.store(on, Ordering::Relaxed);
    VERSIONS.changed();
}

/// Tells the report and frees what is ours, once.
fn finish() {
    let Some(runtime) = runtime::get() else { return };
    guard::enter(
        "MPI_Finalize",
        || SUCCESS,
        || {
            report(runtime);
            let states = std::mem::take(&mut *runtime.states.lock());
            // SAFETY: in MPI_Finalize no collective is under way.
            unsafe {
                state::each(&states, Visit::BetweenCalls, |state| {
                    if let Err(error) = state.release(runtime) {
                        ::log::warn!("a private communicator could not be freed: {error}");
                    }
                });
            }
            *runtime.states.lock() = states;
            runtime.monitoring.iter().for_each(Monitoring::end);
            if let Err(error) = runtime.synchronisation.release() {
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

/// What rank 0 wants of the ranks: bits of the first byte that it sends.
const REPORT: u8 = 1;
const TRACE: u8 = 2;

/// Gathers what all ranks recorded and writes it at rank 0. Collective over `MPI_COMM_WORLD`. False if it could not be
/// written; nothing of the program's depends on that.
pub fn report(runtime: &Runtime) -> bool {
    // Counted before the gathering adds to it.
    let native = runtime.monitoring.as_ref().map(Monitoring::records).unwrap_or_default();
    runtime.uncounted(|| gather_and_write(runtime, native)).unwrap_or_else(|error| {
        log::tell(&format!("rank {}: the report could not be gathered: {error}", runtime.world_rank));
        false
    })
}

fn gather_and_write(runtime: &Runtime, native: [Vec<TrafficRecord>; 2]) -> Result<bool> {
    let begun = runtime.clock.raw();
    let (world, at_root) = (constants::comm_world(), runtime.world_rank == 0);
    let mut wanted = vec![0u8];
    if at_root {
        let files = runtime.files();
        wanted[0] |= if files.report.is_empty() { 0 } else { REPORT };
        wanted[0] |= if files.trace.is_some() { TRACE } else { 0 };
    }
    bytes::broadcast(world, 0, &mut wanted)?;
    if wanted[0] == 0 {
        return Ok(true);
    }
    let [native_traffic, native_collectives] = native;
    let settled = synchronise::settle(runtime)?;
    let (record, left_out) = record(runtime, settled, Visit::BetweenCalls);
    if left_out > 0 {
        let rank = runtime.world_rank;
        log::tell(&format!("rank {rank}: the report leaves out {left_out} communicators that have a call under way"));
    }
    let record = RankRecord { native_traffic, native_collectives, ..record };
    let way = ToRoot::open(runtime.world_rank, runtime.world_size)?;
    let mut written = true;
    if wanted[0] & TRACE != 0 {
        let path = if at_root { runtime.files().trace.as_deref() } else { None };
        let path = path.map(|path| runtime.files().now(path));
        written = trace::write(runtime, &way, path.as_deref(), &record)?;
    }
    let all = if wanted[0] & REPORT != 0 { merged(&way, record)? } else { None };
    way.close()?;
    if let Some(all) = all {
        let mut summary = all.finish();
        let taken = runtime.nanoseconds(runtime.clock.raw().saturating_sub(begun));
        summary.overhead.finalize_seconds = Some(taken as f64 * 1e-9);
        written &= write(runtime, &summary);
    }
    Ok(written)
}

/// What all ranks recorded, at rank 0. Collective.
fn merged(way: &ToRoot, record: RankRecord) -> Result<Option<Merged>> {
    way.merged(Merged::of(record, &Bounds::REPORT), Merged::encode, |all, bytes| {
        let theirs = Merged::decode(&bytes).map_err(|error| {
            log::tell(&error.to_string());
            Error(mpi_sys::MPI_ERR_OTHER as c_int)
        })?;
        drop(bytes);
        all.add(theirs, &Bounds::REPORT);
        Ok(())
    })
}

/// What this rank has to tell without asking another; and the number of communicators that have to be left out.
pub fn record_alone(runtime: &Runtime, visit: Visit) -> (RankRecord, usize) {
    let (record, left_out) = record(runtime, Vec::new(), visit);
    (RankRecord { job: Some(job(runtime)), ..record }, left_out)
}

/// What is the same for all ranks, as far as this one knows.
fn job(runtime: &Runtime) -> JobRecord {
    JobRecord {
        collie_version: env!("CARGO_PKG_VERSION").to_owned(),
        mpi_library: library_version().lines().next().unwrap_or_default().to_owned(),
        command: std::env::args().collect::<Vec<_>>().join(" "),
        mode: match runtime.configuration.as_ref().map_or(Mode::default(), |configuration| configuration.mode) {
            Mode::Replace => "replace",
            Mode::Native => "native",
            Mode::Compare => "compare",
            Mode::CompareSelf => SELF_TEST,
            Mode::Verify => "verify",
        }
        .to_owned(),
        sync: match runtime.synchronisation.mode() {
            Sync::Off => String::new(),
            sync => sync.name().to_owned(),
        },
    }
}

/// What this rank has to tell, and the number of communicators that have to be left out.
fn record(runtime: &Runtime, settled: Vec<Settled>, visit: Visit) -> (RankRecord, usize) {
    // Held until those that are gone are counted too, so that one that goes meanwhile is counted once.
    let states = runtime.states.lock();
    let mut communicators = vec![CommunicatorRecord::default(); runtime.places.load(Ordering::Relaxed)];
    for (place, record) in runtime.retired.lock().iter() {
        if let Some(slot) = communicators.get_mut(*place) {
            slot.clone_from(record);
        }
    }
    let mut traffic = Traffic::new(runtime.world_size);
    traffic.add(&runtime.retired_traffic.lock());
    let mut beyond = *runtime.retired_overflow.lock();
    let mut played = *runtime.retired_played.lock();
    // SAFETY: whoever asks says when.
    let left_out = unsafe {
        state::each(&states, visit, |state| {
            if let Some(slot) = communicators.get_mut(state.place)
                && let Some(record) = state.record(runtime)
            {
                *slot = record;
            }
            beyond.add(state.table.overflow());
            played.add(*state.played.get_mut());
            state.count_traffic(&mut traffic);
        })
    };
    drop(states);
    runtime.requests.complete(&mut communicators, runtime.nanoseconds_per_tick);
    settled.into_iter().for_each(|settled| settled.complete(&mut communicators));
    let job = (runtime.world_rank == 0).then(|| job(runtime));
    let mut record = RankRecord {
        rank: runtime.world_rank as u32,
        host: node::host(),
        pid: std::process::id(),
        started_unix_ns: runtime.started_unix_ns(),
        ended_unix_ns: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64),
        run_ns: runtime.nanoseconds(runtime.clock.raw() - runtime.started.0),
        overhead_ns_per_call: overhead(runtime),
        job,
        communicators,
        traffic: traffic.records(),
        clock: runtime.synchronisation.clock(),
        beyond: OverflowRecord {
            calls: beyond.calls,
            bytes: beyond.bytes,
            total_ns: runtime.nanoseconds(beyond.ticks),
        },
        played: PlayedRecord { calls: played.calls, kept: played.kept, actions: played.actions },
        cache: cache_record(runtime),
        ..RankRecord::default()
    };
    trace::fill(runtime, &mut record);
    (record, left_out)
}

fn cache_record(runtime: &Runtime) -> CacheRecord {
    let CacheUsage { most_bytes, bound, evicted, refused, .. } = runtime.cache.usage();
    CacheRecord { most_bytes, bound, evicted, refused }
}

/// Writes to every target; one line on stderr for each that fails.
fn write(runtime: &Runtime, summary: &Summary) -> bool {
    let mut written = true;
    for target in &runtime.files().report {
        written &= outputs::write_report(runtime, target, summary);
    }
    written
}

/// Nanoseconds that timing and recording add to a call: two looks at the clock, one entry, and one line of the log where
/// calls are logged; measured here and now.
fn overhead(runtime: &Runtime) -> f64 {
    const ROUNDS: u32 = 1000;
    let mut table = crate::monitor::Table::new();
    let label = table.label("");
    let function = crate::algorithm::Operation::Bcast.into();
    let bucket = crate::monitor::Bucket::of(8);
    let cell = table.cell(crate::monitor::Key { function, bucket, algorithm: label, decided_by: label });
    let log = runtime.events.as_ref().map(|_| Mutex::new(EventLog::in_memory(ROUNDS as usize * Event::BYTES)));
    let start = runtime.clock.raw();
    for _ in 0..ROUNDS {
        let enter = runtime.clock.raw();
        let ticks = runtime.clock.raw() - enter;
        table.record(std::hint::black_box(cell), 8, ticks);
        if let Some(log) = &log {
            trace::push(runtime, log, 0, -1, (cell, 8, 0), (enter, ticks));
        }
    }
    runtime.nanoseconds(runtime.clock.raw() - start) as f64 / f64::from(ROUNDS)
}

/// The MPI library's own words on what it is; may be asked before `MPI_Init`.
fn library_version() -> String {
    // Not the constant of the MPI built for: another family's is up to 8192, and this is asked to find out which it is.
    let mut text = vec![0 as c_char; 1 << 14];
    let mut length = 0;
    // SAFETY: the buffer has the room that MPI asks for and ends in a zero.
    let text = unsafe {
        mpi_sys::PMPI_Get_library_version(text.as_mut_ptr(), &mut length);
        CStr::from_ptr(text.as_ptr())
    };
    text.to_string_lossy().into_owned()
}

/// Ends the process with a clear word if the program's MPI is not of the family that this library was built for: the
/// handles of the two have nothing in common.
fn refuse_other_family() {
    let found = library_version();
    let is_open_mpi = found.contains("Open MPI");
    if is_open_mpi != family::IS_OPEN_MPI {
        let built_for = if is_open_mpi { "MPICH" } else { "Open MPI" };
        log::tell(&format!(
            "this libcollie.so was built for {built_for}, but the program runs on {}; \
             preload the one of its own family (dist/openmpi/lib or dist/mpich/lib)",
            found.lines().next().unwrap_or("another MPI")
        ));
        std::process::exit(78);
    }
}
