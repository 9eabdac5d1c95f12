//! The rows of the tables that a [`Summary`](super::Summary) holds. Times in seconds.

use super::{Area, Comparison, ReadableRecord, Spread};
use serde::{Deserialize, Serialize};

/// A communicator.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CommunicatorRow {
    /// Its identity within the job.
    pub identity: String,
    /// The name that the program gave it.
    pub name: Option<String>,
    /// The function that made it; empty for `MPI_COMM_WORLD` and `MPI_COMM_SELF`.
    pub made_by: String,
    /// Identity of the communicator it was made from; empty if none.
    pub parent: String,
    /// Number of ranks.
    pub size: u32,
    /// World ranks of its ranks in order; empty where not told.
    pub members: Vec<u32>,
    /// Why its ranks share no memory within nodes though they were to (`COLLIE_TRANSPORT=shared`); absent if they do or
    /// were not to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_shared_memory: Option<String>,
    /// The pairs of its ranks that share memory; absent if none do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_memory: Option<ReadableRecord>,
    /// Calls per rank whose arrivals on all ranks were compared; absent where it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compared_calls: Option<u64>,
    /// Calls per rank that could have been; the rest was let go to stay within the memory bound, and their waiting is
    /// taken to be like that of the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparable_calls: Option<u64>,
}

impl CommunicatorRow {
    /// What people know it by: the name it was given, or its identity.
    pub fn title(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.identity)
    }

    /// That without the prefix that MPI's own communicators have.
    pub fn short_title(&self) -> &str {
        self.title().strip_prefix("MPI_COMM_").unwrap_or(self.title())
    }

    /// Whether it is one of MPI's own, whose name says which.
    pub fn is_predefined(&self) -> bool {
        self.made_by.is_empty() && ["world", "self"].contains(&self.identity.as_str())
    }
}

/// The calls of one (function, communicator, size class, algorithm, what decided it) over all ranks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Row {
    /// MPI's name of the function.
    pub function: String,
    /// Place in the summary's `communicators`.
    pub communicator: usize,
    /// Fewest signature bytes per call of the size class.
    pub bytes_from: u64,
    /// Most signature bytes per call of the size class.
    pub bytes_to: u64,
    /// What ran, with its parameters; `native` for the MPI library.
    pub algorithm: String,
    /// What decided it.
    pub decided_by: String,
    /// Number of ranks that made such calls.
    pub ranks: u32,
    /// Calls per rank, the most over ranks.
    pub calls: u64,
    /// Calls of all ranks.
    pub calls_all_ranks: u64,
    /// Signature bytes of all calls of all ranks.
    pub bytes: u64,
    /// Time of a rank in these calls, over ranks.
    pub total_seconds: Spread,
    /// Mean time of a call, all calls of all ranks alike.
    pub mean_seconds: f64,
    /// Shortest call of any rank.
    pub min_seconds: f64,
    /// Half of the calls of all ranks took at most that long (within 1/16, as all percentiles).
    pub p50_seconds: f64,
    /// 90 % of the calls took at most that long.
    pub p90_seconds: f64,
    /// 99 % of the calls took at most that long.
    pub p99_seconds: f64,
    /// Longest call of any rank.
    pub max_seconds: f64,
    /// Share of the run time of the communicator's ranks: 0 to 1, and more where threads make calls at the same time.
    pub share: f64,
    /// Mean over ranks of the time spent waiting for the last rank to arrive; absent where it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting_seconds: Option<f64>,
    /// Durations and the number of calls of all ranks that took that long, ascending, one per power of two.
    pub durations: Vec<(f64, u64)>,
}

impl Row {
    /// Time in these calls, summed over ranks.
    pub fn all_ranks_seconds(&self) -> f64 {
        self.total_seconds.mean * f64::from(self.ranks)
    }

    /// Mean over ranks of the time in these calls that was not waiting for the last rank to arrive, where that is
    /// known.
    pub fn working_seconds(&self) -> Option<f64> {
        Some((self.total_seconds.mean - self.waiting_seconds?).max(0.0))
    }

    /// The reason, if the calls went to the MPI library because Collie could not or may not run them.
    pub fn fallback(&self) -> Option<&str> {
        self.decided_by.strip_prefix("fallback: ")
    }
}

/// One rank's totals.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RankRow {
    /// World rank.
    pub rank: u32,
    /// Node.
    pub host: String,
    /// Process.
    pub pid: u32,
    /// Whether more ranks run on its node than there are cores for them; absent if not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub oversubscribed: bool,
    /// From `MPI_Init` to `MPI_Finalize`, or until its report.
    pub run_seconds: f64,
    /// For how long of it calls were recorded; absent if all the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded_seconds: Option<f64>,
    /// Time in collectives.
    pub collective_seconds: f64,
    /// Part of it spent waiting for the last rank to arrive; absent where it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting_seconds: Option<f64>,
    /// Time in point-to-point calls; absent where they were not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_seconds: Option<f64>,
    /// Time in one-sided calls; absent where no rank made any, or they were not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one_sided_seconds: Option<f64>,
    /// The same of calls on files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_seconds: Option<f64>,
    /// Collective calls.
    pub calls: u64,
    /// Signature bytes of them.
    pub bytes: u64,
}

