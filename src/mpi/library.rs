//! The MPI library of the process: found when it is there, and made visible to this library.
//!
//! This library needs no MPI library itself: it would bring a second one into processes that have another, and
//! processes without any could not start where it is not found. Its calls of `PMPI_` procedures are bound lazily, at
//! the first call of each, to what the process has loaded by then; so nothing here may be called before the program has
//! called MPI.

use super::constants;
use super::family::OWN;
use crate::family::Family;
use once_cell::sync::OnceCell;
use std::ffi::{CStr, CString, OsStr};
use std::os::raw::{c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Why there is no MPI library to call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// A build for one binary interface under a program of another.
    #[error(
        "this libcollie.so is the one for {}, but the program runs on {} ({file}); {}",
        OWN.described(), found.described(), advice(*found)
    )]
    Other {
        /// The program's.
        found: Family,
        /// Its library.
        file: String,
    },
    /// A library of another interface than those known, whose handles nobody here can tell.
    #[error(
        "the program runs on an MPI library that Collie does not know ({file}); it knows {}",
        Family::ALL.map(Family::described).join(", ")
    )]
    Unknown {
        /// The library.
        file: String,
    },
    /// No object of the process has `PMPI_Init`.
    #[error("no MPI library is loaded in this process: none of its objects has a PMPI_Init")]
    None,
    /// An object that MPI's handles are addresses of.
    #[error("the MPI library {file} has no {name}: Collie does not support it")]
    Lacking {
        /// The library.
        file: String,
        /// The object.
        name: &'static str,
    },
}

/// What to do in a process whose MPI library is of that family.
fn advice(family: Family) -> String {
    let path = |name: CString| resolved(Path::new(OsStr::from_bytes(name.as_bytes())));
    let mut builds = objects(|file| file.starts_with(b"libcollie")).into_iter().map(path);
    let right = builds.find(|path| folder_of(path).is_some_and(|folder| folder.ends_with(family.folder())));
    match (right, own_path()) {
        (Some(right), Some(own)) => format!(
            "take {} out of LD_PRELOAD or what is linked: the right one, {}, is there too",
            own.display(),
            right.display()
        ),
        _ => format!("preload or link {}", of_family(family, "lib/libcollie.so")),
    }
}

/// The path without links and `..`, where it is one of something.
fn resolved(path: &Path) -> PathBuf {
    path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
}

/// `openmpi` of `openmpi/lib/libcollie.so`.
fn folder_of(path: &Path) -> Option<&Path> {
    path.ancestors().nth(2)
}

/// The path of `file` of another family: beside the folder of this one's, where this library, or the program that it is
/// part of, lies in one.
pub fn of_family(family: Family, file: &str) -> String {
    let own = own_path();
    let folder = own.as_deref().and_then(folder_of);
    let beside = folder.filter(|folder| folder.ends_with(OWN.folder())).and_then(Path::parent);
    beside.unwrap_or(Path::new("")).join(family.folder()).join(file).display().to_string()
}

/// Where this library lies, or the program that it is part of.
fn own_path() -> Option<PathBuf> {
    // SAFETY: the structure is one of C's, of pointers that may be null.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: any address may be asked about; a name that was given ends in a zero byte and stays while the object
    // does.
    let own = unsafe {
        let known = libc::dladdr((&raw const AT_LOAD).cast(), &raw mut info) != 0 && !info.dli_fname.is_null();
        known.then(|| OsStr::from_bytes(CStr::from_ptr(info.dli_fname).to_bytes()).to_owned())
    };
    own.map(|own| resolved(Path::new(&own)))
}

/// A loaded object that has `PMPI_Init`.
struct Found {
    file: String,
    /// Where it is one of those known.
    family: Option<Family>,
}

/// Binds this library to the process's MPI library: afterwards constants have values and `PMPI_` procedures can be
/// called. Costs nothing once it has been done.
///
/// # Errors
/// There is no MPI library of this build's family.
///
/// # Safety
/// Called while this library is being loaded, or by the program's call that initialises MPI: no other thread calls MPI.
pub unsafe fn bind() -> Result<(), Unusable> {
    static BOUND: OnceCell<()> = OnceCell::new();
    BOUND
        .get_or_try_init(|| {
            let found = find()?;
            // SAFETY: the caller's promise.
            unsafe { constants::fill(object) }.map_err(|name| Unusable::Lacking { file: found.file.clone(), name })
        })
        .copied()
}

/// Looks the MPI library up while this one is loaded, where the program is linked with it; where a program loads it
/// later, as Python does, its call of `MPI_Init` finds it.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = {
    extern "C" fn at_load() {
        // SAFETY: while a library is loaded its code is run by nobody else. What is wrong is told when MPI is called:
        // most processes that a library is preloaded into never do.
        let _ = unsafe { bind() };
    }
    at_load
};

/// An object of the MPI library, or null. What comes first in the process is the one that the program means: a Fortran
/// program holds copies of some.
unsafe extern "C" fn object(name: *const c_char) -> *mut c_void {
    // SAFETY: the caller gives a name that ends in a zero byte.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, name) }
}

/// The MPI library, visible to all of the process.
fn find() -> Result<Found, Unusable> {
    let mut others = None;
    for path in std::iter::once(None).chain(objects(is_called_after_mpi).into_iter().map(Some)) {
        let Some(found) = look_at(path.as_deref()) else { continue };
        if found.family == Some(OWN) {
            return Ok(found);
        }
        others.get_or_insert(found);
    }
    match others {
        Some(Found { family: Some(found), file }) => Err(Unusable::Other { found, file }),
        Some(Found { family: None, file }) => Err(Unusable::Unknown { file }),
        None => Err(Unusable::None),
    }
}

