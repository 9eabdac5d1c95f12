//! What a rank hands in at the end.

use super::units::sum_of_known;
use super::{Bucket, Event, FoldKind, Function, LearnedRecord, RegionRecord, SiteRecord, Steps, UnderWayRecord};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Everything that one rank tells. Times in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RankRecord {
    /// Rank in `MPI_COMM_WORLD`.
    pub rank: u32,
    /// Name of its node.
    pub host: String,
    /// Its process.
    pub pid: u32,
    /// Whether more ranks run on its node than that has cores for them.
    pub oversubscribed: bool,
    /// Wall-clock time of the end of `MPI_Init`, nanoseconds since 1970.
    pub started_unix_ns: u64,
    /// Wall-clock time of the start of `MPI_Finalize`, nanoseconds since 1970.
    pub ended_unix_ns: u64,
    /// From the end of `MPI_Init` to `MPI_Finalize` by the clock that times the calls.
    pub run_ns: u64,
    /// What Collie took in `MPI_Init`, with waiting for the other ranks there; nothing where it came to MPI otherwise.
    pub init_ns: Option<u64>,
    /// For how long of it calls were recorded: since they were last forgotten, without pauses; nothing if that is all
    /// of it.
    pub recorded_ns: Option<u64>,
    /// What timing and recording add to one blocking call on predefined types, as measured on this rank.
    pub overhead_ns_per_call: f64,
    /// Calls that are missing from the trace, for want of room.
    pub dropped_events: u64,
    /// What is the same for all ranks; told by rank 0.
    pub job: Option<JobRecord>,
    /// Its communicators with the calls on them.
    pub communicators: Vec<CommunicatorRecord>,
    /// Messages that Collie's algorithms sent from this rank by MPI.
    pub traffic: Vec<TrafficRecord>,
    /// Those that they sent through memory shared within the node.
    pub shared_traffic: Vec<TrafficRecord>,
    /// Messages from this rank that the MPI library itself counted, Collie's among them; where it counts.
    pub native_traffic: Vec<TrafficRecord>,
    /// What the MPI library's own collectives meant to move from this rank, where it counts.
    pub native_collectives: Vec<TrafficRecord>,
    /// How well the ranks' clocks agree; absent unless `COLLIE_SYNC` is `clock`.
    pub clock: Option<ClockRecord>,
    /// Per-call events for the time line: the first, the slowest and the last.
    pub events: Vec<Event>,
    /// Where calls are missing among them; none if all are there.
    pub gap: Option<GapRecord>,
    /// Datatypes and operations that events name by their place here; the first stands for nothing known.
    pub elements: Vec<ElementsRecord>,
    /// Calls whose counters the bound on memory left no room for.
    #[serde(rename = "beyond")]
    pub overflow: OverflowRecord,
    /// What was played of Collie's algorithms.
    pub played: PlayedRecord,
    /// What was kept of calls.
    pub cache: CacheRecord,
    /// Point-to-point calls; nothing if they were not counted.
    pub messages: Option<Vec<MessageRecord>>,
    /// Regions that the program has named.
    pub regions: Vec<RegionRecord>,
    /// Where it calls collectives, if that was wanted.
    pub sites: Vec<SiteRecord>,
    /// What was learned on communicators whose first rank this is.
    pub learned: Vec<LearnedRecord>,
    /// Calls that were under way, and what is not told here for that.
    pub under_way: UnderWayRecord,
}

/// What a call moved or reduced.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ElementsRecord {
    /// MPI's name of the datatype, or the name that the program gave it.
    pub datatype: String,
    /// MPI's name of the reduction operation; empty where there is none.
    pub operation: String,
}

/// Calls that are in no counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OverflowRecord {
    /// Number of calls.
    pub calls: u64,
    /// Signature bytes of all of them.
    pub bytes: u64,
    /// Time of all of them.
    pub total_ns: u64,
}

/// What the player of lowered programs did on this rank: whatever carries a collective out comes through it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlayedRecord {
    /// Calls.
    pub calls: u64,
    /// Those of them whose programs had been kept.
    pub kept: u64,
    /// Actions.
    pub actions: u64,
}

