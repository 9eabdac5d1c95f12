//! Files that appear under their name only when they are whole: what was there before may be all that is left of a long
//! run.

use super::numbers::{free_of_files, numbered};
use crate::writing::{close, may_write, without_write_signals};
use std::collections::hash_map::RandomState;
use std::fs::{self, File};
use std::hash::BuildHasher;
use std::io::{self, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a trial writes: a full disk gives out names, but no blocks.
const TRIAL: [u8; 4096] = [0; 4096];

/// How long a full pipe is left alone, and a lock that another job holds for the length of a rename.
const POLL: Duration = Duration::from_millis(1);
/// A lock that lasts longer is somebody else's, for something else.
const MOST_POLLS: u32 = 1000;

/// A file that is being written. Dropped before its [`finish`](Self::finish), it leaves nothing behind.
#[derive(Debug)]
pub struct NewFile {
    file: File,
    /// Where it is written; none for pipes, devices and links, which are written through.
    unfinished: Option<PathBuf>,
    name: Name,
}

/// The name that a file gets.
#[derive(Clone, Debug)]
enum Name {
    /// That one, whatever has it.
    This(PathBuf),
    /// That one with the first number, from this one on, that no other file has.
    Beside(PathBuf, u32),
}

impl Name {
    /// As far as can be told now.
    fn path(&self) -> PathBuf {
        match self {
            Self::This(path) => path.clone(),
            Self::Beside(path, number) => numbered(path, *number),
        }
    }
}

impl NewFile {
    /// Begins the file that is to be at `path`, in the place of what is there.
    ///
    /// # Errors
    /// It could not be made; one that was there before is as it was.
    pub fn create(path: &Path) -> io::Result<Self> {
        without_write_signals(|| Self::begin(Name::This(path.to_owned())))
    }

    /// Begins the file that is to be at `path`, or with a number beside what another job has there by then. Empty files
    /// are there to be replaced.
    ///
    /// # Errors
    /// It could not be made.
    pub fn beside(path: &Path) -> io::Result<Self> {
        without_write_signals(|| Self::begin(Name::Beside(path.to_owned(), free_of_files(path))))
    }

    fn begin(name: Name) -> io::Result<Self> {
        let path = name.path();
        if fs::symlink_metadata(&path).is_ok_and(|metadata| !metadata.is_file()) {
            return Ok(Self { file: open_through(&path)?, unfinished: None, name });
        }
        let (file, unfinished) = make_unfinished(&path)?;
        if let Ok(before) = fs::metadata(&path) {
            // Whoever may read what was there may read what takes its place, where the file system knows permissions.
            drop(file.set_permissions(before.permissions()));
        }
        Ok(Self { file, unfinished: Some(unfinished), name })
    }

    /// Gives the file its name, and tells it.
    ///
    /// # Errors
    /// It could not be renamed; one that was there before is as it was.
    pub fn finish(mut self) -> io::Result<PathBuf> {
        let Some(unfinished) = self.unfinished.take() else { return Ok(self.name.path()) };
        let named = without_write_signals(|| {
            // File systems of other hosts may tell only now that there was no room.
            close(self.file.try_clone()?)?;
            match &self.name {
                Name::This(path) => replace(&unfinished, path).map(|()| path.clone()),
                Name::Beside(path, number) => take_first_free(&unfinished, path, *number),
            }
        });
        if named.is_err() {
            drop(fs::remove_file(&unfinished));
        }
        named
    }
}

/// Opens what is no file by itself. Waits for nobody to read from a pipe: that may be never.
fn open_through(path: &Path) -> io::Result<File> {
    let is_pipe = fs::metadata(path).is_ok_and(|found| found.file_type().is_fifo());
    let flags = if is_pipe { libc::O_NONBLOCK } else { 0 };
    File::options().write(true).create(true).truncate(true).custom_flags(flags).open(path)
}

/// A file beside `path` under a name that no other process has, on whatever host or in whatever container it is.
fn make_unfinished(path: &Path) -> io::Result<(File, PathBuf)> {
    loop {
        // The keys are random.
        let random = RandomState::new().hash_one(std::time::SystemTime::now());
        let mut unfinished = path.as_os_str().to_owned();
        unfinished.push(format!(".{}-{random:016x}.unfinished", std::process::id()));
        let unfinished = PathBuf::from(unfinished);
        match File::options().write(true).create_new(true).open(&unfinished) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return Ok((made?, unfinished)),
        }
    }
}

