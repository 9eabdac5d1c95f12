//! The report in one of its forms.

use super::layout::Layout;
use super::{csv, html, json, text};
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
