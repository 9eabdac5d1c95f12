//! The per-call log of this rank, and its way into one trace file at rank 0.

use super::clocks::WallClock;
use super::outputs::{self, TraceFile};
use super::places;
use super::synchronise;
use crate::call::hooks::{self, CallLog, LoggedCall};
use crate::call::requests::Apart;
use crate::monitor::{CommunicatorRecord, CounterRecord, ElementsRecord, Event, EventLog, GapRecord, Parts};
use crate::monitor::{RankRecord, Shown};
use crate::mpi::bytes::{self, ToRoot};
use crate::mpi::{Result, communicator, constants, datatype, node, operation};
use crate::process::log;
use crate::process::runtime::Runtime;
use crate::report::Trace;
use crate::selection::Configuration;
use mpi_sys::{MPI_Datatype, MPI_Op};
use once_cell::sync::OnceCell;
use parking_lot::Mutex;
use std::cell::Cell;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;
use std::sync::atomic::{AtomicU16, Ordering};

/// Calls per rank that the time line of a page shows; more could not be told apart.
const ON_PAGE: Parts = Parts { first: 500, slowest: 500, last: 1000 };
/// Events that travel to rank 0 at once: a mebibyte or so per rank.
const PIECE: usize = 1 << 14;

static THREADS: AtomicU16 = AtomicU16::new(0);

thread_local! {
    static THREAD: Cell<Option<u16>> = const { Cell::new(None) };
    /// Handles of the last call's datatype and operation, if they are predefined, and their place.
    static LAST: Cell<(usize, usize, u16)> = const { Cell::new((0, 0, 0)) };
}

/// The log, if one is wanted.
static LOG: OnceCell<Log> = OnceCell::new();

/// The log of single calls.
struct Log {
    events: Mutex<EventLog>,
    /// What the calls were made with.
    elements: Mutex<ElementsTable>,
    /// Where this rank's last record has the counters that are kept apart.
    apart: Mutex<Apart>,
    /// What a nanosecond of the log was then in the system's, from when on.
    stretch: Mutex<Stretch>,
    /// Where the calls of this rank's last record are missing that there was no room for.
    lost: Mutex<Option<GapRecord>>,
}

/// Puts events where they were by the system's clock, which ranks of a node share, or by that of all nodes.
#[derive(Clone, Default)]
pub struct Stretch {
    from_unix_ns: u64,
    factor: f64,
    all: Option<WallClock>,
}

impl Stretch {
    /// As of now.
    pub fn of(runtime: &Runtime) -> Self {
        let (from_unix_ns, factor) = (runtime.started_unix_ns(), runtime.stretch());
        Self { from_unix_ns, factor, all: synchronise::wall() }
    }

    /// Of what was logged for `unix_ns`.
    pub fn moment(&self, unix_ns: u64) -> u64 {
        let since = unix_ns.saturating_sub(self.from_unix_ns);
        match &self.all {
            Some(all) => all.at(since, self.factor),
            None => self.from_unix_ns + (since as f64 * self.factor) as u64,
        }
    }

    fn at(&self, event: Event) -> Event {
        // By its end, which is before the next one's beginning however that is stretched.
        let (enter, end) = (self.moment(event.enter_unix_ns), self.moment(event.enter_unix_ns + event.duration_ns));
        Event { enter_unix_ns: enter, duration_ns: end.saturating_sub(enter), ..event }
    }
}

/// Starts the log, if the configuration asks for one and there is none yet.
pub fn start(runtime: &Runtime) {
    if is_on() {
        return;
    }
    let Some(events) = log_for(&runtime.configuration_here()) else {
        return;
    };
    hooks::set_log(LOG.get_or_init(|| Log {
        events,
        elements: Mutex::default(),
        apart: Mutex::default(),
        stretch: Mutex::default(),
        lost: Mutex::default(),
    }));
}

/// Whether calls are logged.
pub fn is_on() -> bool {
    LOG.get().is_some()
}

impl CallLog for Log {
    #[inline]
    fn elements(&self, datatype: MPI_Datatype, op: MPI_Op) -> u16 {
        if datatype == constants::datatype_null() {
            return 0;
        }
        let handles = (datatype.0 as usize, op.0 as usize);
        let (last_datatype, last_op, place) = LAST.get();
        if (last_datatype, last_op) == handles && place > 0 {
            return place;
        }
        find_elements(&self.elements, datatype, op)
    }

    fn push(&self, runtime: &Runtime, call: LoggedCall) {
        push(runtime, &self.events, call);
    }
}

/// The log that the configuration asks for: everything within the memory bound for a trace, some calls for a page.
fn log_for(configuration: &Configuration) -> Option<Mutex<EventLog>> {
    if configuration.trace.is_some() {
        Some(Mutex::new(for_trace(configuration)))
    } else if configuration.wants_page() {
        Some(Mutex::new(EventLog::for_page(ON_PAGE)))
    } else {
        None
    }
}