impl RankRow {
    /// What its times are shares of.
    pub fn whole_seconds(&self) -> f64 {
        self.recorded_seconds.unwrap_or(self.run_seconds)
    }

    /// Time in calls beside collectives, where they were counted.
    pub const fn seconds_in(&self, area: Area) -> Option<f64> {
        match area {
            Area::PointToPoint => self.message_seconds,
            Area::OneSided => self.one_sided_seconds,
            Area::Files => self.file_seconds,
        }
    }
}

/// Calls of one function other than a collective, over all ranks. Waiting for requests of collectives is among their
/// rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MessageRow {
    /// MPI's name of the function.
    pub function: String,
    /// What it deals with.
    #[serde(default)]
    pub area: Area,
    /// Number of ranks that made such calls.
    pub ranks: u32,
    /// Calls of all ranks.
    pub calls_all_ranks: u64,
    /// Bytes that they sent, or moved to or from windows and files (of a file, those that were asked for).
    pub bytes: u64,
    /// Time of all of them, all ranks; of short calls that return at once some are timed and stand for the others.
    pub all_ranks_seconds: f64,
    /// Time of the rank with the most.
    pub max_seconds: f64,
    /// World rank that has the most.
    pub max_rank: u32,
}

/// Native against ours for one (communicator, function, size class), of reductions for one kind of operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ComparisonRow {
    /// MPI's name of the function.
    pub function: String,
    /// Place in the summary's `communicators`.
    pub communicator: usize,
    /// Fewest signature bytes per call of the size class.
    pub bytes_from: u64,
    /// Most signature bytes per call of the size class.
    pub bytes_to: u64,
    /// Whether order does not matter to the reduction's operation; absent if so, and where nothing is reduced.
    #[serde(default = "commutes", skip_serializing_if = "bool::clone")]
    pub commutative: bool,
    /// Whether the MPI library folded the contributions (`PMPI_Reduce_local`), as with user-defined operations; absent if
    /// not. Older reports counted such calls together with those that Collie folded.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reduce_local: bool,
    /// Calls per rank, native and ours together.
    pub calls: u64,
    /// What the numbers say.
    #[serde(flatten)]
    pub result: Comparison,
    /// What a rank would save if Collie ran all of these calls instead of the MPI library, by the differences of pairs,
    /// in which waiting for late ranks cancels; negative if it would lose. Absent without a verdict. Older reports
    /// took it from the ratio, and counted waiting as if it could be saved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved_seconds: Option<f64>,
}

/// What older reports do not tell.
const fn commutes() -> bool {
    true
}

/// Results of `verify`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Verification {
    /// Results that were compared, all ranks. A rank that gets none has none: in a barrier, or as another rank than the
    /// root of a reduce.
    pub calls: u64,
    /// Calls whose results an error kept from being compared, all ranks; the log tells of them. Absent if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failed: u64,
    /// Results that are not the same bits, and as near as another order of the contributions may bring them. Absent if
    /// there are none, and from older reports.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub within_rounding: u64,
    /// Results that are not the same bits and could not be judged: of commutative operations of
    /// the program's on elements of several kinds, or of bytes; and numbers of which the order of the contributions
    /// may decide whether they overflow or a NaN comes through. Absent if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub not_comparable: u64,
    /// Those within rounding by a bound for the whole vector only: of the program's own operations on floating-point numbers. Absent if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub judged_loosely: u64,
    /// Calls whose results differed, or of which only Collie's failed. Absent if there are none, and from older reports.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub differing: u64,
    /// Time spent on that beside the calls that the program asked for, of a rank, mean over ranks: on the second call of
    /// each two, on copies and on comparing. It is a part of the run time. 0 in older reports.
    #[serde(default)]
    pub seconds: f64,
    /// Where they differed; the first few of each rank and communicator.
    pub differences: Vec<DifferenceRow>,
}

