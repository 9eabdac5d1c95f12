//! Weak references: by one, a program finds out whether the MPI library has a procedure. mpi4py asks so for what versions of MPI
//! added, whose header it was not compiled with.
//!
//! This library has an entry for each such procedure, as it serves all versions of its family. Where the MPI library of the
//! process has none, references to the entry are taken back, so that the program sees what it would see without Collie.

use super::library::has;
use std::ffi::{CStr, CString, c_int, c_void};
use std::ops::Range;

/// A place in a loaded object that holds the address of a procedure of MPI, which may be missing.
struct Reference {
    place: *mut usize,
    name: CString,
    /// What the loader made read-only after it had written addresses there.
    read_only: Range<usize>,
}

/// Takes weak references back that lead to an entry of ours whose procedure the MPI library does not have. Called when the MPI
/// library is known and visible to all.
pub fn take_back() {
    let mut references = Vec::new();
    // SAFETY: the vector outlives the call, and the function is for it.
    unsafe { libc::dl_iterate_phdr(Some(collect), (&raw mut references).cast()) };
    let own = object_of(take_back as *const () as usize);
    for Reference { place, name, read_only } in references {
        // SAFETY: a place that the loader has written, in an object that nobody unloads while the program initialises MPI.
        let address = unsafe { place.read() };
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

/// Entries of the dynamic section.
mod tag {
    pub const NULL: i64 = 0;
    pub const STRINGS: i64 = 5;
    pub const SYMBOLS: i64 = 6;
    pub const RELOCATIONS: i64 = 7;
    pub const RELOCATIONS_SIZE: i64 = 8;
}

/// Kinds of relocation that write the address of a procedure: into the table of addresses, and anywhere.
const ADDRESSES: [u64; 2] = if cfg!(target_arch = "aarch64") { [1025, 257] } else { [6, 1] };

const WEAK: u8 = 2;

#[repr(C)]
struct Dynamic {
    tag: i64,
    value: usize,
}

#[repr(C)]
struct Relocation {
    offset: usize,
    info: u64,
    addend: i64,
}

/// Adds the references of one object, for `dl_iterate_phdr`.
///
/// # Safety
/// `list` is a vector of references, `info` what the loader says of a loaded object.
unsafe extern "C" fn collect(info: *mut libc::dl_phdr_info, _: usize, list: *mut c_void) -> c_int {
    // SAFETY: the caller's promise; program headers and the dynamic section are as the loader has used them.
    unsafe {
        let (list, base) = (&mut *list.cast::<Vec<Reference>>(), (*info).dlpi_addr as usize);
        let headers = std::slice::from_raw_parts((*info).dlpi_phdr, usize::from((*info).dlpi_phnum));
        let find = |kind| headers.iter().find(|header| header.p_type == kind);
        let Some(dynamic) = find(libc::PT_DYNAMIC) else { return 0 };
        let read_only = find(libc::PT_GNU_RELRO).map_or(0..0, |header| {
            let start = base + header.p_vaddr as usize;
            start..start + header.p_memsz as usize
        });
        let dynamic = (base + dynamic.p_vaddr as usize) as *const Dynamic;
        let value = |wanted: i64| {
            let entries = (0..).map(|at| &*dynamic.add(at)).take_while(|entry| entry.tag != tag::NULL);
            entries.into_iter().find(|entry| entry.tag == wanted).map(|entry| entry.value)
        };
        // The loader has made addresses of these, but for objects that it did not load itself.
        let address = |wanted| value(wanted).map(|found| if found < base { base + found } else { found });
        let (Some(strings), Some(symbols), Some(relocations), Some(size)) =
            (address(tag::STRINGS), address(tag::SYMBOLS), address(tag::RELOCATIONS), value(tag::RELOCATIONS_SIZE))
        else {
            return 0;
        };
        let relocations = std::slice::from_raw_parts(relocations as *const Relocation, size / size_of::<Relocation>());
        for relocation in relocations.iter().filter(|one| ADDRESSES.contains(&(one.info & 0xffff_ffff))) {
            let symbol = &*(symbols as *const libc::Elf64_Sym).add((relocation.info >> 32) as usize);
            if symbol.st_info >> 4 == WEAK && symbol.st_shndx == 0 {
                let name = CStr::from_ptr((strings + symbol.st_name as usize) as *const _);
                if name.to_bytes().starts_with(b"MPI_") {
                    let place = (base + relocation.offset) as *mut usize;
                    list.push(Reference { place, name: name.to_owned(), read_only: read_only.clone() });
                }
            }
        }
        0
    }
}
