//! Files that subcommands write.

use super::Failure;
use crate::report;
use std::io;
use std::path::Path;

/// Puts `text` into the file at `path`, as [`report::write_output`] does.
///
/// # Errors
/// It cannot be written, and why.
pub fn write_file(path: &Path, text: impl AsRef<[u8]>) -> Result<(), Failure> {
    report::write_output(path, text.as_ref()).map_err(|error| cannot_write(path, &error))
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
    report::try_output(path).map_err(|error| cannot_write(path, &error))
}

/// Whether `output` is none of the files that what goes there is made of: a run cannot be measured again at will.
///
/// # Errors
/// It is one of them.
pub fn refuse_to_replace<'a>(
    option: &str,
    output: Option<&Path>,
    inputs: impl IntoIterator<Item = &'a Path>,
) -> Result<(), Failure> {
    let Some((output, at)) = output.and_then(|output| Some((output, output.canonicalize().ok()?))) else {
        return Ok(());
    };
    // Pipes and devices lose nothing. Of a folder all reports are read.
    let is_report = at.extension().is_some_and(|ending| ending == "json");
    let is_it = |input: &Path| {
        at.is_file()
            && input.canonicalize().is_ok_and(|input| input == at || is_report && at.parent() == Some(input.as_path()))
    };
    match inputs.into_iter().find(|input| is_it(input)) {
        Some(input) => Err(Failure::usage(format!(
            "{option} '{}' would replace '{}', which it is made of; accepted: another file",
            output.display(),
            input.display()
        ))),
        None => Ok(()),
    }
}

/// What is said of a file that could not be written.
pub fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::cannot(format!("cannot write {}: {error}", path.display()))
}
