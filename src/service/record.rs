//! What this rank has to tell.

use super::combine::Combined;
use super::trace::{self, Stretch};
use super::{places, sites, synchronise, under_way};
use crate::call::attachment::{Seen, Visit};
use crate::call::hooks::LoggedCall;
use crate::call::requests::REQUESTS;
use crate::call::trials::Trials;
use crate::call::{messages, regions, registry};
use crate::monitor::{
    Bucket, CacheRecord, CacheUsage, CommunicatorRecord, Event, EventLog, JobRecord, Key, LimitsRecord, Overflow,
    OverflowRecord, PlayedRecord, RankRecord, Table, Traffic, UnderWayRecord, join_learned,
};
use crate::mpi::node;
use crate::operation::Operation;
use crate::process::runtime::Runtime;
use crate::process::{library, recorded};
use crate::run::Counts;
use crate::selection::{Mode, Sync, Transport};
use parking_lot::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

/// What this rank has to tell without asking another.
pub fn of_this_rank_alone(runtime: &Runtime, visit: Visit) -> RankRecord {
    let record = of_this_rank(runtime, Vec::new(), visit, Moment::now(runtime));
    let mut job = job(runtime);
    if synchronise::mode() == Sync::Clock {
        // Only all ranks together can tell who waited for whom.
        job.sync.clear();
    }
    RankRecord { job: Some(job), ..record }
}

/// What is the same for all ranks, as far as this one knows.
fn job(runtime: &Runtime) -> JobRecord {
    let configuration = runtime.configuration_here();
    JobRecord {
        collie_version: env!("CARGO_PKG_VERSION").to_owned(),
        // MPICH's has a tab in it.
        mpi_library: library::version()
            .lines()
            .next()
            .unwrap_or_default()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" "),
        // Arguments may be any bytes.
        command: std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" "),
        mode: configuration.mode.name().to_owned(),
        reproducible: configuration.reproducible,
        sync: match synchronise::mode() {
            Sync::Off => String::new(),
            sync => sync.name().to_owned(),
        },
        ranks: runtime.world_size as u32,
        id: places::files(runtime).job.clone(),
        limits: limits(runtime),
        network: runtime.network().cloned(),
    }
}

/// Beyond which lengths messages within a node travel in pieces, if any of ours do; nothing where they are to go
/// through shared memory.
fn limits(runtime: &Runtime) -> Option<LimitsRecord> {
    let configuration = runtime.configuration_here();
    if configuration.mode == Mode::Native || configuration.transport != Transport::Messages {
        return None;
    }
    let limits = configuration.limits_within_node(runtime.limits(), runtime.oversubscribed());
    let measured = runtime.limits_took().filter(|_| !configuration.knows_limits());
    let bytes: Vec<u64> = limits.bytes().map(|bytes| bytes as u64).collect();
    let ways = limits.limits().map(|limit| limit.way.word().to_owned()).collect();
    let longest = limits.limits().map(|limit| limit.longest() as u64).collect();
    (!bytes.is_empty()).then_some(LimitsRecord {
        bytes,
        longest,
        ways,
        measured_seconds: measured.map(|(_, seconds)| seconds),
        measured_with: measured.map(|(rank, _)| rank),
    })
}

/// When this rank came to its report.
#[derive(Clone, Copy)]
pub struct Moment {
    ticks: u64,
    unix_ns: u64,
}

impl Moment {
    /// That of now.
    pub fn now(runtime: &Runtime) -> Self {
        let unix_ns = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
        Self { ticks: runtime.clock.raw(), unix_ns }
    }
}

