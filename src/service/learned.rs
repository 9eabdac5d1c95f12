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

/// How often the file is read and merged anew, as other jobs have replaced it meanwhile.
const MOST_MERGES: usize = 16;

/// How many links in a row to follow: as many as Linux does.
const MOST_LINKS: usize = 40;

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
    if let Err(error) = report::try_path(&path).and_then(|()| report::may_replace(&path)) {
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
    report::may_replace(path)?;
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

/// The file that links lead to, or would be if it were there: it is replaced, and its folder is what other jobs lock,
/// whatever links they have.
fn through_links(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        if let Ok(found) = std::fs::canonicalize(&path) {
            return found;
        }
        let Ok(target) = std::fs::read_link(&path) else { break };
        path = folder_of(&path).join(target);
    }
    path
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
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
    use crate::monitor::{LearnedRow, TriedRow};

    fn found() -> Vec<Evidence> {
        let tried = TriedRow { algorithm: "ring".into(), calls: 7, seconds: Some(1e-5) };
        let row = LearnedRow {
            function: "MPI_Allreduce".into(),
            bytes_from: 64,
            bytes_to: 127,
            commutative: true,
            ranks: 4,
            nodes: 1,
            most_on_node: 4,
            algorithm: "ring".into(),
            won: true,
            calls: 7,
            candidates: vec![tried],
            ..LearnedRow::default()
        };
        let [machine, mpi, date] = ["a processor, 2 cores", "An MPI 1.2", "2026-11-24"].map(str::to_owned);
        vec![Evidence { machine, mpi, date, row }]
    }

    #[test]
    fn links_are_followed_to_where_the_file_is_to_be() {
        let folder = tempfile::tempdir().unwrap();
        let folder = std::fs::canonicalize(folder.path()).unwrap();
        let target = folder.join("site.rules");
        let [link, other, round] = ["link", "other", "round"].map(|name| folder.join(name));
        std::os::unix::fs::symlink("site.rules", &link).unwrap();
        std::os::unix::fs::symlink(&link, &other).unwrap();
        std::os::unix::fs::symlink(&round, &round).unwrap();
        assert_eq!([&target, &link, &other].map(|path| through_links(path)), [(); 3].map(|()| target.clone()));
        assert_eq!(through_links(&round), round, "it leads nowhere");
        std::fs::write(&target, "# mine\n").unwrap();
        assert_eq!([&target, &link, &other].map(|path| through_links(path)), [(); 3].map(|()| target.clone()));
    }

    #[test]
    fn what_is_added_through_a_link_is_added_once() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("site.rules"), folder.path().join("link"));
        std::os::unix::fs::symlink("site.rules", &link).unwrap();
        add(&link, found()).unwrap();
        let once = std::fs::read_to_string(&target).unwrap();
        assert_eq!(once, merged("", found()));
        add(&link, found()).unwrap();
        assert_eq!(std::fs::read_to_string(&target).unwrap(), merged(&once, found()));
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "nothing unfinished is left");
    }
}
