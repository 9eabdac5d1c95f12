//! Other tools of the profiling interface in the same process: whose `MPI_X` comes first takes the calls, and a tool
//! behind Collie, which calls `PMPI_X`, gets none.

use super::log;
use crate::operation::Operation;
use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::mem::MaybeUninit;
use std::os::raw::c_void;

/// The point-to-point calls that programs make most of their messages with.
const MESSAGES: [&str; 7] =
    ["MPI_Send", "MPI_Isend", "MPI_Recv", "MPI_Irecv", "MPI_Sendrecv", "MPI_Wait", "MPI_Waitall"];

/// A library or the program, by where it is loaded, and its file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Owner {
    base: usize,
    file: String,
}

/// Who defines what is at an address.
fn owner(address: *const c_void) -> Option<Owner> {
    if address.is_null() {
        return None;
    }
    let mut found = MaybeUninit::<libc::Dl_info>::uninit();
    // SAFETY: the out-parameter is valid for writes, and read where it was filled; names end in a zero byte.
    unsafe {
        if libc::dladdr(address, found.as_mut_ptr()) == 0 {
            return None;
        }
        let found = found.assume_init();
        let file = if found.dli_fname.is_null() {
            String::new()
        } else {
            CStr::from_ptr(found.dli_fname).to_string_lossy().into_owned()
        };
        Some(Owner { base: found.dli_fbase as usize, file })
    }
}

/// Says in one line each who comes before Collie and who, behind it, gets no calls.
pub fn tell() {
    // Not one of the exported functions: their addresses are those of whoever comes first.
    let own = owner(tell as *const c_void);
    // Tools seldom have this one; some MPIs have their PMPI names in a library of their own.
    // SAFETY: the names end in zero bytes.
    let (bcast, version) = unsafe {
        let bcast = libc::dlsym(libc::RTLD_DEFAULT, c"PMPI_Bcast".as_ptr());
        (bcast, libc::dlsym(libc::RTLD_NEXT, c"MPI_Get_library_version".as_ptr()))
    };
    let library = [owner(bcast), owner(version)];
    let (mut before, mut behind) = (BTreeMap::<Owner, Vec<&str>>::new(), BTreeMap::<Owner, Vec<&str>>::new());
    for name in Operation::ALL.iter().map(|operation| operation.row().mpi_name).chain(MESSAGES) {
        let symbol = CString::new(name).expect("names have no zero byte");
        // SAFETY: the name ends in a zero byte.
        let [first, next] =
            [libc::RTLD_DEFAULT, libc::RTLD_NEXT].map(|from| unsafe { libc::dlsym(from, symbol.as_ptr()) });
        if let Some(other) = owner(first).filter(|_| own.is_some()).filter(|other| Some(other) != own.as_ref()) {
            before.entry(other).or_default().push(name);
        }
        let next = owner(next).filter(|other| Some(other) != own.as_ref());
        if let Some(other) = next.filter(|other| !library.iter().flatten().any(|library| library == other)) {
            behind.entry(other).or_default().push(name);
        }
    }
    for (other, names) in before {
        log::tell(&words_before(&other.file, &names, library.iter().flatten().any(|library| *library == other)));
    }
    for (other, names) in behind {
        log::tell(&if is_collie(&other.file) { words_idle(&other.file) } else { words_behind(&other.file, &names) });
    }
}

fn words_before(file: &str, names: &[&str], is_mpi: bool) -> String {
    let names = names.join(", ");
    if is_mpi {
        return format!(
            "the MPI library {file} comes before Collie, which does not see {names}; link or preload it first"
        );
    }
    format!(
        "{file} comes before Collie: Collie sees only those calls of {names} that the tool passes on to the next MPI_X, not those \
         that it passes to PMPI_X"
    )
}

/// Whether that is a build of Collie, of whatever family: a program may be linked with one and have another preloaded.
fn is_collie(file: &str) -> bool {
    file.rsplit('/').next().is_some_and(|name| name.starts_with("libcollie"))
}

fn words_idle(file: &str) -> String {
    format!("another Collie, {file}, comes after this one, and does nothing")
}

fn words_behind(file: &str, names: &[&str]) -> String {
    format!("{file} comes after Collie, which calls PMPI_X: it sees no calls of {}", names.join(", "))
}
