//! Files that subcommands write.

use super::Failure;
use std::io;
use std::path::Path;

/// Puts `text` into the file at `path`.
///
/// # Errors
/// It cannot be written, and why.
pub fn write_file(path: &Path, text: impl AsRef<[u8]>) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(|error| cannot_write(path, &error))
}

/// What is said of a file that could not be written.
pub fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::cannot(format!("cannot write {}: {error}", path.display()))
}
