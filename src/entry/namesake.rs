//! Functions of a process without MPI that have a name by which some Fortran compilers call a procedure of MPI: a
//! library of large numbers has an `mpi_init` of its own. Their calls come to this library first.

use crate::process::library;
use std::ffi::CStr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// What such a function is called as: with all words that are passed in registers. It may give one back.
pub type Namesake = unsafe extern "C-unwind" fn(usize, usize, usize, usize, usize, usize) -> usize;

/// Where the function of a name is, once it was found.
#[derive(Debug)]
pub struct Kept(AtomicPtr<libc::c_void>);

impl Kept {
    /// Not yet.
    pub const fn new() -> Self {
        Self(AtomicPtr::new(std::ptr::null_mut()))
    }

    /// The next function of that name, if there is no MPI library for which the call could be.
    #[cold]
    pub fn of(&self, name: &CStr) -> Option<Namesake> {
        let mut found = self.0.load(Ordering::Relaxed);
        if found.is_null() {
            if !library::is_absent() {
                return None;
            }
            // SAFETY: the name ends in a zero byte.
            found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
            self.0.store(found, Ordering::Relaxed);
        }
        // SAFETY: an address that is not null, of what the program calls by this name; on all platforms of ours, words
        // that a function does not take are in registers that it does not read.
        (!found.is_null()).then(|| unsafe { std::mem::transmute::<*mut libc::c_void, Namesake>(found) })
    }
}

/// Whether a symbol begins MPI and is spelled as C spells its functions.
pub const fn may_have_one(symbol: &str) -> bool {
    matches!(symbol.as_bytes(), b"mpi_init" | b"mpi_init_thread")
}
