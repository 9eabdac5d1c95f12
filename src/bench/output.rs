//! Where the result goes.

#![forbid(unsafe_code)]

use super::result::Report;
use super::settings::Settings;
use super::{csv, page, plot, table};
use crate::report;
use std::path::Path;

/// How the line of a cell that is told by itself begins; that of the whole report does not.
pub const CELL: &str = "cell ";

/// A report on one line, so that it can be told from what a launcher adds.
pub fn line(report: &Report) -> String {
    serde_json::to_string(report).expect("a report can be written") + "\n"
}

/// Whether the files that are asked for can be written, as far as is known before there is anything to write.
///
/// # Errors
/// The first that cannot, and why.
pub fn try_files(settings: &Settings) -> Result<(), String> {
    let standard_output = Path::new("-");
    let files = [("csv", &settings.csv), ("svg", &settings.svg), ("html", &settings.html)];
    if let Some((form, _)) = files.iter().find(|(_, path)| path.as_deref() == Some(standard_output)) {
        return Err(format!("--{form} '-': accepted: a file; only --json goes to standard output"));
    }
    let files = files.into_iter().map(|(_, path)| path).chain([&settings.json]).flatten();
    let plan = settings.plan.as_ref().and_then(|plan| plan.canonicalize().ok());
    if let Some(path) = files.clone().find(|path| plan.is_some() && path.canonicalize().ok() == plan) {
        return Err(format!("{} would replace the report that --plan names; accepted: another file", path.display()));
    }
    files
        .filter(|path| *path != standard_output)
        .try_for_each(|path| report::try_output(path).map_err(|error| cannot(path, &error)))
}

/// Writes every file that is asked for. Gives what is for standard output, the table, unless that is JSON's; and what
/// could not be written, and why.
pub fn written(settings: &Settings, report: &Report) -> (String, Vec<String>) {
    let mut wrong = Vec::new();
    let mut shown = table::text(report, settings.scenario);
    if let Some(path) = &settings.json {
        if path == Path::new("-") {
            shown = line(report);
        } else {
            let text = serde_json::to_string_pretty(report).expect("a report can be written") + "\n";
            wrong.extend(to_file(path, &text).err());
        }
    }
    type Form = fn(&Report) -> String;
    let forms: [(_, Form); 3] = [(&settings.csv, csv::text), (&settings.svg, plot::svg), (&settings.html, page::html)];
    for (path, form) in forms {
        if let Some(path) = path {
            wrong.extend(to_file(path, &form(report)).err());
        }
    }
    (shown, wrong)
}

fn to_file(path: &Path, text: &str) -> Result<(), String> {
    report::write_output(path, text.as_bytes()).map_err(|error| cannot(path, &error))
}

fn cannot(path: &Path, error: &std::io::Error) -> String {
    format!("cannot write {}: {error}", path.display())
}

/// The exit code: 1 if a variant gave another result than the native library.
pub fn code(report: &Report) -> u8 {
    u8::from(report.cells.iter().any(|row| !row.wrong.is_empty()))
}
