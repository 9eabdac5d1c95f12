//! What is recorded per call, and its summary over all ranks. Nothing here speaks MPI or reads a clock.
//!
//! Each rank keeps one [`Table`] per communicator; at the end it makes a [`RankRecord`]. What ranks recorded is
//! [`Merged`] on the way to rank 0, and becomes a [`Summary`] there, which is all that the writers in `report` see.
//!
//! * [`function`](Function): every collective function of MPI by name. [`message_call`](MessageCall): the other calls
//!   that are counted.
//! * [`bucket`](Bucket): size classes. `durations`: times, counted in steps.
//! * [`table`](Table): the hot path.
//! * [`budget`](Budget): the bound on memory. [`cache`](Cache): a bounded cache, charged to its
//!   account ([`cache_account`](CacheAccount)), and a smaller table for the fast path ([`direct`](Direct)).
//!   [`shared`](SharedList): lists of ranks that several communicators have, kept once.
//! * [`turn`](Turn), [`epochs`](Epochs) and [`compare`]: native against ours in one run, each
//!   [`fold_kind`](FoldKind) of reduction for itself.
//! * [`learned`](LearnedRecord): what was learned while the program ran.
//! * [`event`](Event): one call of the per-call log; [`events`](EventLog): that log in bounded memory.
//!   [`picked`](Parts): what a time line shows of it.
//! * [`messages`](MessageCounts): calls of a thread beside collectives. [`traffic`](Traffic): what our messages sent,
//!   by receiver.
//! * [`named`](RegionRecord): regions that the program names, and sites that it calls from; `named_rows`: the same in
//!   the report.
//! * [`arrivals`], [`meetings`] and [`clock`]: when ranks came to a call, who came last, and by which clock.
//! * [`watch`](Watched): what a thread is in the middle of.
//! * [`under_way`](UnderWayRecord): calls that no counter has yet.
//! * [`record`](RankRecord): what a rank hands in; its `encoding` as bytes.
//! * [`merged`](Merged): what several ranks handed in, within [`bounds`](Bounds); its `parts`, `recorded` by one rank,
//!   `joining` with others' and `keeping` what matters most. [`gathering`]: how it comes to rank 0.
//! * [`summary`](Summary), with its `summary_rows`, and [`merge`]: all ranks' records as one. `rows`: those of all
//!   ranks as they are reported; `index`: equal things of several lists, each once; [`spread`](Spread): a quantity over
//!   ranks; `units`: from what is recorded to what is reported.

#![forbid(unsafe_code)]

pub mod arrivals;
mod bounds;
mod bucket;
mod budget;
mod cache;
mod cache_account;
pub mod clock;
pub mod compare;
mod direct;
mod durations;
mod encoding;
mod epochs;
mod event;
mod events;
mod fold_kind;
mod function;
pub mod gathering;
mod index;
mod joining;
mod keeping;
mod learned;
pub mod meetings;
mod merge;
mod merged;
mod message_call;
mod messages;
mod named;
mod named_rows;
mod parts;
mod picked;
mod record;
mod recorded;
mod rows;
mod shared;
mod spread;
mod summary;
mod summary_rows;
mod table;
#[cfg(test)]
mod tests;
mod traffic;
mod turn;
mod under_way;
mod units;
mod watch;

pub use arrivals::{Arrival, Arrivals, Room};
pub use bounds::{Bounds, LeftOut};
pub use bucket::Bucket;
pub use budget::Budget;
pub use cache::{Cache, HeapBytes};
pub use cache_account::{CacheAccount, CacheUsage};
pub use clock::{CommonClock, PingPong};
pub use compare::{Comparison, Verdict};
pub use direct::Direct;
pub use durations::Steps;
pub use encoding::{DecodeError, TextError};
pub use epochs::Epochs;
pub use event::Event;
pub use events::EventLog;
pub use fold_kind::FoldKind;
pub use function::{Collective, Form, Function};
pub use learned::{Learned, LearnedKey, LearnedRecord, LearnedRow, TriedRecord, TriedRow, join_learned};
pub use meetings::Meeting;
pub use merge::merge;
pub use merged::Merged;
pub use message_call::{Area, MessageCall};
pub use messages::{MessageCounts, MessageSum, Shortness};
pub use named::{FURTHER_SITES, RegionRecord, SiteRecord};
pub use named_rows::{RegionRow, SiteRow};
pub use picked::{Parts, Shown};
pub use record::{
    CacheRecord, ClockRecord, CommunicatorRecord, CounterRecord, DifferenceRecord, ElementsRecord, EpochsRecord,
    GapRecord, JobRecord, LateRecord, LimitsRecord, LinkRecord, MessageRecord, NetworkRecord, OverflowRecord,
    PlayedRecord, RankRecord, ReadableRecord, TrafficRecord,
};
pub use shared::{SharedList, SharedLists};
pub use spread::Spread;
pub use summary::{SCHEMA_VERSION, Summary};
pub use summary_rows::{
    CacheRow, ClockRow, CommunicatorRow, ComparisonRow, DifferenceRow, ElementsRow, LateRow, MessageRow, OverflowRow,
    Overhead, PlayedRow, RankRow, Row, TimelineGapRow, TimelineRow, TrafficRow, Verification,
};
pub use table::{COUNTER_BYTES, CounterId, Key, Label, Overflow, Table};
pub use traffic::Traffic;
pub use turn::{Turn, mixed};
pub use under_way::{CallUnderWayRecord, UnderWayRecord, UnderWayRow};
pub use watch::{Subject, Watched};

/// What stands in the place of an algorithm's name where the call went to the MPI library.
pub const NATIVE: &str = "native";

/// What decided calls that the MPI library carried out to be compared with ours.
pub const NATIVE_EPOCH: &str = "native epoch";

/// What decided calls that the MPI library carried out in our place, to be compared with itself.
pub const OTHER_NATIVE_EPOCH: &str = "native epoch in Collie's place";

/// What decided calls on communicators of one rank.
pub const ONE_RANK: &str = "one rank";
