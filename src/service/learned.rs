//! What was learned, handed on to the runs to come (`COLLIE_LEARN`): rank 0 adds it to the file at the end.
//!
//! Other jobs may do so at the same time: each holds a lock on the folder for as long as it takes to read the file
//! again and to put the new one in its place. Where the file system has no locks, a job that writes between the two
//! loses what it wrote; the file is whole all the same.

use super::{outputs, places};
use crate::monitor::Summary;
use crate::process::folder;
use crate::process::log;
use crate::process::runtime::Runtime;
use crate::report::{self, NewFile};
use crate::selection::{Configuration, LearnFile, Mode, variables};
use crate::trial::{Evidence, merged};
use std::ffi::CString;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often, and how many times at most, to look whether another job is done.
const POLL: Duration = Duration::from_millis(10);
const MOST_POLLS: usize = 200;

/// How often the file is read and merged anew, as other jobs have replaced it meanwhile.
const MOST_MERGES: usize = 16;

/// Whether what is learned is written to a file; asked at rank 0.
pub fn is_kept(runtime: &Runtime) -> bool {
    file(runtime.own_configuration()).is_some()
}

fn file(configuration: &Configuration) -> Option<&LearnFile> {
    configuration.learn.as_deref().filter(|_| configuration.mode == Mode::Learn)
}

/// Adds what was learned to the file; what fails is told.
pub fn write(runtime: &Runtime, summary: &Summary) {
    let Some(file) = file(runtime.own_configuration()) else { return };
    let started = places::start_time(runtime);
    let date = format!("{}-{}-{}", &started[..4], &started[4..6], &started[6..8]);
    let cells = summary.learned.iter().flat_map(|learned| &learned.cells);
    let found: Vec<Evidence> = cells
        .filter(|row| row.won)
        .map(|row| Evidence {
            machine: file.machine.clone(),
            mpi: file.mpi.clone(),
            date: date.clone(),
            row: row.clone(),
        })
        .collect();
    if found.is_empty() {
        return;
    }
    let path = &place(file);
    let Err(error) = add(path, found.clone()) else { return };
    if found.iter().all(|evidence| evidence.row.from_earlier_runs) {
        log::tell(&format!(
            "{} could not be written to: {error}; nothing was learned beyond what it holds",
            path.display()
        ));
        return;
    }
    let stand_in = outputs::stand_in(path);
    let also = match add(&stand_in, found) {
        Ok(()) => format!("it is in {}", stand_in.display()),
        Err(also) => format!("nor to {}: {also}", stand_in.display()),
    };
    log::tell(&format!("what was learned could not be written to {}: {error}; {also}", path.display()));
}

/// Where the file is that was read at the start, wherever the program has gone since.
fn place(file: &LearnFile) -> PathBuf {
    folder::of_command().join(&file.path)
}

/// Says at the start, on rank 0, that the file cannot be written at the end.
pub fn begin(configuration: &Configuration) {
    let Some(file) = &configuration.learn else { return };
    if let Some(warning) = file.warning().filter(|_| configuration.mode == Mode::Learn) {
        log::tell(&format!("rank 0: {}: {warning}", variables::LEARN));
    }
    let path = through_links(&place(file));
    if let Err(error) = report::try_path(&path).and_then(|()| writable(&path)) {
        log::tell(&format!(
            "rank 0: {}: {} cannot be written: {error}; if that is still so at the end, what is learned goes to {}",
            variables::LEARN,
            path.display(),
            outputs::stand_in(&path).display()
        ));
    }
}

/// Adds to the file as it is now.
fn add(path: &Path, found: Vec<Evidence>) -> io::Result<()> {
    let path = &through_links(path);
    let _lock = locked(folder_of(path));
    writable(path)?;
    let now = || match std::fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        now => now,
    };
    let mut before = now()?;
    for _ in 0..MOST_MERGES {
        let mut file = NewFile::create(path)?;
        file.write_all(merged(&before, found.clone()).as_bytes())?;
        // A job on another node may not have been kept away by the lock.
        let since = now()?;
        if since == before {
            return file.finish().map(drop);
        }
        before = since;
    }
    Err(io::Error::other("other jobs replaced it again and again"))
}

/// The file that links lead to: it is replaced, and its folder is what other jobs lock, whatever links they have.
fn through_links(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether the file may be replaced: a new one can be made beside it, and its owner has not made it read-only, which
/// replacing it would pass over.
fn writable(path: &Path) -> io::Result<()> {
    let may_write = |path: &Path| {
        let path = CString::new(path.as_os_str().as_bytes())?;
        // SAFETY: a text that ends in a zero byte.
        if unsafe { libc::access(path.as_ptr(), libc::W_OK) } == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    };
    match std::fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => may_write(folder_of(path)),
        // A device is written to, not replaced.
        Ok(found) if !found.is_file() => may_write(path),
        found => found.and_then(|_| may_write(path)).and_then(|()| may_write(folder_of(path))),
    }
}

/// Holds the folder's lock for as long as it lives, if it can be had.
fn locked(folder: &Path) -> Option<File> {
    let folder = File::open(folder).ok()?;
    for _ in 0..MOST_POLLS {
        match folder.try_lock() {
            Ok(()) => return Some(folder),
            Err(std::fs::TryLockError::WouldBlock) => std::thread::sleep(POLL),
            Err(std::fs::TryLockError::Error(_)) => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_not_be_replaced_is_found_out_through_links() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("site.rules"), folder.path().join("link"));
        std::os::unix::fs::symlink(&target, &link).unwrap();
        assert!(writable(&target).is_ok() && writable(&link).is_ok(), "there is none yet");
        std::fs::write(&target, "# mine\n").unwrap();
        assert_eq!(through_links(&link), std::fs::canonicalize(&target).unwrap());
        assert!(writable(&through_links(&link)).is_ok() && writable(Path::new("/dev/null")).is_ok());
        assert!(writable(&folder.path().join("nowhere/site.rules")).is_err());
    }
}
