//! One writer per form of the report: the monitor's [`Summary`] in, bytes out. Only [`write`] and [`NewFile`] touch files.

#![forbid(unsafe_code)]

mod columns;
mod csv;
mod diff;
mod drawings;
mod file;
mod html;
mod json;
mod layout;
mod matrix;
mod names;
mod numbers;
mod quantity;
mod recovered;
mod sites;
#[cfg(test)]
mod tests;
mod text;
mod totals;
mod trace;
mod write;

pub use diff::{Difference, diff, render_difference};
pub use file::{NewFile, try_path};
pub use json::{ReadError, read};
pub use layout::{Extent, Layout, TableOf, WIDTH};
pub use matrix::matrices;
pub use numbers::{free, free_of_files, numbered, with_word};
pub use recovered::recover;
pub use sites::name_sites;
pub use trace::Trace;
pub use write::{WriteError, replace, write};

use crate::monitor::Summary;
use crate::selection::ReportFormat;

/// The report in that form; `layout` says how much of it people want to see.
pub fn render(format: ReportFormat, summary: &Summary, layout: &Layout) -> Vec<u8> {
    match format {
        ReportFormat::Text => text::render(summary, layout).into_bytes(),
        ReportFormat::Json => json::render(summary),
        ReportFormat::Csv => csv::render(summary, layout),
        ReportFormat::Html => html::render(summary).into_bytes(),
    }
}
