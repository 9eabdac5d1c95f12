//! The head of the rules that `collie tune` writes, and what it tells beside them: where they come from, and what they
//! are not made of.

use super::predicted::Predicted;
use crate::algorithm::{counted, format_bytes};
use crate::bench::result::{CellRow, InDoubt, Report};
use crate::bench::tune::{Block, PREDICTED_STEPS, faster_unforced, ours, wrong};
use crate::schedule::simulate::Network;
use std::path::Path;

/// Cells that are named where some are left out.
const NAMED: usize = 4;

/// Where the times come from.
pub enum Source<'a> {
    /// From measurements.
    Measured,
    /// Predictions for what was measured, on this network or, without one, on the preset of each place.
    Predicted(Option<&'a Network>),
    /// Simulations on this network.
    Simulated(&'a Network, &'a Predicted),
}

/// What rules come from.
pub struct Head<'a> {
    /// Where the times come from.
    pub source: Source<'a>,
    /// The file of each report that was read.
    pub files: &'a [&'a Path],
    /// What they held.
    pub reports: &'a [Report],
    /// Whether native was a candidate.
    pub native: bool,
}

impl Head<'_> {
    /// The comment at the head of these rules.
    pub fn text(&self, blocks: &[Block]) -> String {
        let mut lines = vec![self.origin()];
        let libraries = |report: &Report| format!("  {}, jobs: {}", report.measured_on(), report.runs);
        match &self.source {
            Source::Simulated(..) => {}
            _ => lines.extend(self.reports.iter().map(libraries)),
        }
        let is_partial = matches!(self.source, Source::Simulated(_, found) if !found.missing.is_empty());
        if !is_partial && blocks.iter().any(|block| block.sizes.0 > 0) {
            lines.push(
                "Calls shorter or longer than all sizes named in the comments get the row of the nearest one."
                    .to_owned(),
            );
        }
        let has = |words: &str| blocks.iter().any(|block| block.evidence.contains(words));
        let has_ratios = has("native over this");
        if has_ratios {
            lines.push(
                "A number after a size is native's time over that of the row's algorithm, or of the best of Collie's where the \
                 row is native."
                    .to_owned(),
            );
        }
        if has("undecided") {
            let ratio = if has_ratios { "that ratio" } else { "native's time over that of the best of Collie's" };
            lines.push(format!(
                "Undecided is where {ratio} counts though its interval includes 1 or is not known: more rounds or more jobs \
                 (--repeat) would decide it."
            ));
        }
        lines.extend(self.left_to_native(blocks).map(|left| format!("{left}.")));
        lines.extend(self.left_out());
        if let Source::Simulated(_, Predicted { times: (all, formula), missing, .. }) = self.source {
            if *formula > 0 {
                lines.push(format!(
                    "{formula} of {} {} by the cost formula: more steps than --steps, or not done within \
                     --patience.",
                    counted(*all, "time"),
                    if *formula == 1 { "is" } else { "are" }
                ));
            }
            if !missing.is_empty() {
                lines.push(
                    "Partial: ended before everything was simulated; longer calls have no row there. Missing:"
                        .to_owned(),
                );
                lines.extend(missing.iter().map(|line| format!("  {line}")));
            }
        }
        lines.join("\n")
    }

    fn origin(&self) -> String {
        let written = format!("Written by collie tune {}", env!("CARGO_PKG_VERSION"));
        match self.source {
            Source::Measured => format!("{written} from:"),
            Source::Simulated(Network { name, description, .. }, _) => {
                format!("{written}: simulated on the network {name}, {description}")
            }
            Source::Predicted(network) => {
                let network = network.map_or_else(
                    || "the presets shared_memory, on one node, and ethernet, on several".to_owned(),
                    |network| format!("the network {}", network.name),
                );
                format!(
                    "{written}: predicted on {network}, by simulation of up to {PREDICTED_STEPS} steps and the cost formulas beyond, \
                     for what was measured on:"
                )
            }
        }
    }

    /// How many cells are left to native; nothing where it was no candidate or has no times.
    pub fn left_to_native(&self, blocks: &[Block]) -> Option<String> {
        let has_native = self.reports.iter().flat_map(|report| &report.cells).any(|cell| cell.native().is_some());
        let (sizes, left) = blocks.iter().fold((0, 0), |sum, block| (sum.0 + block.sizes.0, sum.1 + block.sizes.1));
        (self.native && has_native).then(|| {
            format!(
                "{left} of {sizes} cells are left to native, which was faster there, or slower by no more than the noise or a row is \
                 worth (--price)"
            )
        })
    }

    /// What the files hold that decides nothing.
    fn left_out(&self) -> Vec<String> {
        let of_file = |(file, report): (&&Path, &Report)| {
            let is_empty = |cell: &&CellRow| ours(cell).next().is_none() && wrong(cell).next().is_none();
            let empty: Vec<_> = report.cells.iter().filter(is_empty).map(named).collect();
            (!empty.is_empty()).then(|| {
                format!(
                    "{}: {} of {} cells decide nothing: no algorithm requested by -a was measured there: {}",
                    file.display(),
                    empty.len(),
                    report.cells.len(),
                    first(&empty)
                )
            })
        };
        let wrong_in = |(file, report): (&&Path, &Report)| {
            let of_cell = |cell| wrong(cell).map(move |(_, algorithm)| format!("{algorithm} in {}", named(cell)));
            let found: Vec<_> = report.cells.iter().flat_map(of_cell).collect();
            (!found.is_empty()).then(|| {
                format!(
                    "{}: WRONG RESULTS, for which no row has that algorithm for that operation: {}",
                    file.display(),
                    first(&found)
                )
            })
        };
        let in_doubt = |(file, report): (&&Path, &Report)| {
            let doubted: Vec<_> = report.in_doubt.iter().map(doubted).collect();
            (!doubted.is_empty()).then(|| {
                format!(
                    "{}: {} of {} verdicts count for nothing: {}",
                    file.display(),
                    doubted.len(),
                    report.cells.len() + doubted.len(),
                    first(&doubted)
                )
            })
        };
        let files = || self.files.iter().zip(self.reports);
        let empty = files().filter_map(of_file);
        empty.chain(files().filter_map(wrong_in)).chain(files().filter_map(in_doubt)).collect()
    }

    /// What a user has to know of these rules besides them.
    pub fn notes(&self, blocks: &[Block]) -> Vec<String> {
        let mut notes = self.left_out();
        let sizes: usize = blocks.iter().map(|block| block.left_out.len()).sum();
        if sizes > 0 {
            notes.push(format!(
                "at {} the cells do not hold the same algorithms, and only those in most cells are compared; comments in \
                 the rules name the others",
                counted(sizes, "size")
            ));
        }
        let ways: Vec<_> = self.reports.iter().map(|report| (report.cold, report.pattern)).collect();
        if matches!(self.source, Source::Measured) && ways.iter().any(|way| *way != ways[0]) {
            notes.push(
                "the files hold calls that were measured in several ways, which the head of the rules names: of each size the \
                 mean over them counts"
                    .to_owned(),
            );
        }
        let unforced = if matches!(self.source, Source::Measured) { faster_unforced(self.reports) } else { Vec::new() };
        if let Some(first) = unforced.first() {
            let cells = counted(unforced.len(), "cell");
            notes.push(format!(
                "in {cells} what Collie does without rules was faster than every algorithm that was forced, most of all {} \
                 ({}, {:.2} times as fast); rules can hold it once it is measured by name (collie bench -a)",
                named(first.cell),
                first.algorithm,
                first.ratio
            ));
        }
        if let Source::Simulated(_, Predicted { missing, .. }) = self.source {
            notes.extend(missing.iter().map(|line| format!("not simulated, {line}")));
        }
        notes
    }
}

/// The first few of them in words, and whether there are more.
fn first(all: &[String]) -> String {
    let more = (all.len() > NAMED).then_some("...");
    all.iter().take(NAMED).map(String::as_str).chain(more).collect::<Vec<_>>().join("; ")
}

fn doubted(verdict: &InDoubt) -> String {
    let InDoubt { operation, size_class, ranks, why } = verdict;
    let size = size_class.map_or_else(String::new, |(from, to)| format!(" {from}-{to}"));
    format!("{operation}{size} among {} ({})", counted(*ranks as usize, "rank"), why.words())
}

fn named(cell: &CellRow) -> String {
    let size =
        if cell.cell.operation.has_data() { format!(" {}", format_bytes(cell.cell.bytes)) } else { String::new() };
    format!("{}{size} among {}", cell.cell.operation, counted(cell.ranks as usize, "rank"))
}
