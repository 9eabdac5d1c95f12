//! The MPI library's own procedures by name: those of its Fortran bindings, and those that its header may not declare.

use crate::mpi::constants;
use crate::mpi::family::{FORTRAN_LIBRARIES, FORTRAN_REQUESTS_HAVE_PMPI};
use std::ffi::CStr;
use std::os::raw::c_void;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The library's procedure of that name, which ends in a zero byte; looked up once.
pub(crate) fn find(kept: &AtomicPtr<c_void>, name: &str) -> *mut c_void {
    find_either(kept, name, name)
}

/// The library's procedure of one of two names, which end in a zero byte; looked up once. Versions of a library may have the
/// same procedure under different names.
pub(crate) fn find_either(kept: &AtomicPtr<c_void>, name: &str, other: &str) -> *mut c_void {
    let known = kept.load(Ordering::Relaxed);
    if !known.is_null() {
        return known;
    }
    let names = [name, other]
        .map(|name| CStr::from_bytes_with_nul(name.as_bytes()).expect("names of the table end in a zero byte"));
    let found = names.iter().map(|name| look_up(name)).find(|found| !found.is_null());
    let found = found.unwrap_or_else(|| missing(names[0]));
    kept.store(found, Ordering::Relaxed);
    found
}

fn look_up(name: &CStr) -> *mut c_void {
    // Nothing of ours has a PMPI name, so what comes first is the library's.
    // SAFETY: the name ends in a zero byte.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    if found.is_null() { look_up_in_fortran(name) } else { found }
}

/// A program that is loaded by another, such as a module of Python, keeps its libraries to itself. Ours is in none of them.
fn look_up_in_fortran(name: &CStr) -> *mut c_void {
    let look_up = |library: &&CStr| {
        // SAFETY: both names end in a zero byte, and a library that is there already runs no code.
        unsafe {
            let library = libc::dlopen(library.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
            if library.is_null() { library } else { libc::dlsym(library, name.as_ptr()) }
        }
    };
    FORTRAN_LIBRARIES.iter().map(look_up).find(|found| !found.is_null()).unwrap_or(std::ptr::null_mut())
}

/// The library's procedure of that name, which ends in a zero byte; looked up once. Null where it has none.
pub(crate) fn find_if_there(kept: &AtomicPtr<c_void>, name: &str) -> *mut c_void {
    let known = kept.load(Ordering::Relaxed);
    if !known.is_null() {
        return known;
    }
    let found = look_up(CStr::from_bytes_with_nul(name.as_bytes()).expect("names end in a zero byte"));
    kept.store(found, Ordering::Relaxed);
    found
}

/// The library's procedure that one of ours under the same name, which ends in a zero byte, hides; looked up once.
pub(crate) fn find_next(kept: &AtomicPtr<c_void>, name: &str) -> *mut c_void {
    let known = kept.load(Ordering::Relaxed);
    if !known.is_null() {
        return known;
    }
    let text = CStr::from_bytes_with_nul(name.as_bytes()).expect("names of the table end in a zero byte");
    // SAFETY: the name ends in a zero byte.
    let mut found = unsafe { libc::dlsym(libc::RTLD_NEXT, text.as_ptr()) };
    if found.is_null() {
        found = look_up_in_fortran(text);
    }
    if found.is_null() {
        missing(text)
    }
    kept.store(found, Ordering::Relaxed);
    found
}

/// The library's own Fortran procedure that deals with messages, requests, windows or files; looked up once.
pub(crate) fn of_fortran(kept: &AtomicPtr<c_void>, name: &str) -> *mut c_void {
    if FORTRAN_REQUESTS_HAVE_PMPI { find(kept, name) } else { find_next(kept, name) }
}

/// Tells that the library lacks what the program calls, and ends the job.
fn missing(name: &CStr) -> ! {
    super::log::tell_before_the_end(&format!("the MPI library has no {}; ending the job", name.to_string_lossy()));
    // SAFETY: the program calls MPI, so MPI is initialised, or says itself that it is not.
    unsafe { mpi_sys::PMPI_Abort(constants::comm_world(), 70) };
    std::process::abort()
}
