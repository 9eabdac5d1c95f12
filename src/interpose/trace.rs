//! The per-call log of this rank, and its way into one trace file at rank 0.

use super::log;
use super::runtime::Runtime;
use crate::monitor::{CellId, DEFAULT_MEMORY_BYTES, Event, EventLog, RankRecord};
use crate::mpi::{Result, communicator, constants};
use crate::report::Trace;
use crate::selection::{Configuration, ReportFormat, ReportTarget};
use parking_lot::Mutex;
use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufWriter};
use std::os::raw::c_int;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

/// Calls per rank that the time line of a page shows; more could not be told apart.
const ON_PAGE: usize = 2000;
/// Events that travel to rank 0 at once: a mebibyte or so per rank.
const PIECE: usize = 1 << 14;

static THREADS: AtomicU32 = AtomicU32::new(0);

thread_local! {
    static THREAD: Cell<Option<u32>> = const { Cell::new(None) };
}

/// The log that the configuration asks for: everything within the memory bound for a trace, the last calls for a page.
pub fn log_for(configuration: &Configuration) -> Option<Mutex<EventLog>> {
    let page = |target: &ReportTarget| matches!(target, ReportTarget::File { format: ReportFormat::Html, .. });
    if configuration.trace.is_some() {
        Some(Mutex::new(EventLog::in_memory(DEFAULT_MEMORY_BYTES)))
    } else if configuration.report.iter().any(page) {
        Some(Mutex::new(EventLog::in_memory(ON_PAGE * Event::BYTES)))
    } else {
        None
    }
}

/// Logs one call; `root` is -1 where there is none.
pub fn push(
    runtime: &Runtime,
    events: &Mutex<EventLog>,
    place: usize,
    root: c_int,
    call: (CellId, usize),
    times: (u64, u64),
) {
    let thread = THREAD.get().unwrap_or_else(|| {
        let number = THREADS.fetch_add(1, Ordering::Relaxed);
        THREAD.set(Some(number));
        number
    });
    let (cell, bytes) = call;
    let (start, ticks) = times;
    let since = runtime.nanoseconds(start.saturating_sub(runtime.started.0));
    events.lock().push(Event {
        enter_unix_ns: runtime.started_unix_ns() + since,
        duration_ns: runtime.nanoseconds(ticks),
        bytes: bytes as u64,
        communicator: place as u32,
        cell: cell.number(),
        root,
        thread,
    });
}

/// Puts the last calls and the number of dropped ones into this rank's record.
pub fn fill(runtime: &Runtime, record: &mut RankRecord) {
    let Some(events) = &runtime.events else { return };
    let mut events = events.lock();
    record.dropped_events = events.dropped();
    match events.tail(ON_PAGE) {
        Ok(tail) => record.events = tail,
        Err(error) => log::tell(&format!("rank {}: calls could not be read back: {error}", runtime.world_rank)),
    }
}

/// Gathers all calls, rank by rank, and writes the trace at rank 0, where `records` holds all ranks' records.
/// Collective over `MPI_COMM_WORLD`. False if it could not be written.
///
/// # Errors
/// What PMPI returned.
pub fn write(runtime: &Runtime, path: Option<&Path>, records: &[RankRecord]) -> Result<bool> {
    let (world, own) = (constants::comm_world(), runtime.world_rank);
    let mut events = Vec::new();
    if let Some(log) = &runtime.events
        && let Err(error) = log.lock().for_each(0, |event| events.push(event))
    {
        log::tell(&format!("rank {own}: calls could not be read back: {error}"));
    }
    let lengths = communicator::allgather(world, runtime.world_size, [events.len() as u64])?;
    let origin = records.iter().map(|record| record.started_unix_ns).min().unwrap_or(0);
    let mut trace = path.map(|path| begin(path, origin));
    for (rank, [length]) in lengths.into_iter().enumerate() {
        with(&mut trace, |trace| trace.rank(&records[rank]));
        for piece in 0..(length as usize).div_ceil(PIECE) {
            let mut bytes = Vec::new();
            if rank == own {
                let events = &events[piece * PIECE..((piece + 1) * PIECE).min(events.len())];
                bytes = events.iter().flat_map(|event| event.to_bytes()).collect();
            }
            let gathered = communicator::gather_bytes(world, own, runtime.world_size, &bytes)?;
            with(&mut trace, |trace| {
                for event in gathered[rank].chunks_exact(Event::BYTES) {
                    let event = Event::from_bytes(event.try_into().expect("a chunk is an event"));
                    trace.event(&records[rank], &event)?;
                }
                Ok(())
            });
        }
    }
    Ok(match (trace, path) {
        (Some(trace), Some(path)) => match trace.and_then(Trace::end) {
            Ok(_) => true,
            Err(error) => {
                log::tell(&format!("the trace could not be written to {}: {error}", path.display()));
                false
            }
        },
        _ => true,
    })
}

fn begin(path: &Path, origin: u64) -> io::Result<Trace<BufWriter<File>>> {
    Trace::begin(BufWriter::new(File::create(path)?), origin)
}

/// Goes on with a trace that is being written at this rank and has not failed.
fn with<W: io::Write>(trace: &mut Option<io::Result<Trace<W>>>, action: impl FnOnce(&mut Trace<W>) -> io::Result<()>) {
    if let Some(kept) = trace
        && let Ok(open) = kept
        && let Err(error) = action(open)
    {
        *kept = Err(error);
    }
}
