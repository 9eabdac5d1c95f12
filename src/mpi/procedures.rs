//! The MPI library's own procedures by name: those that exceptions may come out of, those of its Fortran bindings, and
//! those that its header may not declare. Names end in a zero byte, and each is looked up once.

use super::end::{EX_SOFTWARE, end_job};
use super::family::{FORTRAN_LIBRARIES, FORTRAN_REQUESTS_HAVE_PMPI};
use super::library;
use std::ffi::CStr;
use std::os::raw::c_void;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The procedure of that name. Ends the job where the library has none: the program called what its own header does not
/// declare.
#[inline]
pub fn procedure(kept: &AtomicPtr<c_void>, name: &str) -> *mut c_void {
    once(kept, || found_or_end(of_library(c_text(name)), name))
}

/// The procedure of one of two names: versions of a library may have the same one under different names. Ends the job
/// where it has neither.
pub(crate) fn of_either_name(kept: &AtomicPtr<c_void>, name: &str, other: &str) -> *mut c_void {
    once(kept, || found_or_end(of_library(c_text(name)).or_else(|| of_library(c_text(other))), name))
}

/// The procedure of that name; null where the library has none.
pub(crate) fn if_there(kept: &AtomicPtr<c_void>, name: &str) -> *mut c_void {
    once(kept, || of_library(c_text(name)).map_or(std::ptr::null_mut(), NonNull::as_ptr))
}

/// The procedure that one of ours under the same name hides. Ends the job where there is none.
pub(crate) fn hidden(kept: &AtomicPtr<c_void>, name: &str) -> *mut c_void {
    let look_up = || symbol(libc::RTLD_NEXT, c_text(name)).or_else(|| of_fortran_libraries(c_text(name)));
    once(kept, || found_or_end(look_up(), name))
}

/// The Fortran procedure that deals with messages, requests, windows or files. Ends the job where there is none.
pub(crate) fn of_fortran(kept: &AtomicPtr<c_void>, name: &str) -> *mut c_void {
    if FORTRAN_REQUESTS_HAVE_PMPI { procedure(kept, name) } else { hidden(kept, name) }
}

/// Whether all of the process sees a procedure of that name.
pub fn has(name: &CStr) -> bool {
    symbol(libc::RTLD_DEFAULT, name).is_some()
}

/// What is kept, or else what `look_up` finds.
#[inline]
fn once(kept: &AtomicPtr<c_void>, look_up: impl FnOnce() -> *mut c_void) -> *mut c_void {
    let known = kept.load(Ordering::Relaxed);
    if known.is_null() { keep(kept, look_up) } else { known }
}

#[cold]
fn keep(kept: &AtomicPtr<c_void>, look_up: impl FnOnce() -> *mut c_void) -> *mut c_void {
    let found = look_up();
    kept.store(found, Ordering::Relaxed);
    found
}

/// What comes first in the process is the library's, as nothing of ours has a PMPI name.
fn of_library(name: &CStr) -> Option<NonNull<c_void>> {
    let look_up = || symbol(libc::RTLD_DEFAULT, name).or_else(|| of_fortran_libraries(name));
    look_up().or_else(|| {
        // A program that has kept the MPI library to itself, and come to `MPI_Init` past our entries, need not begin
        // with a call that starts the runtime.
        // SAFETY: bound before, or this is the first call that comes here: nothing has read a constant that is still to
        // be found.
        unsafe { library::bind() }.ok().and_then(|()| look_up())
    })
}

/// A program that is loaded by another, such as a module of Python, keeps its libraries to itself. Ours is in none of
/// them.
fn of_fortran_libraries(name: &CStr) -> Option<NonNull<c_void>> {
    FORTRAN_LIBRARIES.iter().find_map(|library| {
        // SAFETY: the name ends in a zero byte, and a library that is there already runs no code. It stays as long as
        // the process has it: the handle is not closed.
        let library = unsafe { libc::dlopen(library.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
        NonNull::new(library).and_then(|library| symbol(library.as_ptr(), name))
    })
}

/// The address of a name in a library or, by the pseudo handles of `dlsym`, in the process.
fn symbol(library: *mut c_void, name: &CStr) -> Option<NonNull<c_void>> {
    // SAFETY: a handle of `dlopen` that is not closed, or a pseudo handle; the name ends in a zero byte.
    NonNull::new(unsafe { libc::dlsym(library, name.as_ptr()) })
}

fn found_or_end(found: Option<NonNull<c_void>>, name: &str) -> *mut c_void {
    match found {
        Some(found) => found.as_ptr(),
        None => {
            let name = name.trim_end_matches('\0');
            end_job(&format!("the MPI library has no {name}; ending the job"), EX_SOFTWARE)
        }
    }
}

fn c_text(name: &str) -> &CStr {
    CStr::from_bytes_with_nul(name.as_bytes()).expect("names end in a zero byte")
}
