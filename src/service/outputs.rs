//! Where reports and the trace go: tried at the start, while somebody can still do something about it. What cannot be
//! written there at the end goes to a file in the folder for temporary files in its place, or else to stderr.

use super::places::{self, Places};
use crate::monitor::Summary;
use crate::mpi::words::Stderr;
use crate::process::log;
use crate::process::runtime::Runtime;
use crate::report::{self, NewFile};
use crate::selection::{ReportFormat, ReportTarget, variables};
use std::io;
use std::path::{Path, PathBuf};

/// Tries every path that rank 0 is to write to. One line for each that could not be written now; the program may still
/// make the folder.
pub fn try_paths(files: &Places) {
    let reports = files.report.iter().filter_map(|target| match target {
        ReportTarget::Stderr => None,
        ReportTarget::File { path, .. } => Some((variables::REPORT, "report", path)),
    });
    let traces = files.trace.iter().map(|path| (variables::TRACE, "trace", path));
    for (variable, what, path) in reports.chain(traces) {
        if let Err(error) = report::try_path(path) {
            log::tell(&format!(
                "rank 0: {variable}: {} cannot be written: {error}; if that is still so at the end, the {what} goes to {}",
                path.display(),
                stand_in(path).display()
            ));
        }
    }
}

/// Writes a report, and in another place if it cannot be written there. False in the latter case, which is told.
pub fn write_report(runtime: &Runtime, target: &ReportTarget, summary: &Summary) -> bool {
    let ReportTarget::File { path, format } = target else {
        return report::write(target, summary).inspect_err(|failed| log::tell(&failed.to_string())).is_ok();
    };
    let (files, format) = (places::files(runtime), *format);
    let written = match files.own(path) {
        Some(path) => report::write(&ReportTarget::File { path, format }, summary),
        None => report::write_beside(target, summary).map(|at| files.has_written(path, at)),
    };
    let Err(failed) = written else { return true };
    let other = ReportTarget::File { path: stand_in(path), format };
    match report::write_beside(&other, summary) {
        Ok(at) => log::tell(&format!("{failed}; it is in {}", at.display())),
        Err(also) => {
            log::tell(&format!("{failed}, nor to {}: {}; it follows here", also.path.display(), also.error));
            let text = report::render(ReportFormat::Text, summary, &report::Layout::SCREEN);
            // Nowhere is left to complain.
            drop(io::Write::write_all(&mut Stderr, &text));
        }
    }
    false
}

/// The trace while it is written.
pub struct TraceFile {
    file: NewFile,
    /// Why it is not where it should be, if it is not.
    failed: Option<String>,
}

/// Begins the trace that should be at `path`, there or in another place.
///
/// # Errors
/// Neither was possible.
pub fn begin_trace(files: &Places, path: &Path) -> io::Result<TraceFile> {
    let begun = match files.own(path) {
        Some(at) => NewFile::create(&at),
        None => NewFile::beside(path),
    };
    match begun {
        Ok(file) => Ok(TraceFile { file, failed: None }),
        Err(error) => begin_trace_elsewhere(path, &error.to_string()).map_err(|_| error),
    }
}

/// Begins it in another place: at `path` it failed, as told.
///
/// # Errors
/// Nor was that possible.
pub fn begin_trace_elsewhere(path: &Path, failed: &str) -> io::Result<TraceFile> {
    Ok(TraceFile { file: NewFile::beside(&stand_in(path))?, failed: Some(failed.to_owned()) })
}

impl io::Write for TraceFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl TraceFile {
    /// Gives the trace its name. False if it is not where it should be, which is told.
    ///
    /// # Errors
    /// It has none.
    pub fn finish(self, files: &Places, path: &Path) -> io::Result<bool> {
        let at = self.file.finish()?;
        let Some(error) = self.failed else {
            if files.own(path).is_none() {
                files.has_written(path, at);
            }
            return Ok(true);
        };
        log::tell(&format!("the trace could not be written to {}: {error}; it is in {}", path.display(), at.display()));
        Ok(false)
    }
}

/// `out/report.json` of process 4711 is `report.process-4711.json` in the folder for temporary files.
pub fn stand_in(path: &Path) -> PathBuf {
    let name = path.file_name().map_or_else(|| PathBuf::from("collie"), PathBuf::from);
    std::env::temp_dir().join(report::with_word(&name, &format!("process-{}", std::process::id())))
}
