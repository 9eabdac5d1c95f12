//! Functions of a process without MPI that have a name by which some Fortran compilers call a procedure of MPI: a
//! library of large numbers has an `mpi_init` of its own. Their calls come to this library first.

use crate::process::library;
use std::ffi::CStr;

/// What such a function is called as: it takes no more words than the procedure, and may give one back.
pub type Namesake = unsafe extern "C-unwind" fn(usize, usize, usize) -> usize;

/// The next function of that name, if there is no MPI library for which the call could be.
#[cold]
pub fn of(name: &CStr) -> Option<Namesake> {
    if !library::is_absent() {
        return None;
    }
    // SAFETY: the name ends in a zero byte.
    let found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    // SAFETY: an address that is not null, of what the program calls by this name; on all platforms of ours, words that
    // a function does not take are in registers that it does not read.
    (!found.is_null()).then(|| unsafe { std::mem::transmute::<*mut libc::c_void, Namesake>(found) })
}

/// Whether a symbol begins MPI and is spelled as C spells its functions.
pub const fn may_have_one(symbol: &str) -> bool {
    matches!(symbol.as_bytes(), b"mpi_init" | b"mpi_init_thread")
}
