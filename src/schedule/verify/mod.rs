//! Interpreter *verify*: runs all ranks' programs on symbolic contents and holds them to what MPI promises.
//!
//! A unit's content is a term over the ranks' contributions, so a result that is right here is right for every data.
//! Checked are: every result complete and right, nothing written between its blocks (in reductions every contribution
//! exactly once, in rank order unless the operation commutes, on all ranks folded alike in an allreduce); no read of
//! what was never written; no write to what a rank contributes, a broadcast's message at its root included, since that
//! may be memory that can only be read; no access outside a buffer; no range in use by an unfinished message; every
//! request waited for exactly once; messages of equal length and none left over; no deadlock; each length that an
//! algorithm learns first the one that it takes it for; where there is no data, that no rank leaves before all have come.
//!
//! Matching follows from the programs alone, and whether a step can go on depends only on which messages were started,
//! so one order of running the ranks stands for all of them. What is right with synchronous sends is right with
//! buffered ones too, since those let a rank go on whenever the former do.
//!
//! [`Orders`] reads from the same run in which order a reduction combines.

mod board;
mod boards;
mod buffers;
mod entries;
mod fault;
mod machine;
mod matching;
mod memory;
mod mode;
mod order;
mod result;
mod terms;
#[cfg(test)]
mod tests;

pub use fault::{At, Fault, Waiting, What};
pub use mode::{Mode, Sends, Verified};
pub use order::{Order, Orders, SameOrder};

use super::{Program, record_all};
use crate::operation::{Call, Choice};

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
    verify_on(&mut boards::Boards::new(programs.len(), call), programs, call, mode)
}

/// Verifies calls that follow one another on a communicator, each with the programs of all ranks, whose memory is
/// shared: a call must leave alone what ranks that are late still read.
///
/// # Errors
/// The number of the call at fault, and its first fault.
pub fn verify_sequence(calls: &[(&[Program], Call)], mode: Mode) -> Result<(), (usize, Fault)> {
    let ranks = calls.iter().map(|(programs, _)| programs.len()).max().unwrap_or(0);
    let Some((_, first)) = calls.first() else { return Ok(()) };
    let mut board = boards::Boards::new(ranks, first);
    for (number, (programs, call)) in calls.iter().enumerate() {
        verify_on(&mut board, programs, call, mode).map_err(|fault| (number, fault))?;
    }
    Ok(())
}

/// Running the calls one after the other asks for more than any rank may rest on: that it gets to the end of a call
/// without any other having begun the next. What is ordered does not depend on it.
fn verify_on(board: &mut boards::Boards, programs: &[Program], call: &Call, mode: Mode) -> Result<Verified, Fault> {
    let mut machine = machine::Machine::new(programs, call, mode, board)?;
    machine.run()?;
    result::check_lengths(call, programs, &machine.buffers)?;
    result::check(call, &machine.buffers, &mut machine.terms)?;
    Ok(machine.verified)
}
