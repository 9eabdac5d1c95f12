//! A report for people that is being written: its lines and tables.

use crate::monitor::Summary;
use crate::report::columns::{columns, shortened};
use crate::report::layout::Layout;
use crate::report::names::Names;
use crate::report::quantity::several;
use std::fmt::Write;

/// Columns of the tables of calls and verdicts that hold texts and may be cut: communicator, algorithm (or verdict),
/// function.
pub const TEXTS: &[usize] = &[1, 3, 0];

/// Reasons in a list before the rest is summed up, on a screen.
pub const REASONS: usize = 6;

/// A report that is being written.
pub struct Writer<'a> {
    /// So far.
    pub text: String,
    /// What it is of.
    pub summary: &'a Summary,
    /// How much of it.
    pub layout: &'a Layout,
    /// Of the communicators.
    pub names: &'a Names,
}

impl Writer<'_> {
    /// A line, cut where it is too long.
    pub fn line(&mut self, line: &str) {
        let line = shortened(line.trim_end(), self.layout.width);
        writeln!(self.text, "{line}").expect("a string takes every line");
    }

    /// Whose calls the report is of.
    pub fn on_ranks(&self) -> String {
        let (known, all) = (&self.summary.per_rank, self.summary.ranks as usize);
        match &known[..] {
            [only] if all > 1 => format!("on rank {} alone", only.rank),
            some if !some.is_empty() && some.len() < all => format!("on {} of {all} ranks", some.len()),
            _ => "on all ranks".to_owned(),
        }
    }

    /// A table's heading after an empty line; nothing where it is the only table.
    pub fn heading(&mut self, heading: &str) {
        if self.layout.table.is_none() {
            self.gap(true);
            self.line(heading);
        }
    }

    /// An empty line between two parts, if there is a second one.
    pub fn gap(&mut self, wanted: bool) {
        if wanted && self.layout.table.is_none() {
            self.text.push('\n');
        }
    }

    /// A table; columns in `texts` hold texts and may be cut.
    pub fn table(&mut self, texts: &[usize], table: &[Vec<String>]) {
        columns(&mut self.text, self.layout.width, texts, table);
    }

    /// What is missing below a table.
    pub fn rest(&mut self, number: usize, name: &str) {
        if number > 0 {
            self.rest_of(&several(number as u64, &format!("more {name}")));
        }
    }

    /// The same in words.
    pub fn rest_of(&mut self, rest: &str) {
        self.line(&format!("and {rest} (--all shows all)"));
    }

    /// Entries separated by commas, in as many lines as they take.
    pub fn wrapped(&mut self, lead: &str, entries: &[String]) {
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
pub fn heads(heads: &[&str]) -> Vec<Vec<String>> {
    vec![heads.iter().map(|head| (*head).to_owned()).collect()]
}
