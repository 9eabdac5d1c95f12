//! One writer per form of the report: the monitor's [`Summary`] in, bytes out. Only [`write`] and [`NewFile`] touch files.

#![forbid(unsafe_code)]

mod columns;
mod csv;
mod diff;
mod drawings;
mod file;
mod html;
mod json;
mod matrix;
mod numbers;
mod quantity;
#[cfg(test)]
mod tests;
mod text;
mod trace;
mod write;

pub use diff::diff;
pub use file::{NewFile, try_path};
pub use json::{ReadError, read};
pub use matrix::matrices;
pub use numbers::{free, free_of_files, numbered, with_word};
pub use trace::Trace;
pub use write::{WriteError, write};

use crate::monitor::Summary;
use crate::selection::ReportFormat;

/// The report in that form.
pub fn render(format: ReportFormat, summary: &Summary) -> Vec<u8> {
    match format {
        ReportFormat::Text => text::render(summary).into_bytes(),
        ReportFormat::Json => json::render(summary),
        ReportFormat::Csv => csv::render(summary),
        ReportFormat::Html => html::render(summary).into_bytes(),
    }
}