/// What a rank keeps of calls for the next ones like them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheRecord {
    /// Most bytes held at any time.
    pub most_bytes: u64,
    /// Bytes that may be held.
    pub bound: u64,
    /// Entries that had to go for others.
    pub evicted: u64,
    /// Entries that there was no room for even so.
    pub refused: u64,
}

/// Calls beside collectives, of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageRecord {
    /// Place among [`MessageCall::ALL`](super::MessageCall::ALL).
    pub call: u8,
    /// Number of calls.
    pub calls: u64,
    /// Bytes that they sent, or moved to or from windows and files (of a file, those that were asked for).
    pub bytes: u64,
    /// Time of all of them, of which short ones were timed now and then.
    pub total_ns: u64,
}

/// Messages from this rank to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrafficRecord {
    /// World rank of the receiver.
    pub to: u32,
    /// Number of messages.
    pub messages: u64,
    /// Bytes of them.
    pub bytes: u64,
}

/// How well this rank's clock agrees with that of rank 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockRecord {
    /// How often it was synchronised.
    pub points: u32,
    /// How far off it may be, the most over those times; 0 for ranks that share a clock with rank 0.
    pub error_ns: u64,
    /// The fastest ping-pong with the rank that it was synchronised with, the slowest of those times; 0 on rank 0.
    pub round_trip_ns: u64,
}

/// Where calls of a rank are missing from the time line, except the slowest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GapRecord {
    /// From then on, nanoseconds since 1970.
    pub from_unix_ns: u64,
    /// Until then.
    pub to_unix_ns: u64,
    /// Calls that are missing.
    pub calls: u64,
}

impl GapRecord {
    /// Both.
    pub fn and(self, other: Self) -> Self {
        Self {
            from_unix_ns: self.from_unix_ns.min(other.from_unix_ns),
            to_unix_ns: self.to_unix_ns.max(other.to_unix_ns),
            calls: self.calls + other.calls,
        }
    }
}

/// What is the same for all ranks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JobRecord {
    /// Version of Collie.
    pub collie_version: String,
    /// First line of the MPI library's own version text.
    pub mpi_library: String,
    /// The program as it was started.
    pub command: String,
    /// `replace`, `best`, `native`, `compare`, `learn`, `verify`, or `compare-self`, in which the MPI
    /// library is on both sides of a comparison.
    pub mode: String,
    /// Whether the order in which a reduction combines must not rest on what was measured.
    pub reproducible: bool,
    /// How waiting for late ranks is told apart: `clock`, `barrier`, or empty if it is not.
    pub sync: String,
    /// Number of ranks in `MPI_COMM_WORLD`.
    pub ranks: u32,
    /// The same for all ranks of a job, and no other job's.
    pub id: String,
    /// Beyond which lengths a message within a node travels in fragments; absent where none does.
    pub limits: Option<LimitsRecord>,
    /// What was measured of the network; absent unless that was asked for and there was something to measure.
    pub network: Option<NetworkRecord>,
}

/// Beyond which lengths a message within a node took another way through the MPI library, so that it travelled in
/// fragments of such a length.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LimitsRecord {
    /// The lengths, ascending.
    pub bytes: Vec<u64>,
    /// The longest message for each of them that travelled in fragments; twice as long as the limit where nothing is
    /// said.
    #[serde(default)]
    pub longest: Vec<u64>,
    /// For which messages each of them was: `one_way` for those of operations with a root, `exchange` for those of the
    /// others, or `both`.
    #[serde(default)]
    pub ways: Vec<String>,
    /// What measuring them took in `MPI_Init`; null where they were known or set. (A rank's record has no names, so
    /// that nothing of it can be left out.)
    pub measured_seconds: Option<f64>,
    /// The rank of its node with which rank 0 measured them; null where they were known or set, and in older reports,
    /// where it was rank 1.
    #[serde(default)]
    pub measured_with: Option<u32>,
}

/// What was measured of the network in `MPI_Init`, as `COLLIE_NETWORK=measure` wants it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NetworkRecord {
    /// Between ranks of a node; null where rank 0 is alone on its node.
    pub within_node: Option<LinkRecord>,
    /// Between nodes; null where there is one.
    pub between_nodes: Option<LinkRecord>,
    /// What measuring took.
    pub measured_seconds: f64,
}

