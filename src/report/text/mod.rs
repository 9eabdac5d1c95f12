//! The summary for people: what a screen holds, or tables of any length.

mod head;
pub(super) mod late;
mod learned;
mod messages;
mod notes;
mod program;
mod rows;
mod sums;
mod verdicts;
mod writer;

pub use writer::{function, on_one_line};

use super::layout::{Extent, Layout, TableOf};
use super::names::Names;
use crate::monitor::Summary;
use std::ops::RangeInclusive;
use writer::Writer;

/// Lines of what a screen holds.
const LINES: usize = 20;

/// Lines that the table of rows takes besides them: heads, the rest summed up, the key, where communicators come from.
const LINES_AROUND_ROWS: usize = 5;

/// Rows on a screen: however much else there is to say, and however little.
const ROWS: RangeInclusive<usize> = 3..=9;

/// Rows of the comparison on a screen.
const COMPARISONS: usize = 6;

/// Kinds of calls of which a screen tells what was learned.
const LEARNED: usize = 4;

/// The report.
pub fn render(summary: &Summary, layout: &Layout) -> String {
    let names = Names::of(summary);
    let mut writer = Writer { text: String::new(), summary, layout, names: &names };
    match layout {
        Layout { extent: Extent::Screen, table: None, .. } => writer.screen(),
        _ => writer.tables(),
    }
    writer.text
}

impl Writer<'_> {
    /// What a screen holds.
    fn screen(&mut self) {
        self.header();
        self.messages_in_short();
        self.program_in_short();
        self.sums_in_short();
        let mut below = Writer { text: String::new(), ..*self };
        below.verdicts(COMPARISONS);
        below.verification();
        below.learned(LEARNED);
        below.waiting();
        below.notes();
        let taken = self.text.lines().count() + below.text.lines().count() + LINES_AROUND_ROWS;
        below.monitoring(LINES.saturating_sub(taken + ROWS.start()));
        let taken = self.text.lines().count() + below.text.lines().count() + LINES_AROUND_ROWS;
        let most = LINES.saturating_sub(taken).clamp(*ROWS.start(), *ROWS.end());
        // A tail of one row would take as many lines as the row.
        let all = self.summary.rows.len();
        self.rows(if all == most + 1 { all } else { all.min(most) });
        self.text += &below.text;
    }

    /// Those tables that are wanted.
    fn tables(&mut self) {
        self.header();
        let wants_all = self.layout.table.is_none();
        if wants_all {
            self.carried_out();
        }
        if self.layout.shows(TableOf::Functions) {
            self.functions();
        }
        if self.layout.shows(TableOf::Communicators) {
            self.communicators();
        }
        if self.layout.shows(TableOf::Messages) {
            self.messages();
        }
        if self.layout.shows(TableOf::Regions) {
            self.regions();
        }
        if self.layout.shows(TableOf::Sites) {
            self.sites();
        }
        if self.layout.shows(TableOf::Ranks) {
            self.ranks();
        }
        if self.layout.shows(TableOf::Rows) {
            self.heading("calls, by function, communicator, size, algorithm and what decided it");
            self.rows(self.layout.rows(self.summary.rows.len()));
        }
        if self.layout.shows(TableOf::Verdicts) {
            self.gap(!self.summary.comparisons.is_empty());
            self.verdicts(self.layout.rows(self.summary.comparisons.len()));
        }
        if wants_all {
            self.gap(self.summary.verification.is_some() || self.summary.sync.is_some());
            self.verification();
            self.learned(usize::MAX);
            self.waiting();
        }
        if self.layout.shows(TableOf::Late) {
            self.late();
        }
        if wants_all {
            self.gap(true);
            self.notes();
            self.monitoring(usize::MAX);
        }
    }
}
