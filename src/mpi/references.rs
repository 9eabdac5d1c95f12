//! References from one loaded object to another by name: the places where the loader has written addresses, and what it
//! has written there. They tell what an object's own code means by a name, whoever else has one of that name.

use std::ffi::{CStr, CString, c_int, c_void};
use std::ops::Range;

/// A place in a loaded object that holds the address of something that was looked up by name.
pub(super) struct Reference {
    pub place: *mut usize,
    /// What it holds.
    pub address: usize,
    pub name: CString,
    /// What the loader made read-only after it had written addresses there.
    pub read_only: Range<usize>,
}

/// What an object wants to refer to.
pub(super) struct Symbol<'a> {
    pub name: &'a CStr,
    /// Whether the object has none itself, and can do without one.
    pub is_weak: bool,
}

/// Those of all loaded objects to what is wanted.
pub(super) fn to(wanted: impl Fn(&Symbol) -> bool) -> Vec<Reference> {
    let mut search = Search { wanted: &wanted, found: Vec::new() };
    // SAFETY: the search outlives the call, and the function is for it.
    unsafe { libc::dl_iterate_phdr(Some(collect), (&raw mut search).cast()) };
    search.found
}

struct Search<'a> {
    wanted: &'a dyn Fn(&Symbol) -> bool,
    found: Vec<Reference>,
}

/// Entries of the dynamic section.
mod tag {
    pub const NULL: i64 = 0;
    pub const STRINGS: i64 = 5;
    pub const SYMBOLS: i64 = 6;
    pub const RELOCATIONS: i64 = 7;
    pub const RELOCATIONS_SIZE: i64 = 8;
}

/// Kinds of relocation that write an address: into the table of addresses, and anywhere.
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
/// `search` is one, `info` what the loader says of a loaded object.
unsafe extern "C" fn collect(info: *mut libc::dl_phdr_info, _: usize, search: *mut c_void) -> c_int {
    // SAFETY: the caller's promise; program headers and the dynamic section are as the loader has used them, and no
    // object goes away while the loader lists them.
    unsafe {
        let (search, base) = (&mut *search.cast::<Search>(), (*info).dlpi_addr as usize);
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
            let is_weak = symbol.st_info >> 4 == WEAK && symbol.st_shndx == 0;
            let name = CStr::from_ptr((strings + symbol.st_name as usize) as *const _);
            if (search.wanted)(&Symbol { name, is_weak }) {
                let place = (base + relocation.offset) as *mut usize;
                let (name, read_only) = (name.to_owned(), read_only.clone());
                search.found.push(Reference { place, address: place.read(), name, read_only });
            }
        }
        0
    }
}