/// What this rank has to tell of the run until `now`. `combined` is what all ranks together say of its calls.
pub fn of_this_rank(runtime: &Runtime, combined: Vec<Combined>, visit: Visit, now: Moment) -> RankRecord {
    let mut traffic = [(); 2].map(|()| Traffic::new(runtime.world_size));
    let (mut overflow, mut played) = (Overflow::default(), Counts::default());
    // Then MPI may be in the middle of something, with its locks held, and is asked nothing.
    let is_any_time = visit == Visit::AnyTime;
    let (mut communicators, mut away, mut learned) = (Vec::new(), UnderWayRecord::default(), Vec::new());
    // Held until those that are gone are counted too, so that one that goes meanwhile is counted once.
    if let Some(walk) = registry::walk() {
        communicators = vec![CommunicatorRecord::default(); walk.places()];
        let retired = walk.retired();
        for (place, record) in &retired.records {
            if let Some(slot) = communicators.get_mut(*place) {
                slot.clone_from(record);
            }
        }
        traffic.iter_mut().zip(&retired.traffic).for_each(|(all, retired)| all.add(retired));
        (overflow, played) = (retired.overflow, retired.played);
        learned.clone_from(&retired.learned);
        drop(retired);
        let add = |Seen { attached, is_under_way, is_sending, is_outdated }: Seen| {
            let communicator = &attached.communicator;
            if is_under_way {
                under_way::add(&mut away, runtime, communicator, is_sending, is_any_time);
            }
            if communicator.facts.rank == 0 {
                join_learned(&mut learned, attached.trials.iter().flat_map(Trials::records));
            }
            if is_outdated {
                return;
            }
            if let Some(slot) = communicators.get_mut(communicator.tally.place)
                && let Some(record) = communicator.record(runtime, is_any_time)
            {
                *slot = record;
            }
            overflow.add(communicator.tally.table.overflow());
            if !is_sending {
                played.add(*communicator.tally.played.borrow());
                communicator.count_traffic(&mut traffic);
            }
        };
        // SAFETY: whoever asks says when. What was learned is no matter of a call that is away.
        let left_out = unsafe { walk.each(visit, add) };
        away.left_out = left_out as u32;
    }
    let (apart, without_room) = REQUESTS.complete(&mut communicators, runtime.nanoseconds_per_tick);
    overflow.add(without_room);
    combined.into_iter().for_each(|combined| combined.complete(&mut communicators));
    let job = (runtime.world_rank == 0).then(|| job(runtime));
    let began = runtime.run_began();
    let stretch = runtime.stretch();
    let elapsed = |ticks| (runtime.nanoseconds(ticks) as f64 * stretch) as u64;
    let mut record = RankRecord {
        rank: runtime.world_rank as u32,
        host: node::host(),
        pid: std::process::id(),
        oversubscribed: runtime.oversubscribed(),
        // By the same clock as the events of the time line.
        started_unix_ns: Stretch::of(runtime)
            .moment(runtime.started_unix_ns() + runtime.nanoseconds(began.saturating_sub(runtime.started.0))),
        ended_unix_ns: now.unix_ns,
        run_ns: elapsed(now.ticks.saturating_sub(began)),
        init_ns: runtime.init_took().map(|took| took.as_nanos() as u64),
        recorded_ns: recorded::ticks(runtime, now.ticks).map(elapsed),
        overhead_ns_per_call: overhead(runtime),
        job,
        communicators,
        traffic: traffic[0].records(),
        shared_traffic: traffic[1].records(),
        clock: synchronise::clock(),
        overflow: OverflowRecord {
            calls: overflow.calls,
            bytes: overflow.bytes,
            total_ns: runtime.nanoseconds(overflow.ticks),
        },
        played: PlayedRecord { calls: played.calls, kept: played.kept, actions: played.actions },
        cache: cache_record(runtime),
        messages: messages::are_wanted().then(|| messages::records(runtime)),
        regions: regions::records(runtime),
        sites: sites::records(runtime),
        learned,
        under_way: away,
        ..RankRecord::default()
    };
    trace::fill(runtime, &mut record, apart);
    record
}

fn cache_record(runtime: &Runtime) -> CacheRecord {
    let CacheUsage { most_bytes, bound, evicted, refused, .. } = runtime.cache.usage();
    CacheRecord { most_bytes, bound, evicted, refused }
}

/// Nanoseconds that timing and recording add to a blocking call on predefined types that came before, which takes the
/// fast path: others take longer. Two looks at the clock, one entry, and one line of the log where calls are logged;
/// measured here and now, several times, since the rank may lose its core in one of them.
fn overhead(runtime: &Runtime) -> f64 {
    const TIMES: u32 = 10;
    const ROUNDS: u32 = 100;
    let mut table = Table::new();
    let label = table.label("");
    let function = Operation::Bcast.into();
    let bucket = Bucket::of(8);
    let counter = table.counter(Key { function, bucket, algorithm: label, decided_by: label });
    let log = trace::is_on().then(|| Mutex::new(EventLog::in_memory((TIMES * ROUNDS) as usize * Event::BYTES)));
    let mut rounds = || {
        let start = runtime.clock.raw();
        for _ in 0..ROUNDS {
            let enter = runtime.clock.raw();
            let ticks = runtime.clock.raw() - enter;
            table.record(std::hint::black_box(counter), 8, ticks);
            if let Some(log) = &log {
                let times = (enter, ticks);
                let counter = counter.number();
                trace::push(runtime, log, LoggedCall { place: 0, root: -1, counter, bytes: 8, elements: 0, times });
            }
        }
        runtime.clock.raw() - start
    };
    let least = (0..TIMES).map(|_| rounds()).min().unwrap_or(0);
    runtime.nanoseconds(least) as f64 / f64::from(ROUNDS)
}
