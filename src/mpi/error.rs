//! The return codes of MPI as a `Result`.

use std::os::raw::c_int;

/// An MPI error code other than `MPI_SUCCESS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("MPI error code {0}")]
pub struct Error(pub c_int);

/// What an MPI call gives.
pub type Result<T = ()> = std::result::Result<T, Error>;

/// Turns an MPI return code into a `Result`.
///
/// # Errors
/// Any code other than `MPI_SUCCESS`.
pub const fn check(code: c_int) -> Result {
    if code == mpi_sys::MPI_SUCCESS as c_int { Ok(()) } else { Err(Error(code)) }
}
