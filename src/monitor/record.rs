//! What a rank hands in at the end, and its bytes.

use super::{Bucket, Event, Function};
use serde::{Deserialize, Serialize};

/// Everything that one rank tells. Times in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RankRecord {
    /// Rank in `MPI_COMM_WORLD`.
    pub rank: u32,
    /// Name of its node.
    pub host: String,
    /// Its process.
    pub pid: u32,
    /// Wall-clock time of the end of `MPI_Init`, nanoseconds since 1970.
    pub started_unix_ns: u64,
    /// Wall-clock time of the start of `MPI_Finalize`, nanoseconds since 1970.
    pub ended_unix_ns: u64,
    /// From `MPI_Init` to `MPI_Finalize` by the clock that times the calls.
    pub run_ns: u64,
    /// What timing and recording add to one call, as measured on this rank.
    pub overhead_ns_per_call: f64,
    /// Per-call events that were thrown away to stay within the memory bound.
    pub dropped_events: u64,
    /// What is the same for all ranks; told by rank 0.
    pub job: Option<JobRecord>,
    /// Its communicators with the calls on them.
    pub communicators: Vec<CommunicatorRecord>,
    /// Messages that Collie's algorithms sent from this rank.
    pub traffic: Vec<TrafficRecord>,
    /// Messages from this rank that the MPI library itself counted, Collie's among them; where it counts.
    pub native_traffic: Vec<TrafficRecord>,
    /// What the MPI library's own collectives meant to move from this rank, where it counts.
    pub native_collectives: Vec<TrafficRecord>,
    /// How well the ranks' clocks agree; absent unless `COLLIE_SYNC` is `clock`.
    pub clock: Option<ClockRecord>,
    /// The last per-call events, for the time line.
    pub events: Vec<Event>,
    /// Datatypes and operations that events name by their place here; the first stands for nothing known.
    pub elements: Vec<ElementsRecord>,
    /// Calls whose cells the bound on memory left no room for.
    pub beyond: BeyondRecord,
}

/// What a call moved or reduced.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ElementsRecord {
    /// MPI's name of the datatype, or the name that the program gave it.
    pub datatype: String,
    /// MPI's name of the reduction operation; empty where there is none.
    pub operation: String,
}

/// Calls that are in no cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BeyondRecord {
    /// Number of calls.
    pub calls: u64,
    /// Signature bytes of all of them.
    pub bytes: u64,
    /// Time of all of them.
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

/// What is the same for all ranks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JobRecord {
    /// Version of Collie.
    pub collie_version: String,
    /// First line of the MPI library's own version text.
    pub mpi_library: String,
    /// The program as it was started.
    pub command: String,
    /// `replace`, `native`, `compare` or `verify`.
    pub mode: String,
    /// How waiting for late ranks is told apart: `clock`, `barrier`, or empty if it is not.
    pub sync: String,
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
    /// Number of ranks; of the local group for an intercommunicator.
    pub size: u32,
    /// This rank's rank in it.
    pub rank: u32,
    /// World ranks of its ranks in order; told by its rank 0 only, others leave it empty.
    pub members: Vec<u32>,
    /// The calls on it; a cell's place is its [`CellId`](super::CellId). Cells without calls count as absent.
    pub cells: Vec<CellRecord>,
    /// Native against ours, by epoch; empty unless the mode is `compare`.
    pub epochs: Vec<EpochsRecord>,
    /// Which ranks arrived last, as far as this rank is the one to tell; empty unless waiting is measured.
    pub late: Vec<LateRecord>,
    /// Calls whose arrivals on all ranks were compared; told by its rank 0 only.
    pub compared_calls: u64,
    /// Calls that could have been compared; told by its rank 0 only.
    pub comparable_calls: u64,
    /// Calls whose result was compared with the native one on this rank.
    pub verified_calls: u64,
    /// Where the results differed; the first few.
    pub differences: Vec<DifferenceRecord>,
}

/// Epochs of one function and size class: even ones ran natively, odd ones with Collie's algorithm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EpochsRecord {
    /// The MPI function.
    pub function: Function,
    /// Size class of the signature bytes that one rank contributes.
    pub bucket: Bucket,
    /// (number of the epoch, calls, nanoseconds of all of them), ascending; the same epochs on all ranks.
    pub epochs: Vec<(u32, u32, u64)>,
}

/// How often a rank was the last to arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LateRecord {
    /// World rank.
    pub rank: u32,
    /// Calls in which it arrived last.
    pub calls: u64,
    /// Time that the first of the others waited for it, all those calls.
    pub waited_ns: u64,
}

/// A result that was not the native one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DifferenceRecord {
    /// The MPI function.
    pub function: Function,
    /// Number of the collective call on the communicator, from 0.
    pub call: u64,
    /// What ran.
    pub algorithm: String,
    /// First element that differs.
    pub element: u64,
    /// The native value, as text.
    pub native: String,
    /// Ours, as text.
    pub ours: String,
}

/// The calls of one cell on one rank.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellRecord {
    /// The MPI function.
    pub function: Function,
    /// Size class of the signature bytes that one rank contributes.
    pub bucket: Bucket,
    /// What ran.
    pub algorithm: String,
    /// What decided it.
    pub decided_by: String,
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
    /// Part of the time that was spent waiting for the last rank to arrive; 0 where that was not measured.
    pub waiting_ns: u64,
    /// Durations and how many calls took that long, ascending, each within 1/16.
    pub durations: Vec<(u64, u32)>,
}

impl CommunicatorRecord {
    /// Whether there were calls on it.
    pub fn has_calls(&self) -> bool {
        self.cells.iter().any(|cell| cell.calls > 0)
    }
}

/// A rank's bytes could not be read.
#[derive(Debug, thiserror::Error)]
#[error("record of a rank cannot be read: {0}")]
pub struct DecodeError(#[from] postcard::Error);

impl RankRecord {
    /// The record as bytes, for the way to rank 0.
    pub fn encode(&self) -> Vec<u8> {
        postcard::to_stdvec(self).expect("a record has no part that cannot be written to memory")
    }

    /// The record that [`encode`](Self::encode) wrote.
    ///
    /// # Errors
    /// Bytes that no such record has.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        Ok(postcard::from_bytes(bytes)?)
    }
}