/// A quarter of the memory, and a file behind it if there may be one.
fn for_trace(configuration: &Configuration) -> EventLog {
    let memory = configuration.memory / 4;
    if configuration.spill == 0 {
        return EventLog::in_memory(memory);
    }
    match nameless_file() {
        Ok(file) => EventLog::spilling(memory, file, configuration.spill),
        Err(error) => {
            // The others of the node most often have the same folder.
            if node::is_first() {
                let (host, folder) = (node::host(), std::env::temp_dir());
                log::tell(&format!(
                    "on {host} calls are kept in memory only: no file in {}: {error}",
                    folder.display()
                ));
            }
            EventLog::in_memory(memory)
        }
    }
}

/// A file in the folder for temporary files that is gone when the process is, however that ends.
fn nameless_file() -> io::Result<File> {
    let path = std::env::temp_dir().join(format!("collie-{}.calls", std::process::id()));
    let file = File::options().read(true).write(true).create_new(true).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

/// Datatypes and operations that calls were made with, by their place in the record.
#[derive(Debug)]
struct ElementsTable {
    /// Of predefined handles, which never mean something else.
    predefined: HashMap<(usize, usize), u16>,
    places: HashMap<ElementsRecord, u16>,
    records: Vec<ElementsRecord>,
}

impl Default for ElementsTable {
    /// With the entry that stands for nothing known.
    fn default() -> Self {
        Self { predefined: HashMap::new(), places: HashMap::new(), records: vec![ElementsRecord::default()] }
    }
}

impl ElementsTable {
    fn place(&mut self, record: ElementsRecord) -> u16 {
        if let Some(place) = self.places.get(&record) {
            return *place;
        }
        // Further texts than numbers: not known.
        let Ok(place) = u16::try_from(self.records.len()) else { return 0 };
        self.records.push(record.clone());
        self.places.insert(record, place);
        place
    }
}

#[cold]
fn find_elements(elements: &Mutex<ElementsTable>, datatype: MPI_Datatype, op: MPI_Op) -> u16 {
    let handles = (datatype.0 as usize, op.0 as usize);
    let reduces = op != constants::op_null();
    // Other handles may mean something else by the next call.
    let lasts = datatype::is_predefined(datatype) && (!reduces || operation::is_predefined(op));
    let mut table = elements.lock();
    let known = if lasts { table.predefined.get(&handles).copied() } else { None };
    let place = known.unwrap_or_else(|| {
        let operation = if reduces { operation::name(op) } else { "" };
        table.place(ElementsRecord { datatype: datatype::name(datatype), operation: operation.to_owned() })
    });
    if lasts {
        table.predefined.insert(handles, place);
        LAST.set((handles.0, handles.1, place));
    }
    place
}

/// Logs one call.
pub fn push(runtime: &Runtime, events: &Mutex<EventLog>, call: LoggedCall) {
    let thread = THREAD.get().unwrap_or_else(|| {
        let number = THREADS.fetch_add(1, Ordering::Relaxed);
        THREAD.set(Some(number));
        number
    });
    let LoggedCall { place, root, counter, bytes, elements, times: (start, ticks) } = call;
    let since = runtime.nanoseconds(start.saturating_sub(runtime.started.0));
    events.lock().push(Event {
        enter_unix_ns: runtime.started_unix_ns() + since,
        duration_ns: runtime.nanoseconds(ticks),
        bytes: bytes as u64,
        communicator: place as u32,
        counter,
        root,
        thread,
        elements,
    });
}

/// Puts the calls of the time line, where others are missing, and the number of dropped ones into this rank's record,
/// whose counters of tables apart are where `apart` says.
pub fn fill(runtime: &Runtime, record: &mut RankRecord, apart: Apart) {
    let Some(log) = LOG.get() else { return };
    let stretch = Stretch::of(runtime);
    let mut events = log.events.lock();
    record.dropped_events = events.dropped();
    let gap = |(from, to_unix_ns): (Option<u64>, u64), calls| GapRecord {
        from_unix_ns: from.map_or(record.started_unix_ns, |from| stretch.moment(from)),
        to_unix_ns: stretch.moment(to_unix_ns),
        calls,
    };
    let complain = |error| log::tell(&format!("rank {}: calls could not be read back: {error}", runtime.world_rank));
    match events.gap() {
        Ok(between) => *log.lost.lock() = between.map(|between| gap(between, events.dropped())),
        Err(error) => complain(error),
    }
    record.elements.clone_from(&log.elements.lock().records);
    match events.shown(ON_PAGE) {
        Ok(Shown { events, missing, between }) => {
            record.gap = between.map(|between| gap(between, missing));
            record.events = events.into_iter().map(|event| stretch.at(placed(event, &apart))).collect();
        }
        Err(error) => complain(error),
    }
    *log.apart.lock() = apart;
    *log.stretch.lock() = stretch;
}

/// The event with the number that its counter has in this rank's record.
fn placed(event: Event, apart: &Apart) -> Event {
    let counter = apart.get(&(event.communicator as usize, event.counter)).map_or(event.counter, |place| *place as u32);
    Event { counter, ..event }
}

/// Gathers all calls, rank by rank and piece by piece, and writes the trace at rank 0; where that fails on the way,
/// once more and to another place. Collective over `MPI_COMM_WORLD`. False if it is not where it should be, which is told.
///
/// # Errors
/// What PMPI returned.
pub fn write(runtime: &Runtime, way: &ToRoot, path: Option<&Path>, record: &RankRecord) -> Result<bool> {
    let world = constants::comm_world();
    let kept = LOG.get().map_or(0, |log| log.events.lock().len());
    let lengths = communicator::allgather(world, runtime.world_size, [kept])?;
    let [origin] = communicator::least(world, [record.started_unix_ns])?;
    let lengths = lengths.into_iter().map(|[length]| length as usize).collect();
    let (files, calls) = (places::files(runtime), AllCalls { runtime, way, record, lengths, origin });
    let pass = |begun: Option<io::Result<TraceFile>>| {
        let whole = calls.gather(begun)?;
        let finish = |path| whole.map(|whole| whole?.finish(files, path));
        Ok(path.and_then(finish))
    };
    let written = pass(path.map(|path| outputs::begin_trace(files, path)))?;
    let failed = written.as_ref().and_then(|written| written.as_ref().err()).map(ToString::to_string);
    // The disk may be full by now; the ranks still have all their calls.
    let mut once_more = vec![u8::from(failed.is_some())];
    bytes::broadcast(world, 0, &mut once_more)?;
    if once_more != [1] {
        return Ok(!matches!(written, Some(Ok(false))));
    }
    let failed = failed.unwrap_or_default();
    let written = pass(path.map(|path| outputs::begin_trace_elsewhere(path, &failed)))?;
    if let (Some(path), Some(Err(error))) = (path, written) {
        log::tell(&format!(
            "the trace could not be written to {}: {failed}, nor to {}: {error}; there is none",
            path.display(),
            outputs::stand_in(path).display()
        ));
    }
    Ok(false)
}

/// The calls of all ranks, on their way to rank 0.
struct AllCalls<'a> {
    runtime: &'a Runtime,
    way: &'a ToRoot,
    record: &'a RankRecord,
    /// How many each rank has kept.
    lengths: Vec<usize>,
    /// When the first rank started.
    origin: u64,
}

