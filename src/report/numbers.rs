//! Names beside those that another job's files have.

use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// `report.json` is `report.2.json` for the second job; the first one's names are as they are.
pub fn numbered(path: &Path, job: u32) -> PathBuf {
    if job <= 1 { path.to_owned() } else { with_word(path, &job.to_string()) }
}

/// `report.json` with the word `rank3` is `report.rank3.json`.
pub fn with_word(path: &Path, word: &str) -> PathBuf {
    match path.extension() {
        Some(ending) => path.with_extension(format!("{word}.{}", ending.to_string_lossy())),
        None => path.with_extension(word),
    }
}

/// The number of the first job that would overwrite none of the files, nor what single ranks of a job before wrote in
/// their place, nor what is in the folder, and that `takes` its number: another job that starts now may find the same
/// one.
pub fn free(files: &[PathBuf], folder: Option<&Path>, mut takes: impl FnMut(u32) -> bool) -> u32 {
    let is_free = |job: u32| {
        files.iter().all(|path| !is_taken(&numbered(path, job)))
            && folder.is_none_or(|folder| !is_full(&numbered(folder, job)))
    };
    (1..u32::MAX).find(|job| is_free(*job) && takes(*job)).unwrap_or(u32::MAX)
}

/// A folder that is this job's as long as this lives.
#[derive(Debug)]
pub struct Claim {
    /// Locked, where there are locks.
    _folder: Option<File>,
}

/// Makes the folder this job's own; `None` if it is another's by now. An empty one that is there already is anybody's.
/// One that cannot be made is granted: whoever writes to it will tell.
pub fn claim(folder: &Path) -> Option<Claim> {
    let made = fs::create_dir(folder);
    if made.as_ref().is_err_and(|error| error.kind() != ErrorKind::AlreadyExists) || !folder.is_dir() {
        return Some(Claim { _folder: None });
    }
    let opened = File::open(folder);
    let is_ours = match opened.as_ref().map(File::try_lock) {
        // Another job may have been here, and have ended, since the folder was looked at.
        Ok(Ok(())) => !is_full(folder),
        Ok(Err(TryLockError::WouldBlock)) => false,
        // Where there are no locks, only who has made it knows.
        Ok(Err(TryLockError::Error(_))) | Err(_) => made.is_ok(),
    };
    is_ours.then_some(Claim { _folder: opened.ok() })
}

/// The same for one file while the job runs: what single ranks have written may be its own.
pub fn free_of_files(path: &Path) -> u32 {
    (1..u32::MAX).find(|job| !holds_something(&numbered(path, *job))).unwrap_or(u32::MAX)
}

/// Whether something would be lost. Empty files, as `mktemp` makes them, are there to be written to; so are pipes and
/// devices. A folder is no job's file: nothing can be written there, as whoever tries is told.
fn holds_something(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() > 0)
}

/// Whether that is another job's folder, or a file in its place. An empty folder is there to be written to.
fn is_full(folder: &Path) -> bool {
    match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_some(),
        Err(_) => holds_something(folder),
    }
}

fn is_taken(path: &Path) -> bool {
    if holds_something(path) {
        return true;
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (Some(stem), ending) = (path.file_stem(), path.extension().unwrap_or_default()) else { return false };
    let (beginning, ending) = (format!("{}.rank", stem.to_string_lossy()), ending.to_string_lossy());
    let of_a_rank = |name: &str| {
        let rest = name.strip_prefix(&beginning).and_then(|rest| rest.strip_suffix(&*ending));
        rest.is_some_and(|rest| rest.trim_end_matches('.').parse::<u32>().is_ok())
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| of_a_rank(&entry.file_name().to_string_lossy()) && holds_something(&entry.path()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_number_with_which_nothing_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let paths = [at("run.json"), at("run.html"), "/dev/null".into()];
        let checkpoints = at("run.checkpoint");
        fs::create_dir(&checkpoints).unwrap();
        let free = || free(&paths, Some(&checkpoints), |_| true);
        let mut expected = 1;
        for (name, content, taken) in [
            ("run.json", "", false),
            ("run.rankless.json", "other", false),
            ("run.html", "a page", true),
            ("run.2.rank3.json", "of a rank", true),
            ("run.4.json", "later", false),
            ("run.3.json", "third", true),
        ] {
            fs::write(at(name), content).unwrap();
            expected = if name == "run.3.json" { 5 } else { expected + u32::from(taken) };
            assert_eq!(free(), expected, "{name}");
        }
        assert_eq!(free_of_files(&paths[0]), 1, "an empty one");
        assert_eq!(free_of_files(&paths[1]), 2);
        assert_eq!(free_of_files(&at("run.2.json")), 1, "with one of a rank");
        fs::create_dir(at("run.5.checkpoint")).unwrap();
        assert_eq!(free(), 5, "an empty folder");
        fs::write(at("run.5.checkpoint/rank0.json"), "of a rank").unwrap();
        assert_eq!(free(), 6);
        assert_eq!(super::free(&[folder.path().to_owned()], None, |_| true), 1, "no file of another job");
        assert_eq!(free_of_files(folder.path()), 1);
        assert_eq!(numbered(&paths[0], 5), at("run.5.json"));
        assert_eq!(numbered(&paths[0], 1), paths[0]);
        assert_eq!(numbered(Path::new("trace"), 2), Path::new("trace.2"));
    }

    #[test]
    fn jobs_that_start_together_have_a_folder_each() {
        const JOBS: usize = 8;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.checkpoint");
        // One that somebody has made for them.
        fs::create_dir(folder.path().join("run.3.checkpoint")).unwrap();
        let together = std::sync::Barrier::new(JOBS);
        let start = || {
            together.wait();
            let mut claimed = None;
            let number = free(&[], Some(&path), |job| {
                claimed = claim(&numbered(&path, job));
                claimed.is_some()
            });
            // All of them run for a while.
            together.wait();
            number
        };
        let mut numbers: Vec<_> = std::thread::scope(|scope| {
            let jobs: Vec<_> = (0..JOBS).map(|_| scope.spawn(start)).collect();
            jobs.into_iter().map(|job| job.join().unwrap()).collect()
        });
        numbers.sort_unstable();
        assert_eq!(numbers, (1..=JOBS as u32).collect::<Vec<_>>());
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_granted() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run.checkpoint");
        assert!(claim(&file.join("none")).is_some());
        fs::write(&file, "").unwrap();
        assert!(claim(&file).is_some());
    }
}
