//! All ranks' records as one: what reports are written from, and what the JSON report holds. Times in seconds.

use super::{
    Area, CacheRow, ClockRow, CommunicatorRow, ComparisonRow, ElementsRow, LateRow, Learned, LeftOut, LimitsRecord,
    MessageRow, NetworkRecord, OverflowRow, Overhead, PlayedRow, RankRow, RegionRow, Row, SiteRow, Spread,
    TimelineGapRow, TimelineRow, TrafficRow, UnderWayRow, Verification,
};
use serde::{Deserialize, Serialize};

/// Version of the JSON schema that [`Summary`] is; goes up when a field changes its meaning or goes away.
pub const SCHEMA_VERSION: u32 = 2;

/// One run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Summary {
    /// [`SCHEMA_VERSION`] of the writer.
    pub schema_version: u32,
    /// Version of Collie.
    pub collie_version: String,
    /// The MPI library's own version text.
    pub mpi_library: String,
    /// The program as it was started.
    pub command: String,
    /// `replace`, `best`, `native`, `compare`, `learn`, `verify`, or `compare-self`, in which the MPI
    /// library is on both sides of a comparison.
    pub mode: String,
    /// Whether the order in which a reduction combines must not rest on what was measured (`COLLIE_REPRODUCIBLE`);
    /// absent if it may.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reproducible: bool,
    /// Beyond which lengths a message within a node travelled in fragments; absent where none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol_limits: Option<LimitsRecord>,
    /// What was measured of the network in `MPI_Init` (`COLLIE_NETWORK=measure`); absent where nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkRecord>,
    /// How waiting for late ranks was measured, `clock` or `barrier`; absent where it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync: Option<String>,
    /// What the report is of where it is not of all ranks at the end of the run: one rank's own, on demand or before
    /// the job was aborted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<String>,
    /// Ranks of which nothing is known; `run_seconds` says until when each of the others knows. Empty in a report of
    /// all ranks and in one of a single rank.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<u32>,
    /// In a report that is not of all ranks at the end of the run, the calls that were under way on each rank when it
    /// wrote its record, which `rows` do not count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub under_way: Vec<UnderWayRow>,
    /// In the report of a single rank, what `collie report` merges such reports from; for the same version of Collie
    /// only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<String>,
    /// Start of the run, seconds since 1970.
    pub started_unix_seconds: f64,
    /// Number of ranks in `MPI_COMM_WORLD`.
    pub ranks: u32,
    /// Number of nodes, of the ranks that are known.
    pub nodes: u32,
    /// From `MPI_Init` to `MPI_Finalize`, mean over ranks.
    pub run_seconds: f64,
    /// For how long of it calls were recorded: since the program last had them forgotten, without the pauses that it
    /// made (`MPI_Pcontrol`), mean over ranks; shares of the run are shares of this time. Absent if it is the whole
    /// run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded_seconds: Option<f64>,
    /// Time in collectives, over ranks.
    pub collective_seconds: Spread,
    /// Share of the ranks' run time, as far as it was recorded, that was spent in collectives: 0 to 1, and more where
    /// threads make calls at the same time.
    pub collective_share: f64,
    /// Time in point-to-point calls, over ranks; absent where they were not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_seconds: Option<Spread>,
    /// Time in one-sided calls, over ranks, without collectives and messages within them; absent where there were none
    /// or they were not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one_sided_seconds: Option<Spread>,
    /// The same of calls on files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_seconds: Option<Spread>,
    /// Calls other than collectives by function, most time first: point-to-point, one-sided, and on files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<MessageRow>,
    /// Regions that the program has named, most time first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub regions: Vec<RegionRow>,
    /// Where the program calls collectives, most time first; empty unless that was wanted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sites: Vec<SiteRow>,
    /// Communicators that had calls, in the order of their identities.
    pub communicators: Vec<CommunicatorRow>,
    /// Cells over all ranks, most time first.
    pub rows: Vec<Row>,
    /// Ranks in order.
    pub per_rank: Vec<RankRow>,
    /// What Collie itself costs.
    pub overhead: Overhead,
    /// Native against ours, the greatest time certain to be saved or lost first; empty unless the mode is `compare`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub comparisons: Vec<ComparisonRow>,
    /// What was learned; absent unless the mode is `learn` and something was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learned: Option<Learned>,
    /// Results against the native ones; absent unless the mode is `verify`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<Verification>,
    /// How well the ranks' clocks agree; absent unless `sync` is `clock` or there is a time line of several nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<ClockRow>,
    /// By communicator, the ranks that the others waited for, longest first; empty where it was not measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub late: Vec<LateRow>,
    /// Messages that Collie's algorithms sent by MPI, by sender and receiver.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub traffic: Vec<TrafficRow>,
    /// Messages that they sent through memory that ranks of a node share (`COLLIE_TRANSPORT=shared`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shared_traffic: Vec<TrafficRow>,
    /// Messages that the MPI library itself counted (Open MPI's `pml_monitoring_messages_*`): the program's, those of
    /// its own collectives, and Collie's; without those of agreements and reports.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub native_traffic: Vec<TrafficRow>,
    /// What the MPI library's own collectives were asked to move (Open MPI's `coll_monitoring_messages_*`): not what
    /// they sent, but for instance once the whole message from the root to each rank for a broadcast.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub native_collectives: Vec<TrafficRow>,
    /// The first, the slowest and the last calls of each rank, by rank and entry.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timeline: Vec<TimelineRow>,
    /// By rank, where calls are missing from the time line, except the slowest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timeline_gaps: Vec<TimelineGapRow>,
    /// Datatypes and operations of the calls in the time line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub elements: Vec<ElementsRow>,
    /// Calls that are missing from the trace, whose file and memory had no room for them, all ranks. What a time line
    /// leaves out as it should is not among them.
    pub dropped_events: u64,
    /// Calls that are in no row, because the bound on memory left no room for one, all ranks; absent if there are none.
    #[serde(rename = "beyond", default, skip_serializing_if = "Option::is_none")]
    pub overflow: Option<OverflowRow>,
    /// What was played of Collie's algorithms, all ranks; absent if nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub played: Option<PlayedRow>,
    /// The call cache: what ranks keep of calls for later ones like them; absent if nothing had to go to stay within
    /// the memory bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheRow>,
    /// What is not in the report because so much at once would not fit into the memory of rank 0; absent if all is
    /// there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<LeftOut>,
}

impl Summary {
    /// What times of the run are shares of, mean over ranks.
    pub fn whole_seconds(&self) -> f64 {
        self.recorded_seconds.unwrap_or(self.run_seconds)
    }

    /// Time in calls beside collectives, over ranks, where they were counted.
    pub const fn seconds_in(&self, area: Area) -> Option<Spread> {
        match area {
            Area::PointToPoint => self.message_seconds,
            Area::OneSided => self.one_sided_seconds,
            Area::Files => self.file_seconds,
        }
    }
}
