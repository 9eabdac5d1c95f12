//! Weak references: by one, a program finds out whether the MPI library has a procedure. mpi4py asks so for what
//! versions of MPI added, whose header it was not compiled with.
//!
//! This library has an entry for each such procedure, as it serves all versions of its family. Where the MPI library of
//! the process has none, references to the entry are taken back, so that the program sees what it would see without
//! Collie.

use super::procedures::has;
use super::references::{self, Reference};
use std::ffi::{CString, c_void};
use std::ops::Range;

/// Takes weak references back that lead to an entry of ours whose procedure the MPI library does not have. Called when
/// the MPI library is known and visible to all.
pub fn take_back() {
    let own = object_of(take_back as *const () as usize);
    let references = references::to(|symbol| symbol.is_weak && symbol.name.to_bytes().starts_with(b"MPI"));
    // Nobody unloads an object while the program initialises MPI.
    for Reference { place, address, name, read_only } in references {
        let native = CString::new([b"P", name.as_bytes()].concat()).expect("a name has no zero byte in it");
        if address != 0 && object_of(address) == own && !has(&native) {
            clear(place, &read_only);
        }
    }
}

/// Where the object begins that an address lies in.
fn object_of(address: usize) -> usize {
    // SAFETY: the structure is one of C's, of pointers that may be null.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: any address may be asked about.
    if unsafe { libc::dladdr(address as *const c_void, &raw mut info) } == 0 { 0 } else { info.dli_fbase.addr() }
}

/// Sets a place to null; where that fails it stays as it is, and a call of the procedure says that there is none.
fn clear(place: *mut usize, read_only: &Range<usize>) {
    // SAFETY: sysconf has no preconditions.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
    let start = place.addr() & !(page - 1);
    let protect = |how| {
        // SAFETY: one page of an object's data, which nothing else writes to; how it is protected changes no value.
        unsafe { libc::mprotect(place.with_addr(start).cast(), page, how) == 0 }
    };
    let is_protected = read_only.contains(&place.addr());
    if !is_protected || protect(libc::PROT_READ | libc::PROT_WRITE) {
        // SAFETY: writable now, and aligned as the loader wants it.
        unsafe { place.write(0) };
    }
    if is_protected {
        protect(libc::PROT_READ);
    }
}
