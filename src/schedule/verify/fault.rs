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
#[allow(missing_docs)]
pub enum What {
    #[error("this rank has no {0:?} buffer in this call")]
    NoBuffer(Buffer),
    #[error("{range} reaches past the buffer's {units} units")]
    Outside { range: Range, units: usize },
    #[error("the send buffer is written")]
    WritesSend,
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
