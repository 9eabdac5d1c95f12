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
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often, and how many times at most, to look whether another job is done.
const POLL: Duration = Duration::from_millis(10);
const MOST_POLLS: usize = 200;

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

/// Says at the start, on rank 0, what will not be written at the end: because the file cannot be, or because nothing is
/// learned.
pub fn begin(configuration: &Configuration) {
    if configuration.mode != Mode::Learn {
        let set = [
            (variables::LEARN, configuration.learn.is_some()),
            (variables::LEARN_BUDGET, configuration.learn_budget.is_some()),
        ];
        for (name, _) in set.into_iter().filter(|(_, is_set)| *is_set) {
            log::tell(&format!("rank 0: {name} has no effect: the mode is not learn"));
        }
        return;
    }
    let Some(file) = &configuration.learn else { return };
    let path = place(file);
    if let Err(error) = report::try_path(&path) {
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
    // Through links: the file that they lead to is replaced, and its folder is what other jobs lock, whatever links
    // they have.
    let path = &std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let _lock = locked(folder);
    let before = match std::fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        before => before?,
    };
    let mut file = NewFile::create(path)?;
    file.write_all(merged(&before, found).as_bytes())?;
    file.finish().map(drop)
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
