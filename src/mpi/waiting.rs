//! Waiting for requests: each error is that of a message, and nothing is left under way.

use super::constants;
use super::error::{Result, check};
use mpi_sys::MPI_Request;
use std::mem::MaybeUninit;
use std::os::raw::c_int;

/// Whether a request of the program's is complete, which it stays to be completed by the program.
///
/// # Errors
/// What PMPI returned.
pub fn is_complete(request: MPI_Request) -> Result<bool> {
    let (mut done, mut status) = (0, MaybeUninit::uninit());
    // SAFETY: the out-parameters are valid for writes.
    check(unsafe { mpi_sys::PMPI_Request_get_status(request, &mut done, status.as_mut_ptr()) })?;
    Ok(done != 0)
}

/// Waits for all of some requests, also when one of them fails. Gives the first error that a message met.
///
/// One after the other: `PMPI_Waitall` and `PMPI_Testall` know no communicator whose error handler an error would be
/// for, and MPICH asks that of `MPI_COMM_SELF`, which may end the job.
pub(super) fn wait_for(requests: &mut [MPI_Request], yielding: bool) -> Result {
    requests.iter_mut().map(|request| wait_for_one(request, yielding)).fold(Ok(()), Result::and)
}

fn wait_for_one(request: &mut MPI_Request, yielding: bool) -> Result {
    let status = constants::status_ignore();
    if yielding {
        // SAFETY: the request is under way or null, and nobody else has it; the memory that its message moves stays
        // valid until it is finished, as whoever started it has promised. No status is asked for.
        poll(|done| check(unsafe { mpi_sys::PMPI_Test(request, done, status) }))
    } else {
        // SAFETY: as for the test.
        check(unsafe { mpi_sys::PMPI_Wait(request, status) })
    }
}

/// Whether a request is finished, and the null request from then on; never waits.
pub(super) fn test(request: &mut MPI_Request) -> Result<bool> {
    let mut done = 0;
    // SAFETY: a request of ours that is under way, or the null request, and a flag that is valid for writes; no status
    // is asked for.
    check(unsafe { mpi_sys::PMPI_Test(request, &mut done, constants::status_ignore()) })?;
    Ok(done != 0)
}

/// Cancels a receive and waits for it; nothing comes any more then.
#[cold]
pub(super) fn cancel(request: &mut MPI_Request) {
    // SAFETY: a receive of ours that is under way, and nobody else has it.
    let cancelled = check(unsafe { mpi_sys::PMPI_Cancel(request) });
    let ended = cancelled.and_then(|()| wait_for_one(request, true));
    if let Err(error) = ended {
        log::warn!("a receive that was given up: {error:?}");
    }
}

/// Polls until `test` sets its flag, giving the core to another rank in between.
fn poll(mut test: impl FnMut(*mut c_int) -> Result) -> Result {
    loop {
        let mut done = 0;
        test(&mut done)?;
        if done != 0 {
            return Ok(());
        }
        std::thread::yield_now();
    }
}
