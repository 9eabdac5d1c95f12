//! What is recorded per call, and its summary over all ranks. Nothing here speaks MPI or reads a clock.
//!
//! Each rank keeps one [`Table`] per communicator; at the end it hands in a [`RankRecord`]; rank 0 merges them into a
//! [`Summary`], which is all that the writers in `report` see.
//!
//! * [`function`](Function): every collective function of MPI by name.
//! * [`bucket`](Bucket): size classes.
//! * [`table`](Table): the hot path.
//! * [`record`](RankRecord): what a rank hands in, as bytes.
//! * [`summary`](Summary) and [`merge`]: all ranks' records as one.

#![forbid(unsafe_code)]

mod bucket;
mod function;
mod merge;
mod record;
mod summary;
mod table;

pub use bucket::Bucket;
pub use function::{Collective, Form, Function};
pub use merge::merge;
pub use record::{CellRecord, CommunicatorRecord, DecodeError, JobRecord, RankRecord};
pub use summary::{CommunicatorRow, Overhead, RankRow, Row, Spread, Summary};
pub use table::{CellId, Key, Label, Table};

/// What stands in the place of an algorithm's name where the call went to the MPI library.
pub const NATIVE: &str = "native";
