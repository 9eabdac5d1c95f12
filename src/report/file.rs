//! Files that appear under their name only when they are whole: what was there before may be all that is left of a long run.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What a trial writes: a full disk gives out names, but no blocks.
const TRIAL: [u8; 4096] = [0; 4096];

/// A file that is being written. Dropped before its [`finish`](Self::finish), it leaves nothing behind.
#[derive(Debug)]
pub struct NewFile {
    file: File,
    /// Where it is written, and the name that it gets; none for pipes, devices and links, which are written through.
    names: Option<(PathBuf, PathBuf)>,
}

impl NewFile {
    /// Begins the file that is to be at `path`.
    ///
    /// # Errors
    /// It could not be made; one that was there before is as it was.
    pub fn create(path: &Path) -> io::Result<Self> {
        if fs::symlink_metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
            return Ok(Self { file: File::create(path)?, names: None });
        }
        let mut unfinished = path.as_os_str().to_owned();
        unfinished.push(format!(".{}.unfinished", std::process::id()));
        let unfinished = PathBuf::from(unfinished);
        // Of a process that had this number before; mostly there is none.
        drop(fs::remove_file(&unfinished));
        let file = File::options().write(true).create_new(true).open(&unfinished)?;
        if let Ok(before) = fs::metadata(path) {
            // Whoever may read what was there may read what takes its place, where the file system knows permissions.
            drop(file.set_permissions(before.permissions()));
        }
        Ok(Self { file, names: Some((unfinished, path.to_owned())) })
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// It could not be renamed; one that was there before is as it was.
    pub fn finish(mut self) -> io::Result<()> {
        let Some((unfinished, path)) = self.names.take() else { return Ok(()) };
        fs::rename(&unfinished, path).inspect_err(|_| drop(fs::remove_file(&unfinished)))
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some((unfinished, _)) = &self.names {
            // Whatever ended the writing has been told.
            drop(fs::remove_file(unfinished));
        }
    }
}

/// Tries whether a file could be written at `path`, and leaves everything as it was. What pipes, devices and links that lead
/// nowhere would say cannot be tried without writing to them.
///
/// # Errors
/// Why it could not.
pub fn try_path(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match fs::metadata(folder) {
        Ok(found) if found.is_dir() => {}
        Ok(_) => return Err(io::Error::other(format!("{} is no folder", folder.display()))),
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
        assert!(wrong(&path.join("a.json")).ends_with("report.json is no folder"));
        assert!(wrong(&folder.path().join("none/a.json")).starts_with("there is no folder "));
    }
}
