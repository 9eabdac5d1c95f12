//! Processes that fail in the middle of an algorithm, in programs that survive it (ULFM).
//!
//! Open MPI ends its own collectives with `MPI_ERR_PROC_FAILED` on every rank of the communicator then. Messages fail
//! only where they are the failed rank's own: a rank that gets such an error leaves the algorithm, and others wait for
//! what it has not sent. So whoever gets one revokes the private communicator, which wakes the others; what they get is
//! the same error, unless the program has revoked its own. As with Open MPI's collectives, the communicator carries out
//! no more calls until it is shrunk.

use super::private;
use crate::mpi::error::Error;
use crate::mpi::family::{self, Failures};
use crate::mpi::procedures::if_there;
use mpi_sys::MPI_Comm;
use std::os::raw::{c_int, c_void};
use std::sync::atomic::AtomicPtr;

/// What to tell the program, of a call on `comm` that ended with this error.
#[cold]
pub fn noticed(comm: MPI_Comm, error: Error) -> Error {
    let (Some(Failures { failed, revoked }), Some(private)) = (family::FAILURES, private::of(comm)) else {
        return error;
    };
    match error.class() {
        class if class == failed => {
            revoke(private);
            error
        }
        class if class == revoked && !is_revoked(comm) => Error(failed),
        _ => error,
    }
}

fn revoke(private: MPI_Comm) {
    type Revoke = unsafe extern "C" fn(MPI_Comm) -> c_int;
    static REVOKE: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
    let revoke = if_there(&REVOKE, "PMPIX_Comm_revoke\0");
    if !revoke.is_null() {
        // SAFETY: the library's procedure of that name takes this argument, a communicator that is held.
        unsafe { std::mem::transmute::<*mut c_void, Revoke>(revoke)(private) };
    }
}

fn is_revoked(comm: MPI_Comm) -> bool {
    type IsRevoked = unsafe extern "C" fn(MPI_Comm, *mut c_int) -> c_int;
    static IS_REVOKED: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
    let is_revoked = if_there(&IS_REVOKED, "PMPIX_Comm_is_revoked\0");
    let mut answer = 0;
    if !is_revoked.is_null() {
        // SAFETY: the library's procedure of that name takes these arguments; the answer is valid for writes.
        unsafe { std::mem::transmute::<*mut c_void, IsRevoked>(is_revoked)(comm, &mut answer) };
    }
    answer != 0
}
