//! The entry that ends all communication on a communicator, for programs that survive the failure of processes (the
//! extension of MPI named User Level Failure Mitigation, ULFM).

use super::native::native_procedure;
use crate::communicator::private;
use crate::mpi::mixed::about_to_revoke;
use crate::mpi::procedures::procedure;
use mpi_sys::MPI_Comm;
use std::os::raw::c_int;

/// `MPIX_Comm_revoke` of ULFM. Ranks that wait in one of our algorithms wait in the private communicator, which is
/// revoked as well.
///
/// # Safety
/// As ULFM says.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn MPIX_Comm_revoke(comm: MPI_Comm) -> c_int {
    let native = native_procedure!(procedure("PMPIX_Comm_revoke\0") as fn(comm: MPI_Comm) -> c_int);
    about_to_revoke();
    // The private one last: whoever is woken finds that of the program revoked.
    // SAFETY: the library's procedure of that name takes this argument, the program's own.
    let revoked = unsafe { native(comm) };
    if let Some(private) = private::of(comm) {
        // SAFETY: a communicator that is held; what comes of it is no business of the program's.
        unsafe { native(private) };
    }
    revoked
}