/// A link that was measured between rank 0 and another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LinkRecord {
    /// The other rank.
    pub rank: u32,
    /// α of the cost formulas, time of a message of no bytes; null where time was too short or something disturbed the
    /// measurement, so that a preset holds.
    pub start_up_seconds: Option<f64>,
    /// β, time of each byte; likewise.
    pub seconds_per_byte: Option<f64>,
}

/// Ordered pairs of ranks that share memory. Their sum over the ranks of a communicator is what holds for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ReadableRecord {
    /// All of them.
    pub pairs: u32,
    /// Those of which the first can read the memory of the second (`process_vm_readv`), so that long messages between
    /// them are copied once instead of twice.
    pub readable: u32,
}

/// A communicator as one rank saw it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CommunicatorRecord {
    /// The same on all its ranks, and different for every communicator of the job, also for those that one split made
    /// for different colours.
    pub identity: String,
    /// The name that the program gave it, if any.
    pub name: Option<String>,
    /// The function that made it; empty for `MPI_COMM_WORLD` and `MPI_COMM_SELF`.
    pub made_by: String,
    /// Identity of the communicator it was made from; empty if none.
    pub parent: String,
    /// Number of ranks; of both groups for an intercommunicator.
    pub size: u32,
    /// This rank's rank in it; in the local group of an intercommunicator.
    pub rank: u32,
    /// World ranks of its ranks in order; told by its rank 0 only, others leave it empty.
    pub members: Vec<u32>,
    /// Why its ranks share no memory within nodes though they were to; empty if there is nothing to tell.
    pub no_shared_memory: String,
    /// The ranks that share memory with this one; none unless there is such memory.
    pub shared_memory: ReadableRecord,
    /// The calls on it; a counter's place is its [`CounterId`](super::CounterId). Counters without calls count as
    /// absent.
    #[serde(skip)]
    pub counters: Vec<CounterRecord>,
    /// Native against ours, by epoch; empty unless the mode is `compare`.
    pub epochs: Vec<EpochsRecord>,
    /// Which ranks the others waited for, as far as this rank is the one to tell; empty unless waiting is measured.
    pub late: Vec<LateRecord>,
    /// Calls whose arrivals on all ranks were compared; told by its rank 0 only.
    pub compared_calls: u64,
    /// Calls that could have been compared; told by its rank 0 only.
    pub comparable_calls: u64,
    /// Calls whose result was compared with the native one on this rank.
    pub verified_calls: u64,
    /// Calls that an error kept from being compared.
    pub failed_calls: u64,
    /// Those that were compared whose results are not the same bits, and equal.
    pub rounded_calls: u64,
    /// Those of them whose results are not the same bits, and nobody can tell whether they may differ.
    pub unjudged_calls: u64,
    /// Those that are alike only by a bound for all their elements.
    pub near_calls: u64,
    /// Those whose results differed.
    pub differing_calls: u64,
    /// Time spent on that, beside the calls that the program asked for.
    pub verifying_ns: u64,
    /// Where the results differed; the first few.
    pub differences: Vec<DifferenceRecord>,
}

/// Epochs of one function, size class and kind of reduction: even ones ran natively, odd ones with Collie's algorithm;
/// 2k and 2k + 1 are a pair.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EpochsRecord {
    /// The MPI function.
    pub function: Function,
    /// Size class of the signature bytes that one rank contributes.
    pub bucket: Bucket,
    /// What it reduces with.
    pub kind: FoldKind,
    /// How often two pairs of epochs have become one.
    pub halvings: u32,
    /// (number of the epoch after that, calls, nanoseconds of all of them), ascending; the same epochs on all ranks that
    /// have recorded the same calls.
    pub epochs: Vec<(u32, u32, u64)>,
}

/// How late a rank was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LateRecord {
    /// World rank.
    pub rank: u32,
    /// Calls in which it arrived last.
    pub calls: u64,
    /// Time that the others waited for it, their sum over all calls; where they waited for several ranks, its part.
    pub waited_ns: u64,
}

