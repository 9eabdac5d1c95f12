//! The files whose code is loaded: which one an instruction is of, and where in it.

use std::ffi::{CStr, OsStr};
use std::ops::Range;
use std::os::raw::{c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// A program or library.
#[derive(Clone, Debug)]
pub struct Module {
    /// Its file.
    pub path: PathBuf,
    /// What is added to the addresses of its file.
    pub base: usize,
    /// Where its code is.
    pub code: Vec<Range<usize>>,
}

impl Module {
    /// Whether an instruction is its.
    pub fn holds(&self, instruction: usize) -> bool {
        self.code.iter().any(|range| range.contains(&instruction))
    }
}

/// How many files were loaded and unloaded so far: while that stays the same, so do the files and where they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    loaded: u64,
    unloaded: u64,
}

/// What has changed until now, in less than a tenth of a microsecond.
pub fn changes() -> Changes {
    unsafe extern "C" fn see(found: *mut libc::dl_phdr_info, _: usize, changes: *mut c_void) -> c_int {
        // SAFETY: the system passes valid information, and the numbers are the ones below.
        let (found, changes) = unsafe { (&*found, &mut *changes.cast::<Changes>()) };
        *changes = Changes { loaded: found.dlpi_adds, unloaded: found.dlpi_subs };
        // Every file has the same numbers, so that the first is enough.
        1
    }
    let mut changes = Changes::default();
    // SAFETY: the function is of the type that is asked for, and the numbers outlive the call.
    unsafe { libc::dl_iterate_phdr(Some(see), (&raw mut changes).cast()) };
    changes
}

/// All that are loaded now.
pub fn all() -> Vec<Module> {
    unsafe extern "C" fn add(found: *mut libc::dl_phdr_info, _: usize, all: *mut c_void) -> c_int {
        // SAFETY: the system passes valid information, and the list is the one below.
        let (found, all) = unsafe { (&*found, &mut *all.cast::<Vec<Module>>()) };
        let base = found.dlpi_addr as usize;
        let headers = match found.dlpi_phdr.is_null() {
            true => &[],
            // SAFETY: the loader tells where the headers are and how many; they stay where they are for the length of
            // this callback.
            false => unsafe { std::slice::from_raw_parts(found.dlpi_phdr, usize::from(found.dlpi_phnum)) },
        };
        let code = headers.iter().filter(|header| header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_X != 0);
        let code = code.map(|header| {
            let begin = base.wrapping_add(header.p_vaddr as usize);
            begin..begin.wrapping_add(header.p_memsz as usize)
        });
        let name = match found.dlpi_name.is_null() {
            true => c"",
            // SAFETY: the name is of the loader too and ends in a zero byte.
            false => unsafe { CStr::from_ptr(found.dlpi_name) },
        };
        // The program itself, which comes first, has none.
        let path = match name.to_bytes() {
            [] => std::env::current_exe().unwrap_or_default(),
            name => PathBuf::from(OsStr::from_bytes(name)),
        };
        all.push(Module { path, base, code: code.collect() });
        0
    }
    let mut all: Vec<Module> = Vec::new();
    // SAFETY: the function is of the type that is asked for, and the list outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(add), (&raw mut all).cast()) };
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CString;
    use std::process::Command;

    #[test]
    fn loading_and_unloading_a_file_are_changes() {
        // Other tests may load files meanwhile, so nothing is said of when there is no change.
        let before = changes();
        assert!(before.loaded > 0);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("libnothing.so");
        let made = Command::new("cc").args(["-shared", "-fPIC", "-x", "c", "/dev/null", "-o"]).arg(&file).status();
        assert!(made.unwrap().success());
        let name = CString::new(file.into_os_string().into_encoded_bytes()).unwrap();
        // SAFETY: a library that does nothing when it is loaded, under a name that ends in a zero byte.
        let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        assert!(!library.is_null());
        let loaded = changes();
        assert!(loaded.loaded > before.loaded, "{before:?} {loaded:?}");
        // SAFETY: what was just opened, and nobody uses.
        unsafe { libc::dlclose(library) };
        let unloaded = changes();
        assert!(unloaded.unloaded > loaded.unloaded, "{loaded:?} {unloaded:?}");
    }

    #[test]
    fn a_function_of_this_program_is_found_in_it() {
        let instruction = a_function_of_this_program_is_found_in_it as *const () as usize;
        let modules = all();
        let found: Vec<_> = modules.iter().filter(|module| module.holds(instruction)).collect();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].path, std::env::current_exe().unwrap());
        assert!(instruction > found[0].base);
        assert!(modules.iter().any(|module| module.path.to_string_lossy().contains("libc.so")));
    }
}
