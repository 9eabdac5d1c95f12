//! Interpreter *verify*: runs all ranks' programs on symbolic contents and holds them to what MPI promises.
//!
//! A unit's content is a term over the ranks' contributions, so a result that is right here is right for every data.
//! Checked are: every result complete and right (in reductions every contribution exactly once, in rank order unless
//! the operation commutes, on all ranks folded alike in an allreduce); no read of what was never written; no access
//! outside a buffer; no range in use by an unfinished message; every request waited for exactly once; messages of
//! equal length and none left over; no deadlock.
//!
//! Matching follows from the programs alone, and whether a step can go on depends only on which messages were started,
//! so one order of running the ranks stands for all of them. What is right with synchronous sends is right with
//! buffered ones too, since those let a rank go on whenever the former do.

mod buffers;
mod fault;
mod machine;
mod matching;
mod memory;
mod result;
mod terms;
#[cfg(test)]
mod tests;

pub use fault::{At, Fault, Waiting, What};

use super::{Program, record_all};
use crate::algorithm::{Call, Choice};

/// When a send is finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sends {
    /// At once, as if there were room for every message.
    Buffered,
    /// When the matching receive has been started.
    Synchronous,
}

/// Under what the programs run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    /// Whether `Send` and `Receive` share memory (`MPI_IN_PLACE`), where both exist.
    pub in_place: bool,
    /// When a send is finished.
    pub sends: Sends,
}

impl Mode {
    /// Separate buffers, synchronous sends.
    pub const STRICT: Self = Self { in_place: false, sends: Sends::Synchronous };
    /// `MPI_IN_PLACE`, synchronous sends.
    pub const STRICT_IN_PLACE: Self = Self { in_place: true, sends: Sends::Synchronous };
}

/// What a verified call amounts to, all ranks together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Messages sent, those of zero units too.
    pub messages: usize,
    /// Units sent.
    pub units_sent: usize,
    /// Units of results of folds.
    pub units_folded: usize,
}

/// Verifies what `choice` does for `call` among `size` ranks, in place as the mode says.
///
/// # Errors
/// The first fault found.
pub fn verify(choice: &Choice, call: &Call, size: usize, mode: Mode) -> Result<Verified, Fault> {
    let call = Call { in_place: mode.in_place && call.operation.tells_in_place(), ..*call };
    verify_programs(&record_all(choice, &call, size), &call, mode)
}

/// Verifies all ranks' `programs` for `call`.
///
/// # Errors
/// The first fault found.
pub fn verify_programs(programs: &[Program], call: &Call, mode: Mode) -> Result<Verified, Fault> {
    let mut machine = machine::Machine::new(programs, call, mode)?;
    machine.run()?;
    result::check(call, &machine.buffers, &mut machine.terms)?;
    Ok(machine.verified)
}
