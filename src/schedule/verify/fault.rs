//! What the verifier finds wrong, told so that the algorithm's author can see it without a debugger.

use crate::schedule::{Buffer, Range};
use std::fmt;

/// A fault of an algorithm, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("rank {rank}{}: {what}", .step.as_ref().map(|step| format!(", {step}")).unwrap_or_default())]
pub struct Fault {
    /// The rank at fault, or the first one of several.
    pub rank: usize,
    /// The step at fault; none where it is the whole program.
    pub step: Option<At>,
    /// What is wrong.
    pub what: What,
}

/// A step of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct At {
    /// Number of the step in the rank's program.
    pub number: usize,
    /// The step in words.
    pub text: String,
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "step {} ({})", self.number, self.text)
    }
}

/// What is wrong. Units count from the start of their buffer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the names say it")]
pub enum What {
    #[error("this rank has no {0:?} buffer in this call")]
    NoBuffer(Buffer),
    #[error("{range} reaches past the buffer's {units} units")]
    Outside { range: Range, units: usize },
    #[error("the {0:?} buffer is written on a rank where it may be memory that can only be read")]
    ReadOnly(Buffer),
    #[error("the rank's own lengths are written")]
    WritesLengths,
    #[error("unit {unit} of {range} was never written")]
    Undefined { range: Range, unit: usize },
    #[error("{range} is in use by the {message} started in step {step} and not waited for")]
    InUse { range: Range, message: &'static str, step: usize },
    #[error("the ranges differ in length")]
    Lengths,
    #[error("the ranges overlap without being the same")]
    Overlap,
    #[error("unit {unit} of the result combines unit {left} with unit {right} of the contributions")]
    MixedUnits { unit: usize, left: usize, right: usize },
    #[error("rank {0} is no partner")]
    Partner(usize),
    #[error("rank {partner} has nothing to match this {message}, number {number} between the two in this direction")]
    Unmatched { message: &'static str, partner: usize, number: usize },
    #[error("receives {expected} units, but rank {partner} sends {sent}")]
    MessageLength { sent: usize, expected: usize, partner: usize },
    #[error("waits for request {0}, which was not started")]
    UnknownRequest(u32),
    #[error("waits a second time for request {0}")]
    WaitedTwice(u32),
    #[error("this {0} is never waited for")]
    NeverWaited(&'static str),
    #[error("the board is used before the call has entered it")]
    NotEntered,
    #[error("the flag goes to step {to} of this call, but says {from} already")]
    FlagDoesNotGrow { from: u32, to: u32 },
    #[error("step {0} is more than a flag can tell")]
    StepTooLong(u32),
    #[error("more than all ranks arrive in this call")]
    ArrivesTwice,
    #[error("{range} is written, which belongs to another rank")]
    WritesOfOthers { range: Range },
    #[error("{range} was written by rank {writer} ({}), and no flag tells of that", calls(*.ago))]
    ReadsUntold { range: Range, writer: usize, ago: u64 },
    #[error("{range} may still be read by rank {reader} ({})", calls(*.ago))]
    OverwritesUnread { range: Range, reader: usize, ago: u64 },
    #[error("this rank has entered the board {calls} times, rank 0 {first} times")]
    CallsDiffer { calls: u64, first: u64 },
    #[error("waits for ever for rank {partner}, whose flag never comes to step {step} of call {call}")]
    NeverTold { partner: usize, call: u64, step: u32 },
    #[error("leaves without knowing that rank {without} has come")]
    LeavesBefore { without: usize },
    #[error("deadlock: {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Deadlock(Vec<Waiting>),
    #[error("unit {unit} of the result was never written")]
    Missing { unit: usize },
    #[error("unit {unit} of the result holds unit {found} of rank {from} instead of unit {wanted} of rank {of}")]
    Misplaced { unit: usize, found: usize, from: u32, wanted: usize, of: u32 },
    #[error("unit {unit} of the receive buffer is written, which lies in no block")]
    BetweenBlocks { unit: usize },
    #[error("the length in place {number} is not that of the block of rank {from} for rank {to}")]
    Length { number: usize, from: usize, to: usize },
    #[error("unit {unit} of the result is combined from unit {found} of the contributions")]
    Shifted { unit: usize, found: usize },
    #[error("unit {unit} of the result holds {found}")]
    Incomplete { unit: usize, found: String },
    #[error("unit {unit} of the result is not in rank order: it holds {found}")]
    Order { unit: usize, found: String },
    #[error("unit {unit} of the result is combined in another way than on rank 0, so the bits may differ")]
    Differs { unit: usize },
}

/// How many calls ago something was.
fn calls(ago: u64) -> String {
    match ago {
        0 => "in this call".to_owned(),
        1 => "in the call before".to_owned(),
        ago => format!("{ago} calls ago"),
    }
}

/// One link of a deadlock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Who waits.
    pub rank: usize,
    /// Number of the step that waits.
    pub step: usize,
    /// For what: `send` or `receive`.
    pub message: &'static str,
    /// For whom.
    pub partner: usize,
    /// Number of the partner's step that would let it go on.
    pub until: usize,
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let direction = if self.message == "send" { "to" } else { "from" };
        write!(
            f,
            "rank {} waits in step {} for its {} {direction} rank {} (matched there in step {})",
            self.rank, self.step, self.message, self.partner, self.until
        )
    }
}
