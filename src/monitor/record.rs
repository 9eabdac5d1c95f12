//! What a rank hands in at the end, and its bytes.

use super::{Bucket, Function};
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
    /// What monitoring adds to one call, as measured on this rank.
    pub overhead_ns_per_call: f64,
    /// Per-call events that were thrown away to stay within the memory bound.
    pub dropped_events: u64,
    /// What is the same for all ranks; told by rank 0.
    pub job: Option<JobRecord>,
    /// Its communicators with the calls on them.
    pub communicators: Vec<CommunicatorRecord>,
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
    /// The calls on it.
    pub cells: Vec<CellRecord>,
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
