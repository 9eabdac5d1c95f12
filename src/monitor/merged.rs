//! What successive ranks recorded, as one: halfway between their records and the summary, and mergeable in any
//! grouping.
//!
//! Ranks hand these on to one another up a tree. Calls with the same key become one row on the way, so what arrives at
//! rank 0 grows with the number of different rows, not of ranks; what is each rank's own has an
//! upper bound ([`Bounds`](super::Bounds)).
//!
//! `recorded` makes them of records, `joining` joins them, `keeping` leaves out what is too much, and `merge` makes the
//! summary.

use super::named::{RegionPart, SitePart};
use super::parts::{
    CommunicatorPart, DifferencePart, EpochsPart, EventPart, LatePart, MessagePart, OverflowPart, RankPart, RowPart,
    TrafficPart,
};
use super::{CacheRecord, ClockRecord, DecodeError, ElementsRecord, JobRecord, LearnedRecord, LeftOut, PlayedRecord};
use serde::{Deserialize, Serialize};

/// Kinds of traffic that are told apart.
pub(super) const KINDS_OF_TRAFFIC: usize = 4;

/// The records of ranks that follow one another, merged.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Merged {
    pub(super) job: Option<JobRecord>,
    pub(super) ranks: Vec<RankPart>,
    pub(super) overhead_ns_per_call: f64,
    pub(super) dropped_events: u64,
    pub(super) verified_calls: u64,
    pub(super) failed_calls: u64,
    pub(super) rounded_calls: u64,
    pub(super) unjudged_calls: u64,
    pub(super) near_calls: u64,
    pub(super) differing_calls: u64,
    pub(super) verifying_ns: u64,
    /// Those that anything was told of, in the order of the first rank that did.
    pub(super) communicators: Vec<CommunicatorPart>,
    /// Algorithms and what decided them, by their place.
    pub(super) texts: Vec<String>,
    pub(super) rows: Vec<RowPart>,
    pub(super) epochs: Vec<EpochsPart>,
    pub(super) differences: Vec<DifferencePart>,
    pub(super) late: Vec<LatePart>,
    pub(super) clock: Option<ClockRecord>,
    /// Collie's messages by MPI and through shared memory, those that the MPI library counted, and what its collectives
    /// meant to move; senders in order.
    pub(super) traffic: [Vec<TrafficPart>; KINDS_OF_TRAFFIC],
    /// By rank, each rank's in their order.
    pub(super) events: Vec<EventPart>,
    pub(super) elements: Vec<ElementsRecord>,
    pub(super) overflow: OverflowPart,
    pub(super) played: PlayedRecord,
    pub(super) cache: CacheRecord,
    pub(super) learned: Vec<LearnedRecord>,
    pub(super) left_out: LeftOut,
    /// Point-to-point calls by kind.
    pub(super) messages: Vec<MessagePart>,
    /// Regions of the program, by name.
    pub(super) regions: Vec<RegionPart>,
    /// Where it calls collectives.
    pub(super) sites: Vec<SitePart>,
}

impl Merged {
    /// Its bytes, for the way to another rank.
    pub fn encode(&self) -> Vec<u8> {
        postcard::to_stdvec(self).expect("what was merged has no part that cannot be written to memory")
    }

    /// What [`encode`](Self::encode) wrote.
    ///
    /// # Errors
    /// Bytes that it never writes.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        Ok(postcard::from_bytes(bytes)?)
    }

    /// When the first of the ranks started, nanoseconds since 1970.
    pub fn started_unix_ns(&self) -> u64 {
        self.ranks.iter().map(|rank| rank.started_unix_ns).min().unwrap_or(0)
    }
}
