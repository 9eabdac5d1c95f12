//! Waiting for requests: what a status holds is what is returned, and nothing is left under way.

use super::constants;
use super::error::{Error, Result, SUCCESS, check};
use mpi_sys::{MPI_Request, MPI_Status};
use std::mem::MaybeUninit;
use std::os::raw::c_int;

/// Requests that are waited for at once: as many statuses lie on the stack.
const AT_ONCE: usize = 16;

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
pub(super) fn wait_for(requests: &mut [MPI_Request], yielding: bool) -> Result {
    match requests {
        [request] => wait_for_one(request, yielding),
        _ => requests.chunks_mut(AT_ONCE).map(|some| wait_for_some(some, yielding)).fold(Ok(()), Result::and),
    }
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

/// The same for up to [`AT_ONCE`]. Of several, MPI says only in their statuses what went wrong; they are written in any
/// case and looked at after an error.
fn wait_for_some(requests: &mut [MPI_Request], yielding: bool) -> Result {
    let mut statuses = [const { MaybeUninit::<MPI_Status>::uninit() }; AT_ONCE];
    for status in &mut statuses[..requests.len()] {
        // SAFETY: the field lies in the status. MPI writes it only where some message fails.
        unsafe { (&raw mut (*status.as_mut_ptr()).MPI_ERROR).write(SUCCESS) };
    }
    let (into, count) = (statuses.as_mut_ptr().cast::<MPI_Status>(), requests.len() as c_int);
    let waited = if yielding {
        // SAFETY: the slice holds `count` requests, for which there are as many statuses.
        poll(|done| check(unsafe { mpi_sys::PMPI_Testall(count, requests.as_mut_ptr(), done, into) }))
    } else {
        // SAFETY: as above.
        check(unsafe { mpi_sys::PMPI_Waitall(count, requests.as_mut_ptr(), into) })
    };
    if waited != Err(Error(mpi_sys::MPI_ERR_IN_STATUS as c_int)) {
        return waited;
    }
    let errors = statuses[..requests.len()].iter().map(|status| {
        // SAFETY: written above if not by MPI.
        unsafe { (&raw const (*status.as_ptr()).MPI_ERROR).read() }
    });
    let (first, others) = (first_error(errors), waited_alone(requests, yielding));
    first.and(others).and(waited)
}

/// The first of the codes of several messages that says what went wrong with one.
fn first_error(codes: impl Iterator<Item = c_int>) -> Result {
    let says_nothing = [SUCCESS, mpi_sys::MPI_ERR_PENDING as c_int];
    codes.filter(|code| !says_nothing.contains(code)).try_for_each(check)
}

/// After an error MPI may leave the others under way, which would write into memory that is used for something else
/// later.
fn waited_alone(requests: &mut [MPI_Request], yielding: bool) -> Result {
    let null = constants::request_null();
    let under_way = requests.iter_mut().filter(|request| **request != null);
    under_way.map(|request| wait_for_one(request, yielding)).fold(Ok(()), Result::and)
}

/// Whether a request is finished, and the null request from then on; never waits.
pub(super) fn test(request: &mut MPI_Request) -> Result<bool> {
    let mut done = 0;
    // SAFETY: a request of ours that is under way, or the null request, and a flag that is valid for writes; no status
    // is asked for.
    check(unsafe { mpi_sys::PMPI_Test(request, &mut done, constants::status_ignore()) })?;
    Ok(done != 0)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_status_with_an_error_of_its_own_counts() {
        let (success, pending) = (SUCCESS, mpi_sys::MPI_ERR_PENDING as c_int);
        let truncated = mpi_sys::MPI_ERR_TRUNCATE as c_int;
        assert_eq!(first_error([success, pending, truncated, pending, 1].into_iter()), Err(Error(truncated)));
        assert_eq!(first_error([success, pending].into_iter()), Ok(()));
    }
}
