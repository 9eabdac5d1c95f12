//! An algorithm that was decided on, played for a call.

use super::arguments::Arguments;
use super::local_arguments::LocalArguments;
use super::program::{Prepared, seat_and_call};
use crate::algorithm::{Choice, Operation};
use crate::communicator::failures;
use crate::communicator::state::Communicator;
use crate::mpi::error::{Result, SUCCESS};
use crate::process::{flags, guard};
use crate::schedule::lower::Part;
use std::os::raw::c_int;

/// Plays an algorithm; gives the code to return to the program.
#[inline]
pub fn ours(
    communicator: &Communicator,
    arguments: &Arguments,
    local: &LocalArguments,
    choice: &Choice,
    prepared: &Prepared,
) -> c_int {
    let sides = [arguments.send.address, arguments.receive.address].map(|address| address.cast_mut().cast());
    match play(communicator, arguments.operation, local, sides, choice, prepared) {
        Ok(()) => SUCCESS,
        Err(error) => {
            let error = failures::noticed(arguments.comm, error);
            guard::raise(arguments.comm, error, arguments.operation)
        }
    }
}

/// The same on buffers that need not be the program's.
///
/// # Errors
/// The first error that PMPI returned.
#[inline]
pub fn play(
    communicator: &Communicator,
    operation: Operation,
    local: &LocalArguments,
    sides: [*mut u8; 2],
    choice: &Choice,
    prepared: &Prepared,
) -> Result {
    let (mut traffic, mut played) = (communicator.tally.traffic.borrow_mut(), communicator.tally.played.borrow_mut());
    if prepared.is_kept() && !flags::is_set(flags::WATCHED) {
        return prepared.play(sides, None, &mut traffic, &mut played);
    }
    let (seat, call) = seat_and_call(communicator, operation, local);
    let part = Part { choice, call: &call, rank: seat.rank, size: seat.size };
    prepared.play(sides, Some(&part), &mut traffic, &mut played)
}
