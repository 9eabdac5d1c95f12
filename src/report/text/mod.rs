//! The summary for people: what a screen holds, or tables of any length.

mod late;
mod notes;
mod rows;
mod sums;
mod verdicts;

pub use sums::waited_for;

use super::columns::{columns, shortened};
use super::layout::{Extent, Layout, TableOf};
use super::names::Names;
use super::quantity::{duration, percent, several};
use crate::monitor::Summary;
use std::fmt::Write;
use std::ops::RangeInclusive;

/// Lines of what a screen holds.
const LINES: usize = 20;

/// Lines that the table of rows takes besides them: heads, the rest summed up, the key, where communicators come from.
const LINES_AROUND_ROWS: usize = 5;

/// Rows on a screen: however much else there is to say, and however little.
const ROWS: RangeInclusive<usize> = 3..=9;

/// Rows of the comparison on a screen.
const COMPARISONS: usize = 6;

/// Columns of the tables of calls and verdicts that hold texts and may be cut: communicator, algorithm (or verdict), function.
const TEXTS: &[usize] = &[1, 3, 0];

/// Reasons in a list before the rest is summed up, on a screen.
const REASONS: usize = 6;

/// A report that is being written.
struct Writer<'a> {
    text: String,
    summary: &'a Summary,
    layout: &'a Layout,
    names: &'a Names,
}

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
        self.sums_in_short();
        let mut below = Writer { text: String::new(), ..*self };
        below.verdicts(COMPARISONS);
        below.verification();
        below.waiting();
        below.notes();
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
            self.waiting();
        }
        if self.layout.shows(TableOf::Late) {
            self.late();
        }
        if wants_all {
            self.gap(true);
            self.notes();
        }
    }

    /// A line, cut where it is too long.
    fn line(&mut self, line: &str) {
        let line = shortened(line.trim_end(), self.layout.width);
        writeln!(self.text, "{line}").expect("a string takes every line");
    }

    /// A table's heading after an empty line; nothing where it is the only table.
    fn heading(&mut self, heading: &str) {
        if self.layout.table.is_none() {
            self.gap(true);
            self.line(heading);
        }
    }

    /// An empty line between two parts, if there is a second one.
    fn gap(&mut self, wanted: bool) {
        if wanted && self.layout.table.is_none() {
            self.text.push('\n');
        }
    }

    fn table(&mut self, texts: &[usize], table: &[Vec<String>]) {
        columns(&mut self.text, self.layout.width, texts, table);
    }

    /// What is missing below a table.
    fn rest(&mut self, number: usize, name: &str) {
        if number > 0 {
            self.line(&format!("and {} (--all shows all)", several(number as u64, &format!("more {name}"))));
        }
    }

    /// Entries separated by commas, in as many lines as they take.
    fn wrapped(&mut self, lead: &str, entries: &[String]) {
        let mut line = lead.to_owned();
        for (place, entry) in entries.iter().enumerate() {
            let separator = match entry.ends_with(':') {
                true => " ",
                false if place + 1 < entries.len() => ", ",
                false => "",
            };
            let length = line.chars().count() + entry.chars().count() + separator.trim_end().len();
            if length > self.layout.width && line.len() > lead.len() {
                self.line(&line);
                line = " ".repeat(lead.len());
            }
            line += entry;
            line += separator;
        }
        self.line(&line);
    }

    fn header(&mut self) {
        let summary = self.summary;
        if let Some(partial) = &summary.partial {
            let words: Vec<String> = partial.split("; ").map(str::to_owned).collect();
            self.wrapped("PARTIAL REPORT: ", &words);
        }
        let known = match summary.per_rank.len() {
            known if known < summary.ranks as usize => format!("{known} of "),
            _ => String::new(),
        };
        self.line(&format!(
            "Collie {} ({}): {known}{} on {}, {}",
            summary.collie_version,
            summary.mode,
            several(summary.ranks.into(), "rank"),
            several(summary.nodes.into(), "node"),
            on_one_line(&summary.mpi_library)
        ));
        if summary.rows.is_empty() {
            self.line(&format!("run time {}; no collective was called", duration(summary.run_seconds)));
            return;
        }
        let spread = &summary.collective_seconds;
        let per_rank = match summary.per_rank.len() {
            0 | 1 => String::new(),
            _ => format!(
                " (per rank {} to {}, least on rank {})",
                duration(spread.min),
                duration(spread.max),
                spread.min_rank
            ),
        };
        self.line(&format!(
            "run time {}, in collectives {} = {}{per_rank}",
            duration(summary.run_seconds),
            duration(spread.mean),
            percent(summary.collective_share)
        ));
    }
}

/// Version texts hold tabs and line breaks, which would break a table or a line.
pub fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The name without `MPI_`, which all of them have.
pub fn function(name: &str) -> &str {
    name.strip_prefix("MPI_").unwrap_or(name)
}

/// A row of heads.
fn heads(heads: &[&str]) -> Vec<Vec<String>> {
    vec![heads.iter().map(|head| (*head).to_owned()).collect()]
}