/// Whether a file calls itself after MPI: asking every object of a large program would take its time.
fn is_called_after_mpi(file: &[u8]) -> bool {
    file.windows(3).any(|part| part.eq_ignore_ascii_case(b"mpi"))
}

/// The path of an MPI library of this process that is initialised, or has been, whoever asked for that. Binds nothing, so
/// that it may be asked in a process whose calls of MPI never came here.
pub fn initialised() -> Option<String> {
    objects(is_called_after_mpi).into_iter().find_map(|path| {
        // SAFETY: an object that is loaded already runs no code when it is opened again, and the handle is not closed.
        // The names end in zero bytes. MPI allows this call at any time, before its initialisation and after its end.
        unsafe {
            let handle = libc::dlopen(path.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
            let ask = if handle.is_null() { handle } else { libc::dlsym(handle, c"PMPI_Initialized".as_ptr()) };
            if ask.is_null() {
                return None;
            }
            let ask: unsafe extern "C" fn(*mut c_int) -> c_int = std::mem::transmute(ask);
            let mut is_initialised = 0;
            ask(&raw mut is_initialised);
            (is_initialised != 0).then(|| resolved(Path::new(OsStr::from_bytes(path.as_bytes()))).display().to_string())
        }
    })
}

/// Whether the process has another library of this name, as one linked with it where this one is preloaded.
pub fn is_there_twice() -> bool {
    let own = own_path();
    let path = |name: &CString| resolved(Path::new(OsStr::from_bytes(name.as_bytes())));
    objects(|file| file.starts_with(b"libcollie")).iter().any(|name| Some(path(name)) != own)
}

/// The loaded objects whose file has a name for which `wanted` holds, in the order of loading.
fn objects(wanted: impl Fn(&[u8]) -> bool) -> Vec<CString> {
    unsafe extern "C" fn add(info: *mut libc::dl_phdr_info, _: usize, list: *mut c_void) -> c_int {
        // SAFETY: the list below, and an object that the loader describes; its name ends in a zero byte.
        let (list, name) = unsafe { (&mut *list.cast::<Vec<CString>>(), CStr::from_ptr((*info).dlpi_name)) };
        list.push(name.to_owned());
        0
    }
    let mut list: Vec<CString> = Vec::new();
    // SAFETY: the list outlives the call, and the function above is for it.
    unsafe { libc::dl_iterate_phdr(Some(add), (&raw mut list).cast()) };
    list.retain(|name| wanted(name.to_bytes().rsplit(|byte| *byte == b'/').next().unwrap_or_default()));
    list
}

/// The object of that file, if it is an MPI library; made visible to all.
fn look_at(path: Option<&CStr>) -> Option<Found> {
    let name = path.map_or(std::ptr::null(), CStr::as_ptr);
    // SAFETY: an object that is loaded already runs no code when it is opened again; the names end in zero bytes. The
    // handle is not closed, so that the object stays.
    unsafe {
        let handle = libc::dlopen(name, libc::RTLD_LAZY | libc::RTLD_NOLOAD);
        let init = if handle.is_null() { handle } else { libc::dlsym(handle, c"PMPI_Init".as_ptr()) };
        if init.is_null() {
            return None;
        }
        // A look-up goes through what an object needs as well: the one that has it is the library.
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(init, &raw mut info) == 0 || info.dli_fname.is_null() {
            return None;
        }
        let own = CStr::from_ptr(info.dli_fname);
        let opened = libc::dlopen(own.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
        // A program that MPI is linked into statically is no file that can be opened again.
        let handle = if opened.is_null() { handle } else { opened };
        let family = family_of(own, handle);
        if family == Some(OWN) && !opened.is_null() {
            // A module of Python keeps its libraries to itself; this library's calls are bound to what all can see.
            libc::dlopen(own.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_GLOBAL);
        }
        Some(Found { file: own.to_string_lossy().into_owned(), family })
    }
}

/// The family of an MPI library: by its name, and where that does not tell, by what it has.
///
/// # Safety
/// `handle` is the loaded library's.
unsafe fn family_of(file: &CStr, handle: *mut c_void) -> Option<Family> {
    if let Some(family) = Family::of_library(&file.to_string_lossy()) {
        return Some(family);
    }
    // SAFETY: the caller's promise; the names end in zero bytes, and `MPI_Abi_get_version` may be called at any time.
    unsafe {
        if !libc::dlsym(handle, c"ompi_mpi_comm_world".as_ptr()).is_null() {
            return Some(Family::OpenMpi);
        }
        let ask = libc::dlsym(handle, c"PMPI_Abi_get_version".as_ptr());
        if !ask.is_null() {
            let ask: unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int = std::mem::transmute(ask);
            let (mut major, mut minor) = (-1, -1);
            ask(&raw mut major, &raw mut minor);
            if major > 0 {
                return Some(Family::Abi);
            }
        }
        // MPICH's part for files calls this, so that all that is derived from MPICH has it (3.4 to 5.0, Intel MPI).
        (!libc::dlsym(handle, c"MPIR_Err_create_code".as_ptr()).is_null()).then_some(Family::Mpich)
    }
}
