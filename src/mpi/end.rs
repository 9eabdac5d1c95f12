//! The end of a job that cannot go on.

use super::constants;
use super::words::tell_before_the_end;
use std::os::raw::c_int;

/// Results are wrong (`EX_DATAERR` of `sysexits.h`, like the others).
pub const EX_DATAERR: c_int = 65;
/// Something is wrong with Collie itself, or with what it finds in the process.
pub const EX_SOFTWARE: c_int = 70;
/// What the user has set, or put together, is wrong.
pub const EX_CONFIG: c_int = 78;

/// Tells why, and ends the job: one rank that goes on without the others, or otherwise than they, leaves them waiting.
pub fn end_job(words: &str, code: c_int) -> ! {
    tell_before_the_end(words);
    // SAFETY: the process has an MPI library, since the program has called it. Before `MPI_Init` and after
    // `MPI_Finalize` the library says itself that it is too early or too late; where it returns, the process ends
    // below.
    unsafe { mpi_sys::PMPI_Abort(constants::comm_world(), code) };
    std::process::abort()
}
