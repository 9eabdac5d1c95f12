//! Files that the command line is told to write.

use super::file::{NewFile, may_replace, try_path};
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, IntoInnerError, Write};
use std::path::Path;

/// Puts `content` into the file at `path`, which has its new contents whole or keeps those that it had; but for a file in a
/// folder that cannot be written, which is written over. What may not be written to is not replaced either.
///
/// # Errors
/// It cannot be written, and why.
pub fn write_output(path: &Path, content: &[u8]) -> io::Result<()> {
    write_output_by(path, |file| file.write_all(content))
}

/// The same of what `write` writes, which need not be in memory all at once.
///
/// # Errors
/// As above.
pub fn write_output_by(path: &Path, write: impl Fn(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    may_replace(path)?;
    let replaced = NewFile::create(path).and_then(|file| {
        let mut file = BufWriter::new(file);
        write(&mut file)?;
        file.into_inner().map_err(IntoInnerError::into_error)?.finish()
    });
    match replaced {
        Err(error) if is_left_alone(&error, path) => {
            let mut file = BufWriter::new(File::create(path)?);
            write(&mut file)?;
            file.flush()
        }
        replaced => replaced.map(drop),
    }
}

/// Tries whether [`write_output`] could, and leaves everything as it was.
///
/// # Errors
/// Why it could not.
pub fn try_output(path: &Path) -> io::Result<()> {
    match try_path(path) {
        Err(error) if is_left_alone(&error, path) => Ok(()),
        tried => tried.and_then(|()| may_replace(path)),
    }
}

/// Whether it is the folder that cannot be written, and not the file in it.
fn is_left_alone(error: &io::Error, path: &Path) -> bool {
    matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
        && File::options().append(true).open(path).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trying_leaves_a_link_to_nothing_and_writing_fills_what_it_leads_to() {
        let folder = tempfile::tempdir().unwrap();
        let (link, target) = (folder.path().join("link.json"), folder.path().join("target.json"));
        std::os::unix::fs::symlink(&target, &link).unwrap();
        try_output(&link).unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink() && !target.exists());
        write_output(&link, b"whole").unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(std::fs::read(&target).unwrap(), b"whole");
    }

    #[test]
    fn what_its_owner_has_made_read_only_is_not_replaced() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("site.rules");
        std::fs::write(&path, "mine").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).unwrap();
        // Root may write to it all the same.
        let may_write = File::options().append(true).open(&path).is_ok();
        assert_eq!(try_output(&path).is_ok(), may_write);
        assert_eq!(write_output(&path, b"ours").is_ok(), may_write);
        assert_eq!(std::fs::read(&path).unwrap(), if may_write { b"ours" } else { b"mine" });
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing unfinished is left");
        assert!(may_replace(Path::new("/dev/null")).is_ok() && may_replace(&folder.path().join("none")).is_ok());
    }
}
