//! An MPI library for a program that needs none to start: the benchmark, which runs under whatever launcher it is
//! given.

use super::family::LIBRARIES;
use super::library::{Unusable, bind, of_family};
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Loads the MPI library that belongs to the launcher of this process, or where there is none, the one that the loader
/// finds, and binds this program to it. The variable `MPI_LIBRARY` names another.
///
/// # Errors
/// Words on what was looked for and not found.
pub fn load() -> Result<(), String> {
    let mut wrong = Vec::new();
    let found = candidates().into_iter().any(|file| open(&file).map_err(|why| wrong.push(why)).is_ok());
    if !found {
        return Err(format!("no MPI library found; name one in MPI_LIBRARY ({})", wrong.join("; ")));
    }
    // SAFETY: this is a program's first call that has to do with MPI, before it has threads.
    match unsafe { bind() } {
        Ok(()) => Ok(()),
        Err(Unusable::Other { found, file }) => Err(format!(
            "this is the benchmark for {}, but {file} is a library of {}; take {}",
            super::family::OWN.described(),
            found.described(),
            of_family(found, "bin/collie-bench")
        )),
        Err(unusable) => Err(unusable.to_string()),
    }
}

/// What is tried, in order.
fn candidates() -> Vec<PathBuf> {
    if let Some(given) = std::env::var_os("MPI_LIBRARY") {
        return vec![given.into()];
    }
    let named = |folder: &Path| LIBRARIES.iter().map(|name| folder.join(name)).collect::<Vec<_>>();
    let mut files = Vec::new();
    // Several may be installed, and only the launcher's own knows how to join its job.
    for folder in std::env::split_paths(&std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default()) {
        files.extend(named(&folder));
    }
    // SAFETY: always succeeds.
    let parent = unsafe { libc::getppid() };
    if let Ok(launcher) = std::fs::read_link(format!("/proc/{parent}/exe"))
        && let Some(prefix) = launcher.parent().and_then(Path::parent)
    {
        files.extend(["lib", "lib64"].iter().flat_map(|folder| named(&prefix.join(folder))));
    }
    files.retain(|file| file.is_file());
    files.extend(LIBRARIES.iter().map(PathBuf::from));
    files
}

fn open(file: &Path) -> Result<(), String> {
    let name =
        CString::new(file.as_os_str().as_bytes()).map_err(|_| format!("'{}' is not a valid path", file.display()))?;
    // SAFETY: the name ends in a zero byte; the library's own constructors may run, as in any program that needs it.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_GLOBAL) };
    if !handle.is_null() {
        return Ok(());
    }
    // SAFETY: after a failure the loader's words are there, until the next call of its.
    let why = unsafe { libc::dlerror() };
    if why.is_null() {
        return Err(format!("{} cannot be loaded", file.display()));
    }
    // SAFETY: words that end in a zero byte.
    Err(unsafe { std::ffi::CStr::from_ptr(why) }.to_string_lossy().into_owned())
}
