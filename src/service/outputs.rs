//! Where reports and the trace go: tried at the start, while somebody can still do something about it. What cannot be written
//! there at the end goes to a file in the folder for temporary files in its place, or else to stderr.

use super::places::{self, Places};
use crate::monitor::Summary;
use crate::process::log;
use crate::process::runtime::Runtime;
use crate::report::{self, NewFile};
use crate::selection::{ReportFormat, ReportTarget, variables};
use std::io;
use std::path::{Path, PathBuf};

/// Tries every path that rank 0 is to write to, and makes the folder of the checkpoints. One line for each that could not be written now; the program may still make
/// the folder.
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
    if let Some(folder) = &files.checkpoints
        && let Err(error) = make_folder(folder)
    {
        log::tell(&format!(
            "rank 0: {}: the folder {} cannot be made: {error}; there are no checkpoints if that stays so",
            variables::CHECKPOINT,
            folder.display()
        ));
    }
}

/// Makes a folder in one that is there, unless it is there itself.
fn make_folder(folder: &Path) -> io::Result<()> {
    match std::fs::create_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        made => made,
    }
}

/// Writes a report, and in another place if it cannot be written there. False in the latter case, which is told.
pub fn write_report(runtime: &Runtime, target: &ReportTarget, summary: &Summary) -> bool {
    let target = match target {
        ReportTarget::Stderr => &ReportTarget::Stderr,
        ReportTarget::File { path, format } => {
            &ReportTarget::File { path: places::files(runtime).now(path), format: *format }
        }
    };
    let Err(failed) = report::write(target, summary) else { return true };
    let ReportTarget::File { path, format } = target else {
        log::tell(&failed.to_string());
        return false;
    };
    let (path, format) = (stand_in(path), *format);
    match report::write(&ReportTarget::File { path: path.clone(), format }, summary) {
        Ok(()) => log::tell(&format!("{failed}; it is in {}", path.display())),
        Err(also) => {
            log::tell(&format!("{failed}, nor to {}: {}; it follows here", also.path.display(), also.error));
            let text = report::render(ReportFormat::Text, summary, &report::Layout::SCREEN);
            // Nowhere is left to complain.
            drop(io::Write::write_all(&mut io::stderr(), &text));
        }
    }
    false
}

/// Begins the trace at `path`, or in another place, which is told; and where that is.
///
/// # Errors
/// Neither was possible.
pub fn begin_trace(path: &Path) -> io::Result<(NewFile, PathBuf)> {
    let error = match NewFile::create(path) {
        Ok(file) => return Ok((file, path.to_owned())),
        Err(error) => error,
    };
    let other = stand_in(path);
    let Ok(file) = NewFile::create(&other) else { return Err(error) };
    log::tell(&format!(
        "the trace could not be written to {}: {error}; it goes to {}",
        path.display(),
        other.display()
    ));
    Ok((file, other))
}

/// `out/report.json` of process 4711 is `report.process-4711.json` in the folder for temporary files.
pub fn stand_in(path: &Path) -> PathBuf {
    let name = path.file_name().map_or_else(|| PathBuf::from("collie"), PathBuf::from);
    std::env::temp_dir().join(report::with_word(&name, &format!("process-{}", std::process::id())))
}
