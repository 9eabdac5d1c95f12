//! Files that subcommands write.

use super::Failure;
use crate::report;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

/// Puts `text` into the file at `path`, which has its new contents whole or keeps those that it had; but for a file in a
/// folder that cannot be written, which is written over.
///
/// # Errors
/// It cannot be written, and why.
pub fn write_file(path: &Path, text: impl AsRef<[u8]>) -> Result<(), Failure> {
    match report::replace(path, text.as_ref()) {
        Err(error) if is_left_alone(&error, path) => std::fs::write(path, text),
        replaced => replaced,
    }
    .map_err(|error| cannot_write(path, &error))
}

/// Whether it is the folder that cannot be written, and not the file in it.
fn is_left_alone(error: &io::Error, path: &Path) -> bool {
    matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
        && File::options().append(true).open(path).is_ok()
}

/// Finds out, before anything that takes long, whether the file that `option` names can hold `form`, which files with one
/// of the endings `accepted` do.
///
/// # Errors
/// It is named for something else, or for none; or it cannot be written, and why.
pub fn try_output(option: &str, path: Option<&Path>, form: &str, accepted: &[&str]) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    if path == Path::new("-") {
        return Err(Failure::usage(format!("{option} '-': accepted: the name of a file")));
    }
    report::fits(option, path, form, accepted).map_err(Failure::usage)?;
    match report::try_path(path) {
        Err(error) if is_left_alone(&error, path) => Ok(()),
        tried => tried.map_err(|error| cannot_write(path, &error)),
    }
}

/// What is said of a file that could not be written.
pub fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::cannot(format!("cannot write {}: {error}", path.display()))
}
