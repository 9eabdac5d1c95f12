//! Files of measurements, for whichever command is given some: what `collie bench` measured, or what mode `compare`
//! found in a run, as cells alike.

use super::Failure;
use crate::bench::result::{Doubt, Report};
use crate::bench::{checked, from_csv, tune};
use crate::reading;
use crate::report::{self, ReadError, found};
use crate::selection::SELF_TEST;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::string::FromUtf8Error;

/// What such a file may be.
const ACCEPTED: &str =
    "what collie bench --json or --csv wrote, or a run with COLLIE_MODE=compare and COLLIE_REPORT=run.json";

/// What several such files hold.
#[derive(Default)]
pub struct Measurements<'a> {
    pub reports: Vec<Report>,
    /// Where each of them is from.
    pub files: Vec<&'a Path>,
    /// What is said of files that hold the same as an earlier one.
    pub copies: Vec<String>,
}

impl<'a> Measurements<'a> {
    /// Reads all files; what one holds that an earlier one holds already, as JSON beside CSV does, counts once.
    ///
    /// # Errors
    /// A file is given twice, or those of [`read`].
    pub fn read(paths: &'a [PathBuf]) -> Result<Self, Failure> {
        let mut all = Self::default();
        let (mut known, mut had_cells) = (BTreeSet::new(), Vec::new());
        for path in paths {
            // Pipes have no name of their own.
            if path.is_file() && !known.insert(path.canonicalize().unwrap_or_else(|_| path.clone())) {
                return Err(Failure::usage(format!("{}: given twice; accepted: each file once", path.display())));
            }
            for mut report in read(path).map_err(Failure::cannot)? {
                let cells = report.cells.len();
                for (earlier, first) in all.reports.iter_mut().zip(&all.files) {
                    let of = match report.leave_out_copies(earlier) {
                        0 => continue,
                        copies if copies == cells => String::new(),
                        copies => format!(" in {copies} of {cells} cells"),
                    };
                    let (copy, first) = (path.display(), first.display());
                    all.copies.push(format!("{copy}: holds the same measurements as {first}{of}, which count once"));
                }
                had_cells.push(cells > 0);
                all.files.push(path);
                all.reports.push(report);
            }
        }
        // Of a copy nothing is told a second time, not even what decides nothing.
        let is_left: Vec<_> =
            all.reports.iter().zip(had_cells).map(|(report, had)| !had || !report.cells.is_empty()).collect();
        let mut left = is_left.iter();
        all.files.retain(|_| *left.next().expect("one for each"));
        let mut left = is_left.iter();
        all.reports.retain(|_| *left.next().expect("one for each"));
        Ok(all)
    }
}

/// Reads a report of `collie bench`, several from a file of its rows (`--csv`), or the verdicts of a run.
///
/// # Errors
/// The file cannot be read; or what it holds instead, and what is accepted.
fn read(path: &Path) -> Result<Vec<Report>, String> {
    let bytes = reading::bytes(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let is_no_text =
        |error: FromUtf8Error| format!("{}: found {}; accepted: {ACCEPTED}", path.display(), found(error.as_bytes()));
    let text = String::from_utf8(bytes).map_err(is_no_text)?;
    // Spreadsheets begin a file with a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    if from_csv::is_csv(text) {
        let reports = from_csv::read(text).map_err(|error| format!("{}: {error}", path.display()))?;
        let is_empty = reports.is_empty();
        return if is_empty { Err(format!("{}: found a head and no rows", path.display())) } else { Ok(reports) };
    }
    parse(text)
        .map(|report| vec![report])
        .map_err(|found| format!("{}: found {found}; accepted: {ACCEPTED}", path.display()))
}

/// # Errors
/// What the text is instead.
fn parse(text: &str) -> Result<Report, String> {
    let value: Value = serde_json::from_str(text).map_err(|_| found(text.as_bytes()))?;
    if value["cells"].is_array() {
        let malformed = |error: &dyn Display| format!("a malformed report of collie bench: {error}");
        // From the text, so that errors name a place in it.
        let report: Report = serde_json::from_str(text).map_err(|error| malformed(&error))?;
        checked::report(&report).map_err(|error| malformed(&error))?;
        return Ok(report);
    }
    let summary = report::read(text.as_bytes()).map_err(|error| match error {
        ReadError::Version(_) if value["rows"].is_array() => error.to_string(),
        _ if value["rows"].is_array() => format!("a malformed report of a run: {error}"),
        _ => found(text.as_bytes()),
    })?;
    if summary.mode == SELF_TEST {
        return Err(format!("a report of a run in mode {SELF_TEST}, in which the MPI library carried out both sides"));
    }
    let compared = tune::of_comparisons(&summary);
    match (compared.cells.is_empty(), summary.mode.as_str()) {
        (false, _) => Ok(compared),
        (true, _) if compared.in_doubt.iter().any(|doubt| matches!(doubt.why, Doubt::Several(_))) => Err(
            "a report of a run in which several of Collie's algorithms carried out the calls of each verdict, which \
                 counts for none of them then"
                .to_owned(),
        ),
        (true, "compare") if !compared.in_doubt.is_empty() => {
            let why: BTreeSet<String> = compared.in_doubt.iter().map(|doubt| doubt.why.words()).collect();
            Err(format!("a report of a run whose verdicts count for nothing: {}", Vec::from_iter(why).join("; ")))
        }
        (true, "compare") => Err("a report of a run in which no kind of call was compared often enough".to_owned()),
        (true, mode) => Err(format!("a report of a run in mode {mode}, without verdicts")),
    }
}
