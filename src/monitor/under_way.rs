//! Calls that are under way while a rank tells what it knows: they are in no counter yet.

use serde::{Deserialize, Serialize};

/// What is under way on a rank, and what its record lacks for that.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnderWayRecord {
    /// The calls. What was counted before them is in the record.
    pub calls: Vec<CallUnderWayRecord>,
    /// Communicators of them whose messages are not in the record.
    pub without_messages: u32,
    /// Communicators of which nothing is in the record, since a call was just counting, or agreeing on something.
    pub left_out: u32,
}

/// A call that is under way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallUnderWayRecord {
    /// The MPI function; empty if it is not known.
    pub function: String,
    /// The communicator's name, or its identity.
    pub communicator: String,
    /// For how long.
    pub ns: u64,
}

/// A call that was under way on a rank when it wrote its record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UnderWayRow {
    /// World rank.
    pub rank: u32,
    /// The MPI function; empty if it is not known.
    pub function: String,
    /// Name of the communicator; `communicator` and its identity where it has none.
    pub communicator: String,
    /// How long it had been under way.
    pub seconds: f64,
}

impl UnderWayRecord {
    /// The calls, as they are reported.
    pub fn rows(&self, rank: u32) -> impl Iterator<Item = UnderWayRow> {
        let row = move |call: &CallUnderWayRecord| UnderWayRow {
            rank,
            function: call.function.clone(),
            communicator: call.communicator.clone(),
            seconds: super::units::seconds(call.ns as f64),
        };
        self.calls.iter().map(row)
    }
}