impl Verification {
    /// Calls whose results differed; of older reports as far as they are listed.
    pub fn differing(&self) -> u64 {
        self.differing.max(self.differences.len() as u64)
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A result that was not the native one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DifferenceRow {
    /// World rank.
    pub rank: u32,
    /// Place in the summary's `communicators`.
    pub communicator: usize,
    /// MPI's name of the function.
    pub function: String,
    /// What was passed on this rank: elements, operation, root. Absent from older reports.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub passed: String,
    /// What ran.
    pub algorithm: String,
    /// Which of the verified calls on the communicator it was, from 1: calls that were left to the MPI library do not count,
    /// and `MPI_Pcontrol(2)` begins anew.
    pub call: u64,
    /// First element that differs.
    pub element: u64,
    /// The native value.
    pub native: String,
    /// Ours.
    pub ours: String,
}

/// How well the clocks of the ranks agree with that of rank 0.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ClockRow {
    /// How often they were synchronised.
    pub points: u32,
    /// How far off the worst of them may be; 0 where all ranks share one clock.
    pub error_seconds: f64,
    /// The fastest ping-pong of a pair of ranks that were synchronised with each other; that of the slowest pair.
    pub round_trip_seconds: f64,
}

/// How late a rank was.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LateRow {
    /// Place in the summary's `communicators`.
    pub communicator: usize,
    /// World rank.
    pub rank: u32,
    /// Calls in which it arrived last, of those whose arrivals were compared (`compared_calls` of the communicator).
    pub calls: u64,
    /// Time that the others waited for it, their sum over all calls, estimated where the arrivals of some were not kept.
    /// Where they waited for several ranks at once, its part: all ranks' parts together are the time waited on the
    /// communicator.
    pub waited_seconds: f64,
}

/// Messages from one rank to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TrafficRow {
    /// World rank of the sender.
    pub from: u32,
    /// World rank of the receiver.
    pub to: u32,
    /// Number of messages.
    pub messages: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Whether both are on one node.
    pub on_node: bool,
}

/// One call on one rank.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TimelineRow {
    /// World rank.
    pub rank: u32,
    /// Thread, numbered per rank in the order of first calls.
    pub thread: u32,
    /// Place in the summary's `rows`.
    pub row: usize,
    /// Entry, seconds since the start of the run.
    pub enter_seconds: f64,
    /// From entry to exit.
    pub seconds: f64,
    /// Signature bytes.
    pub bytes: u64,
    /// Root; absent where the function has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<u32>,
    /// Place in the summary's `elements`; absent where datatype and operation are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elements: Option<usize>,
}

/// Where calls of a rank are missing from the time line, except the slowest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TimelineGapRow {
    /// World rank.
    pub rank: u32,
    /// From then on, seconds since the start of the run.
    pub from_seconds: f64,
    /// Until then.
    pub to_seconds: f64,
    /// Calls that are missing.
    pub calls: u64,
}

/// What a call moved or reduced.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ElementsRow {
    /// MPI's name of the datatype, the name that the program gave it, or `derived`.
    pub datatype: String,
    /// MPI's name of the reduction operation, or `user-defined`; empty where there is none.
    pub operation: String,
}

/// Calls that are in no row. The ranks' totals hold them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OverflowRow {
    /// Number of calls.
    pub calls: u64,
    /// Signature bytes of all of them.
    pub bytes: u64,
    /// Time of all of them.
    pub seconds: f64,
}

/// What the player of lowered programs did, all ranks: it carries out every collective of Collie's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlayedRow {
    /// Calls.
    pub calls: u64,
    /// Those of them whose programs had been kept; the others were lowered as they were played.
    pub kept: u64,
    /// Actions: messages, waits, copies and reductions.
    pub actions: u64,
}

/// The call cache: what ranks keep of calls for later ones like them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CacheRow {
    /// Most bytes that a rank held at any time.
    pub most_bytes: u64,
    /// Bytes that a rank may hold.
    pub bound: u64,
    /// Entries evicted to make room for others, all ranks.
    pub evicted: u64,
    /// Entries not stored because there was no room even so, all ranks.
    pub refused: u64,
}

/// What Collie itself costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Overhead {
    /// What timing and recording add to a blocking collective call on predefined types, the most over ranks; with the
    /// log of single calls, if there was one, and without what finding its place in the program takes (`COLLIE_SITES`).
    /// A call that is nonblocking or on derived types takes some 0.1 to 0.3 µs more, and one that is the first of its
    /// kind takes longer still.
    pub nanoseconds_per_call: f64,
    /// That times the collective calls of the rank that has most of them: what monitoring took at least. What
    /// observing calls other than collectives takes is not in it.
    pub seconds_per_rank: f64,
    /// Time that Collie took in `MPI_Init`, the most over ranks, with waiting for each other. Absent in older
    /// reports, in which it is a part of the run time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub init_seconds: Option<f64>,
    /// Time at the end to gather all ranks' records and to merge them, without writing; set by who does it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finalize_seconds: Option<f64>,
    /// The same of the reports before the end, this one included if it is none of the end; a part of the run time.
    /// Absent if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reports_seconds: Option<f64>,
}
