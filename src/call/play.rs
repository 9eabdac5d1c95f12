//! An algorithm that was decided on, played for a call.

use super::arguments::Arguments;
use super::device_memory::OnHost;
use super::local_arguments::LocalArguments;
use super::program::{Prepared, seat_and_call};
use crate::communicator::failures;
use crate::communicator::state::Communicator;
use crate::monitor::Traffic;
use crate::mpi::error::{Error, Result, SUCCESS};
use crate::operation::{Choice, Operation};
use crate::process::device::NotCopied;
use crate::process::{flags, guard, runtime};
use crate::run::Counts;
use crate::schedule::lower::Part;
use std::os::raw::c_int;
use std::sync::atomic::Ordering;

/// What became of a call that an algorithm carried out.
pub struct Played {
    /// The code to return to the program.
    pub code: c_int,
    /// Whether this rank had copies of buffers that a GPU owns.
    pub copied: bool,
}

/// Plays an algorithm.
#[inline]
pub fn ours(
    communicator: &Communicator,
    arguments: &Arguments,
    local: &LocalArguments,
    choice: &Choice,
    prepared: &Prepared,
) -> Played {
    let sides = [arguments.send.address, arguments.receive.address].map(|address| address.cast_mut().cast());
    let play = |sides| play(communicator, arguments.operation, local, sides, choice, prepared);
    let (result, copied) = match communicator.asks_for_device_memory() {
        false => (play(sides), false),
        true => beside_a_gpu(communicator, arguments, local, sides, play),
    };
    let code = match result {
        Ok(()) => SUCCESS,
        Err(error) => {
            let error = failures::noticed(arguments.comm, error);
            guard::raise(arguments.comm, error, arguments.operation.row().mpi_name)
        }
    };
    Played { code, copied }
}

/// The same where buffers may be a GPU's; whether some were.
#[cold]
fn beside_a_gpu(
    communicator: &Communicator,
    arguments: &Arguments,
    local: &LocalArguments,
    sides: [*mut u8; 2],
    play: impl Fn([*mut u8; 2]) -> Result,
) -> (Result, bool) {
    let failed = |error: NotCopied| {
        log::error!("{}: {error}", arguments.operation.row().mpi_name);
        Error(mpi_sys::MPI_ERR_OTHER as c_int)
    };
    match OnHost::of(communicator, arguments, local, sides) {
        Ok(None) => (play(sides), false),
        Ok(Some(on_host)) => {
            let result = play(on_host.sides).and_then(|()| on_host.bring_back().map_err(failed));
            (result, true)
        }
        Err(error) => (Err(failed(error)), true),
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
    let is_recorded = runtime::get().is_none_or(|runtime| runtime.recording.load(Ordering::Relaxed));
    let counts = || (communicator.tally.traffic.borrow_mut(), communicator.tally.played.borrow_mut());
    if is_recorded && prepared.is_kept() && !flags::is_set(flags::WATCHED) {
        let (mut traffic, mut played) = counts();
        return prepared.play(sides, None, &mut traffic, &mut played);
    }
    let (seat, call) = seat_and_call(communicator, operation, local);
    let part = Part { choice, call: &call, rank: seat.rank, size: seat.size };
    if !is_recorded {
        // Nobody counts what is sent while recording is off (`MPI_Pcontrol`).
        return prepared.play(sides, Some(&part), &mut Traffic::new(seat.size), &mut Counts::default());
    }
    let (mut traffic, mut played) = counts();
    prepared.play(sides, Some(&part), &mut traffic, &mut played)
}
