//! A report to where it goes.

use super::file::NewFile;
use super::layout::{Extent, Layout};
use super::render::render;
use crate::monitor::Summary;
use crate::selection::{ReportFormat, ReportTarget};
use crate::writing::standard_error::Stderr;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A report that could not be written.
#[derive(Debug, thiserror::Error)]
#[error("the report could not be written to {}: {error}", path.display())]
pub struct WriteError {
    /// Where it should have gone.
    pub path: PathBuf,
    /// Why it did not.
    pub error: io::Error,
}

/// Writes the report where `target` says.
///
/// # Errors
/// The file could not be written; one that was there before is as it was.
pub fn write(target: &ReportTarget, summary: &Summary) -> Result<(), WriteError> {
    write_to(target, summary, NewFile::create).map(drop)
}

/// The same beside a file that another job has there by then. Gives where it is.
///
/// # Errors
/// As above.
pub fn write_beside(target: &ReportTarget, summary: &Summary) -> Result<PathBuf, WriteError> {
    write_to(target, summary, NewFile::beside)
}

fn write_to(
    target: &ReportTarget,
    summary: &Summary,
    begin: impl FnOnce(&Path) -> io::Result<NewFile>,
) -> Result<PathBuf, WriteError> {
    let (path, result) = match target {
        // One write, so that other ranks' lines do not come in between.
        ReportTarget::Stderr => {
            let text = render(ReportFormat::Text, summary, &Layout::SCREEN);
            let stderr = Path::new("stderr");
            (stderr, Stderr.write_all(&text).map(|()| stderr.to_owned()))
        }
        ReportTarget::File { path, format } => {
            let extent = if *format == ReportFormat::Text { Layout::FILE.extent } else { Extent::All };
            let content = render(*format, summary, &Layout { extent, ..Layout::FILE });
            (path.as_path(), begin(path).and_then(|file| fill(file, &content)))
        }
    };
    result.map_err(|error| WriteError { path: path.to_owned(), error })
}

/// A report that was there before stays whole until the new one is.
///
/// # Errors
/// It could not be written; the one that was there is as it was.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    fill(NewFile::create(path)?, content).map(drop)
}

fn fill(mut file: NewFile, content: &[u8]) -> io::Result<PathBuf> {
    file.write_all(content)?;
    file.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: impl Into<PathBuf>, format: ReportFormat) -> ReportTarget {
        ReportTarget::File { path: path.into(), format }
    }

    #[test]
    fn a_report_takes_the_place_of_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.csv");
        std::fs::write(&path, "old").unwrap();
        write(&file(&path, ReportFormat::Csv), &Summary::default()).unwrap();
        assert!(std::fs::read(&path).unwrap().starts_with(b"function,"));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing unfinished is left");
    }

    #[test]
    fn a_failure_is_one_line_that_names_the_file() {
        for path in ["/nonexistent/a.json", "/dev/full"] {
            let failure = write(&file(path, ReportFormat::Json), &Summary::default()).unwrap_err().to_string();
            assert!(failure.contains(path) && !failure.contains('\n'), "{failure}");
        }
    }
}