/// A result that was not the native one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DifferenceRecord {
    /// The MPI function.
    pub function: Function,
    /// Which of the verified calls on the communicator it was, from 1: calls that were left to the MPI library do not count,
    /// and `MPI_Pcontrol(2)` begins anew.
    pub call: u64,
    /// What was passed on this rank: elements, operation, root.
    pub passed: String,
    /// What ran.
    pub algorithm: String,
    /// First element that differs.
    pub element: u64,
    /// The native value, as text.
    pub native: String,
    /// Ours, as text.
    pub ours: String,
}

/// The calls of one counter on one rank.
#[derive(Clone, Debug, PartialEq)]
pub struct CounterRecord {
    /// The MPI function.
    pub function: Function,
    /// Size class of the signature bytes that one rank contributes.
    pub bucket: Bucket,
    /// What ran.
    pub algorithm: Arc<str>,
    /// What decided it.
    pub decided_by: Arc<str>,
    /// Number of calls.
    pub calls: u64,
    /// Signature bytes of all calls.
    pub bytes: u64,
    /// Time of all calls.
    pub total_ns: u64,
    /// Shortest call.
    pub min_ns: u64,
    /// Longest call.
    pub max_ns: u64,
    /// Part of the time that was spent waiting for the last rank to arrive, where that was measured.
    pub waiting_ns: Option<u64>,
    /// How long the calls took.
    pub durations: Steps,
}

impl CounterRecord {
    /// All but how long its calls took one by one.
    pub fn without_durations(&self) -> Self {
        Self {
            algorithm: Arc::clone(&self.algorithm),
            decided_by: Arc::clone(&self.decided_by),
            durations: Steps::default(),
            ..*self
        }
    }

    fn add(&mut self, other: Self) {
        self.calls += other.calls;
        self.bytes = self.bytes.wrapping_add(other.bytes);
        self.total_ns += other.total_ns;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        self.waiting_ns = sum_of_known(self.waiting_ns, other.waiting_ns);
        let mut steps: BTreeMap<u16, u32> = self.durations.iter().copied().collect();
        for (step, calls) in other.durations.iter() {
            let sum = steps.entry(*step).or_default();
            *sum = sum.saturating_add(*calls);
        }
        self.durations = steps.into_iter().collect();
    }

    /// Bytes of memory that it takes, its texts included, which others may have too.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + self.algorithm.len() + self.decided_by.len() + size_of_val(&*self.durations)
    }
}

impl CommunicatorRecord {
    /// Adds calls that were counted apart from the others; the place of their counter.
    pub fn add(&mut self, counter: CounterRecord) -> usize {
        let same = |known: &CounterRecord| {
            (known.function, known.bucket) == (counter.function, counter.bucket)
                && (&known.algorithm, &known.decided_by) == (&counter.algorithm, &counter.decided_by)
                && known.calls > 0
        };
        let place = self.counters.iter().position(same);
        match place {
            Some(place) if counter.calls > 0 => self.counters[place].add(counter),
            Some(_) => {}
            None => self.counters.push(counter),
        }
        place.unwrap_or(self.counters.len() - 1)
    }

    /// Whether there were calls on it.
    pub fn has_calls(&self) -> bool {
        self.counters.iter().any(|counter| counter.calls > 0)
    }

    /// Bytes of memory that it takes. Texts count for each counter that has them, lists that records share for each
    /// record.
    pub fn bytes(&self) -> usize {
        let name = self.name.as_ref().map_or(0, String::len);
        let texts = [&self.identity, &self.made_by, &self.parent, &self.no_shared_memory].map(String::len);
        let epochs = self.epochs.iter().map(|of| size_of::<EpochsRecord>() + size_of_val(&*of.epochs)).sum::<usize>();
        size_of::<Self>()
            + texts.into_iter().sum::<usize>()
            + name
            + size_of_val(&*self.members)
            + self.counters.iter().map(CounterRecord::bytes).sum::<usize>()
            + epochs
            + size_of_val(&*self.late)
            + size_of_val(&*self.differences)
    }
}
