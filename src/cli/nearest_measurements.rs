//! What was measured of calls like one in question.

use super::kinds::Kinds;
use super::table::columns;
use crate::algorithm::{Call, Operation, counted, counted_bytes, format_bytes};
use crate::bench::result::{CellRow, Report};
use crate::schedule::draw::seconds;
use crate::selection::Situation;
use std::collections::BTreeSet;

/// Of which calls.
#[derive(Clone, Debug)]
pub struct Measured {
    operation: Operation,
    bytes: usize,
    ranks: usize,
    /// Ranks on each node, in ascending order.
    ranks_per_node: Vec<usize>,
    oversubscribed: bool,
    commutative: bool,
    reduce_local: bool,
}

impl Measured {
    /// Calls like this one.
    pub fn of(call: &Call, situation: &Situation) -> Self {
        let Situation { ranks, oversubscribed, .. } = *situation;
        let mut ranks_per_node = vec![0; call.nodes.iter().max().map_or(1, |last| *last as usize + 1)];
        match call.nodes {
            [] => ranks_per_node[0] = ranks,
            nodes => nodes.iter().for_each(|node| ranks_per_node[*node as usize] += 1),
        }
        ranks_per_node.sort_unstable();
        Self {
            operation: call.operation,
            bytes: call.bytes(),
            ranks,
            ranks_per_node,
            oversubscribed,
            commutative: call.commutative,
            reduce_local: call.reduce_local,
        }
    }

    /// How far the sizes are apart, as a logarithm; none for other calls.
    fn distance(&self, cell: &CellRow) -> Option<f64> {
        let mut on_each: Vec<usize> = cell.ranks_per_node.iter().map(|ranks| *ranks as usize).collect();
        on_each.sort_unstable();
        let alike = cell.cell.operation == self.operation
            && cell.ranks as usize == self.ranks
            && on_each == self.ranks_per_node
            && cell.oversubscribed == self.oversubscribed
            && cell.cell.commutative == self.commutative
            && cell.cell.reduces_locally() == self.reduce_local;
        let of = |bytes: usize| (bytes.max(1) as f64).log2();
        let is_inside = cell.size_class.is_some_and(|(from, to)| (from..=to).contains(&self.bytes));
        alike.then(|| if is_inside { 0.0 } else { (of(cell.cell.bytes) - of(self.bytes)).abs() })
    }

    /// That the report has no such calls, and in what those of the operation among as many ranks differ.
    fn without(&self, report: &Report) -> String {
        let Self { operation, ranks, .. } = self;
        let differs = |cell: &CellRow| {
            let crowded = match cell.oversubscribed {
                true => "more ranks than cores (--oversubscribed)",
                false => "a core for each rank",
            };
            let folded = (cell.cell.commutative, cell.cell.reduces_locally());
            let op = match folded {
                (false, _) => "an operation that is not commutative",
                (true, true) => "a user-defined operation that is commutative",
                (true, false) => "a predefined operation",
            };
            let nodes = counted(cell.ranks_per_node.len(), "node");
            let mut on_each: Vec<usize> = cell.ranks_per_node.iter().map(|ranks| *ranks as usize).collect();
            on_each.sort_unstable();
            let words = [
                (on_each != self.ranks_per_node).then(|| format!("on {nodes}")),
                (cell.oversubscribed != self.oversubscribed).then(|| format!("with {crowded}")),
                (folded != (self.commutative, self.reduce_local)).then(|| format!("with {op}")),
            ];
            words.into_iter().flatten().collect::<Vec<_>>().join(" ")
        };
        let alike = |cell: &&CellRow| (cell.cell.operation, cell.ranks as usize) == (*operation, *ranks);
        let others: BTreeSet<String> = report.cells.iter().filter(alike).map(differs).collect();
        let none = format!("no {operation} among {} on such nodes", counted(*ranks, "rank"));
        match others.is_empty() {
            true => none,
            false => format!("{none}, only {}", Vec::from_iter(others).join("; ")),
        }
    }
}

/// Of each report the cells of the nearest size, all variants, fastest first.
pub fn text(reports: &[Report], wanted: &Measured) -> String {
    let mut text = String::new();
    for report in reports {
        let distances = || report.cells.iter().filter_map(|cell| Some((wanted.distance(cell)?, cell)));
        let Some(nearest) = distances().map(|(distance, _)| distance).min_by(f64::total_cmp) else {
            text.push_str(&format!("measured on {}: {}\n", report.measured_on(), wanted.without(report)));
            continue;
        };
        let found = || distances().filter(|(distance, _)| *distance <= nearest).map(|(_, cell)| cell);
        let kinds = Kinds::of(found());
        for cell in found() {
            let bytes = match cell.size_class {
                Some((from, to)) => format!("{} to {} bytes", format_bytes(from), format_bytes(to)),
                None => counted_bytes(cell.cell.bytes),
            };
            let kind = kinds.apart(cell);
            text.push_str(&format!("measured on {}, {bytes}{kind}, native over this:\n", report.measured_on()));
            let mut variants: Vec<_> = cell.variants.iter().collect();
            variants.sort_by(|one, other| one.seconds.median.total_cmp(&other.seconds.median));
            let rows: Vec<_> = variants
                .into_iter()
                .map(|row| {
                    // Which transport it was over, and which mode decided.
                    let (over, name) = row.variant.split_once(": ").unwrap_or(("", &row.variant));
                    let name = match row.is_mode() && name != row.algorithm {
                        true => format!("{}: {}", row.variant, row.algorithm),
                        false if over.is_empty() => row.algorithm.clone(),
                        false => format!("{over}: {}", row.algorithm),
                    };
                    if cell.wrong.contains(&row.variant) {
                        return vec![name, "WRONG RESULT".to_owned(), String::new()];
                    }
                    let ratio = row.against_native.map_or(String::new(), |ratio| match ratio.low.zip(ratio.high) {
                        Some((low, high)) => format!("{:.2} ({low:.2} to {high:.2})", ratio.ratio),
                        None => format!("{:.2}", ratio.ratio),
                    });
                    vec![name, seconds(row.seconds.median), ratio]
                })
                .collect();
            text.push_str(&columns(2, &rows));
        }
    }
    text
}