impl AllCalls<'_> {
    /// Writes them into the file that rank 0 has begun, and gives it back when all are in it. Collective over
    /// `MPI_COMM_WORLD`.
    fn gather(&self, file: Option<io::Result<TraceFile>>) -> Result<Option<io::Result<TraceFile>>> {
        let (own, at_root) = (self.runtime.world_rank, file.is_some());
        let mut trace = file.map(|file| Trace::begin(BufWriter::new(file?), self.origin));
        for (rank, length) in self.lengths.iter().enumerate() {
            let names = if rank == own { names(self.record).encode() } else { Vec::new() };
            let names = self.way.from(rank, &names)?;
            let names = at_root.then(|| RankRecord::decode(&names).map_err(io::Error::other));
            with(&mut trace, |trace| trace.rank(known(&names)?));
            for piece in 0..length.div_ceil(PIECE) {
                let mut bytes = Vec::new();
                if rank == own {
                    bytes = read_piece(self.runtime, piece).iter().flat_map(|event| event.to_bytes()).collect();
                }
                let events = self.way.from(rank, &bytes)?;
                with(&mut trace, |trace| {
                    for event in events.as_chunks().0 {
                        trace.event(known(&names)?, &Event::from_bytes(event))?;
                    }
                    Ok(())
                });
            }
        }
        Ok(trace.map(|trace| trace?.end()?.into_inner().map_err(io::IntoInnerError::into_error)))
    }
}

/// The part of a record that the names of its calls are in, and where calls are missing from the log.
fn names(record: &RankRecord) -> RankRecord {
    let named = |communicator: &CommunicatorRecord| CommunicatorRecord {
        identity: communicator.identity.clone(),
        name: communicator.name.clone(),
        counters: communicator.counters.iter().map(CounterRecord::without_durations).collect(),
        ..CommunicatorRecord::default()
    };
    RankRecord {
        rank: record.rank,
        host: record.host.clone(),
        elements: record.elements.clone(),
        gap: LOG.get().and_then(|log| *log.lost.lock()),
        communicators: record.communicators.iter().map(named).collect(),
        ..RankRecord::default()
    }
}

/// The record that events are written with, at rank 0.
fn known(names: &Option<io::Result<RankRecord>>) -> io::Result<&RankRecord> {
    match names {
        Some(Ok(names)) => Ok(names),
        Some(Err(error)) => Err(io::Error::other(error.to_string())),
        None => Err(io::Error::other("rank 0 only writes")),
    }
}

/// So many calls of this rank's log; few enough that the file behind it need not fit into memory.
fn read_piece(runtime: &Runtime, piece: usize) -> Vec<Event> {
    let Some(log) = LOG.get() else { return Vec::new() };
    let events = log.events.lock().part((piece * PIECE) as u64, PIECE).unwrap_or_else(|error| {
        log::tell(&format!("rank {}: calls could not be read back: {error}", runtime.world_rank));
        Vec::new()
    });
    let (apart, stretch) = (log.apart.lock(), log.stretch.lock());
    events.into_iter().map(|event| stretch.at(placed(event, &apart))).collect()
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
