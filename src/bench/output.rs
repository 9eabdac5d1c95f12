//! Where the result goes.

#![forbid(unsafe_code)]

use super::result::Report;
use super::settings::Settings;
use super::{csv, page, plot, table};
use std::path::Path;

/// Writes every file that is asked for; gives what is for standard output: the table, unless that is JSON's.
///
/// # Errors
/// What could not be written, and why.
pub fn written(settings: &Settings, report: &Report) -> Result<String, String> {
    let mut shown = table::text(report, settings.scenario);
    if let Some(path) = &settings.json {
        if path == Path::new("-") {
            // On one line, so that it can be told from what a launcher adds.
            shown = serde_json::to_string(report).expect("a report can be written") + "\n";
        } else {
            to_file(path, &(serde_json::to_string_pretty(report).expect("a report can be written") + "\n"))?;
        }
    }
    type Form = fn(&Report) -> String;
    let forms: [(_, Form); 3] = [(&settings.csv, csv::text), (&settings.svg, plot::svg), (&settings.html, page::html)];
    for (path, form) in forms {
        if let Some(path) = path {
            to_file(path, &form(report))?;
        }
    }
    Ok(shown)
}

fn to_file(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// The exit code: 1 if a variant gave another result than the native library.
pub fn code(report: &Report) -> u8 {
    u8::from(report.cells.iter().any(|row| !row.wrong.is_empty()))
}