/// Puts the file in the place of what is at `path`.
fn replace(unfinished: &Path, path: &Path) -> io::Result<()> {
    match fs::rename(unfinished, path) {
        // A mount point, or another user's file in a folder where everybody has his own: it may be written to all the
        // same.
        Err(error) if matches!(error.raw_os_error(), Some(libc::EBUSY | libc::EXDEV | libc::EPERM | libc::EACCES)) => {
            let mut from = File::open(unfinished)?;
            let Ok(mut into) = File::options().write(true).truncate(true).open(path) else { return Err(error) };
            io::copy(&mut from, &mut into)?;
            drop(fs::remove_file(unfinished));
            Ok(())
        }
        renamed => renamed,
    }
}

/// Gives the file the first name from `number` on that no other file has.
fn take_first_free(unfinished: &Path, path: &Path, number: u32) -> io::Result<PathBuf> {
    for number in number..u32::MAX {
        let path = numbered(path, number);
        match take_name(unfinished, &path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            taken => return taken.map(|()| path),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Gives the file a name that nobody has. Another job may be about to take it: one of them gets it.
fn take_name(unfinished: &Path, path: &Path) -> io::Result<()> {
    let linked = fs::hard_link(unfinished, path);
    match linked {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            // A file server whose first answer was lost refuses what it has done.
            if fs::metadata(unfinished).is_ok_and(|found| found.nlink() > 1) {
                drop(fs::remove_file(unfinished));
                return Ok(());
            }
            return replace_empty(unfinished, path);
        }
        // The file system has no links.
        Err(_) => {
            return match File::options().write(true).create_new(true).open(path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => replace_empty(unfinished, path),
                made => made.and_then(|_| replace(unfinished, path)),
            };
        }
    }
    drop(fs::remove_file(unfinished));
    Ok(())
}

/// Puts the file in the place of an empty one, which one job does at a time.
fn replace_empty(unfinished: &Path, path: &Path) -> io::Result<()> {
    let is_empty = |found: &fs::Metadata| found.is_file() && found.len() == 0;
    if !is_empty(&fs::symlink_metadata(path)?) {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    let empty = File::options().write(true).open(path)?;
    for _ in 0..MOST_POLLS {
        match empty.try_lock() {
            Err(fs::TryLockError::WouldBlock) => std::thread::sleep(POLL),
            // Where there are no locks, it has to do without.
            Ok(()) | Err(fs::TryLockError::Error(_)) => break,
        }
    }
    let (locked, now) = (empty.metadata()?, fs::symlink_metadata(path)?);
    if !is_empty(&now) || (locked.dev(), locked.ino()) != (now.dev(), now.ino()) {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    replace(unfinished, path)
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match without_write_signals(|| self.file.write(bytes)) {
                // A pipe that is full, of which somebody reads.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => std::thread::sleep(POLL),
                written => return written,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some(unfinished) = &self.unfinished {
            // Whatever ended the writing has been told.
            drop(fs::remove_file(unfinished));
        }
    }
}

/// Whether what is at `path` may be replaced: its owner has not made it read-only, which a new file that takes its name
/// would pass over. Where there is nothing, there is nothing to keep.
///
/// # Errors
/// Why it may not.
pub fn may_replace(path: &Path) -> io::Result<()> {
    match may_write(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        told => told,
    }
}

/// Tries whether a file could be written at `path`, and leaves everything as it was. What pipes, devices and links that
/// lead nowhere would say cannot be tried without writing to them.
///
/// # Errors
/// Why it could not.
pub fn try_path(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match fs::metadata(folder) {
        Ok(found) if found.is_dir() => {}
        Ok(_) => return Err(io::Error::other(format!("{} is not a folder", folder.display()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(io::Error::other(format!("there is no folder {}", folder.display())));
        }
        Err(error) => return Err(error),
    }
    let is_link = fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(io::Error::other("it is a folder")),
        Ok(found) if !found.is_file() => Ok(()),
        Ok(_) if is_link => File::options().append(true).open(path).map(drop),
        Err(_) if is_link => Ok(()),
        _ => NewFile::create(path)?.write_all(&TRIAL),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_file_has_its_name_when_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace.json");
        fs::write(&path, "before").unwrap();
        for finished in [false, true] {
            let mut file = NewFile::create(&path).unwrap();
            file.write_all(b"after").unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), "before");
            if finished {
                file.finish().unwrap();
            } else {
                drop(file);
            }
            assert_eq!(names(folder.path()), ["trace.json"], "nothing unfinished is left");
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), "after");
    }

    #[test]
    fn a_file_that_takes_anothers_place_has_its_permissions() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("site.rules");
        for mode in [0o664, 0o600] {
            fs::write(&path, "before").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            NewFile::create(&path).unwrap().finish().unwrap();
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, mode);
        }
    }

    #[test]
    fn a_trial_changes_nothing_and_says_what_is_wrong() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("report.json"), folder.path().join("link.json"));
        try_path(&path).unwrap();
        assert!(names(folder.path()).is_empty());
        fs::write(&path, "kept").unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        for good in [path.as_path(), &link, Path::new("/dev/null")] {
            try_path(good).unwrap();
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), "kept");
        assert_eq!(names(folder.path()).len(), 2);
        let wrong = |path: &Path| try_path(path).unwrap_err().to_string();
        assert_eq!(wrong(folder.path()), "it is a folder");
        assert!(wrong(&path.join("a.json")).ends_with("report.json is not a folder"));
        assert!(wrong(&folder.path().join("none/a.json")).starts_with("there is no folder "));
    }

    #[test]
    fn jobs_that_end_together_have_a_file_each() {
        let folder = tempfile::tempdir().unwrap();
        let (path, empty) = (folder.path().join("run.json"), folder.path().join("empty.json"));
        fs::write(&empty, "").unwrap();
        const JOBS: usize = 8;
        let together = std::sync::Barrier::new(JOBS);
        let places: Vec<[PathBuf; 2]> = std::thread::scope(|scope| {
            let job = |job: usize| {
                let (path, empty, together) = (&path, &empty, &together);
                scope.spawn(move || {
                    [path, empty].map(|path| {
                        let mut file = NewFile::beside(path).unwrap();
                        write!(file, "{job}").unwrap();
                        together.wait();
                        file.finish().unwrap()
                    })
                })
            };
            let jobs: Vec<_> = (0..JOBS).map(job).collect();
            jobs.into_iter().map(|job| job.join().unwrap()).collect()
        });
        for (job, places) in places.iter().enumerate() {
            for place in places {
                assert_eq!(fs::read_to_string(place).unwrap(), job.to_string(), "{}", place.display());
            }
        }
        assert_eq!(names(folder.path()).len(), 2 * JOBS, "{:?}", names(folder.path()));
        assert!(names(folder.path()).contains(&format!("run.{JOBS}.json")), "numbers follow one another");
    }

    #[test]
    fn two_files_that_are_begun_for_one_name_do_not_meet() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        let [mut one, mut other] = [(); 2].map(|()| NewFile::create(&path).unwrap());
        one.write_all(b"one").unwrap();
        other.write_all(b"the other").unwrap();
        one.finish().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "one");
        other.finish().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "the other");
    }

    #[test]
    fn a_pipe_that_nobody_reads_from_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        assert_eq!(NewFile::create(&path).unwrap_err().raw_os_error(), Some(libc::ENXIO));
        // One that somebody reads from has all of it, however slowly.
        let reader = std::thread::spawn({
            let path = path.clone();
            move || fs::read(path).unwrap()
        });
        let mut file = loop {
            match NewFile::beside(&path) {
                Ok(file) => break file,
                Err(_) => std::thread::sleep(POLL),
            }
        };
        let content = vec![7; 1 << 20];
        file.write_all(&content).unwrap();
        assert_eq!(file.finish().unwrap(), path);
        assert_eq!(reader.join().unwrap(), content);
    }
}
