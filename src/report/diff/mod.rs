//! Two runs side by side, or several runs of each kind: what changed, and what is no more than noise.

mod changes;
mod csv;
mod noise;
mod text;

pub use changes::{Difference, diff};

use super::html;
use super::layout::{Extent, Layout};
use crate::selection::ReportFormat;

/// The difference in that form, as much as the layout says.
pub fn render_difference(difference: &Difference, format: ReportFormat, layout: &Layout) -> Vec<u8> {
    match format {
        ReportFormat::Text => text::render(difference, layout).into_bytes(),
        ReportFormat::Json => {
            let mut bytes = serde_json::to_vec_pretty(difference).expect("it has no part that JSON cannot hold");
            bytes.push(b'\n');
            bytes
        }
        ReportFormat::Csv => csv::render(difference, layout),
        ReportFormat::Html => {
            let text = text::render(difference, &Layout { extent: Extent::All, ..Layout::FILE });
            html::difference_page(&text, difference).into_bytes()
        }
    }
}
