//! Files that the command line is told to write.

use super::file::try_path;
use super::write::replace;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

/// Puts `content` into the file at `path`, which has its new contents whole or keeps those that it had; but for a file in a
/// folder that cannot be written, which is written over.
///
/// # Errors
/// It cannot be written, and why.
pub fn write_output(path: &Path, content: &[u8]) -> io::Result<()> {
    match replace(path, content) {
        Err(error) if is_left_alone(&error, path) => std::fs::write(path, content),
        replaced => replaced,
    }
}

/// Tries whether [`write_output`] could, and leaves everything as it was.
///
/// # Errors
/// Why it could not.
pub fn try_output(path: &Path) -> io::Result<()> {
    match try_path(path) {
        Err(error) if is_left_alone(&error, path) => Ok(()),
        tried => tried,
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
}
