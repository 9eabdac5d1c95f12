//! Which MPI library the program runs on.

use super::log;
use crate::mpi::family;
use std::ffi::{CStr, c_char};

/// The MPI library's own words on what it is; may be asked before `MPI_Init`.
pub fn version() -> String {
    // Not the constant of the MPI built for: another family's is up to 8192, and this is asked to find out which it is.
    let mut text = vec![0 as c_char; 1 << 14];
    let mut length = 0;
    // SAFETY: the buffer has the room that MPI asks for and ends in a zero.
    let text = unsafe {
        mpi_sys::PMPI_Get_library_version(text.as_mut_ptr(), &mut length);
        CStr::from_ptr(text.as_ptr())
    };
    text.to_string_lossy().into_owned()
}

/// Ends the process with a clear word if the program's MPI is not of the family that this library was built for: the
/// handles of the two have nothing in common.
pub fn refuse_other_family() {
    let found = version();
    let is_open_mpi = found.contains("Open MPI");
    if is_open_mpi != family::IS_OPEN_MPI {
        let built_for = if is_open_mpi { "MPICH" } else { "Open MPI" };
        log::tell(&format!(
            "this libcollie.so was built for {built_for}, but the program runs on {}; \
             preload the one of its own family (dist/openmpi/lib or dist/mpich/lib)",
            found.lines().next().unwrap_or("another MPI")
        ));
        std::process::exit(78);
    }
}
