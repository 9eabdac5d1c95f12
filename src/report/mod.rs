//! One writer per form of the report; all see the monitor's summary only.

#![forbid(unsafe_code)]

use crate::monitor::Summary;
use crate::selection::{ReportFormat, ReportTarget};
use std::path::PathBuf;

/// A report that could not be written.
#[derive(Debug, thiserror::Error)]
#[error("the report could not be written to {path}: {error}")]
pub struct WriteError {
    /// Where it should have gone.
    pub path: PathBuf,
    /// Why it did not.
    pub error: std::io::Error,
}

/// Writes the report where `target` says.
///
/// # Errors
/// The file could not be written.
pub fn write(target: &ReportTarget, summary: &Summary) -> Result<(), WriteError> {
    let json = || serde_json::to_string_pretty(summary).expect("a summary can be written");
    match target {
        ReportTarget::Stderr => eprintln!("{}", json()),
        ReportTarget::File { path, format: ReportFormat::Text | ReportFormat::Json } => {
            std::fs::write(path, json()).map_err(|error| WriteError { path: path.clone(), error })?;
        }
    }
    Ok(())
}
