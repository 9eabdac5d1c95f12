//! The result as text.

#![forbid(unsafe_code)]

use super::cell::Cell;
use super::program::{AUTO, AUTOS, LEARN, NATIVE};
use super::result::{CellRow, OverheadRow, Report, VariantRow};
use super::settings::Scenario;
use super::statistics::geometric_mean;
use crate::algorithm::{Operation, counted, format_bytes};
use std::collections::BTreeSet;
use std::fmt::Write;

/// A ratio of native to ours below this is worth a word.
const WORTH_A_WORD: f64 = 0.9;

/// The whole report; scenarios with one line per size, the others with one per size and variant.
pub fn text(report: &Report, scenario: Option<Scenario>) -> String {
    let mut text = format!("{}\n", headline(report));
    for group in groups(&report.cells) {
        let _ = writeln!(text, "\n{}", title(&group[0]));
        text.push_str(&aligned(&match scenario {
            Some(_) => wide(group),
            None => long(group),
        }));
        text.push_str(&notes(group));
    }
    if !report.overheads.is_empty() {
        text.push('\n');
        text.push_str(&aligned(&overheads(&report.overheads)));
    }
    text.push_str(&summary(report));
    text
}

/// What ran.
pub fn headline(report: &Report) -> String {
    let jobs = if report.runs == 1 { "one job".to_owned() } else { format!("{} jobs", report.runs) };
    let buffers = if report.cold { "cold" } else { "warm" };
    let mut line = format!("Collie {} on {}, {jobs}, {buffers} buffers", report.collie_version, report.mpi_library);
    if !report.pattern.is_alone() {
        line += &format!(", {}", report.pattern);
    }
    line
}

/// Cells that differ in their size only, together.
pub fn groups(cells: &[CellRow]) -> impl Iterator<Item = &[CellRow]> {
    let key = |row: &CellRow| {
        let Cell { operation, datatype, root, .. } = row.cell;
        (row.ranks, row.ranks_per_node.clone(), operation, datatype, root, row.cell.of_operation())
    };
    cells.chunk_by(move |a, b| key(a) == key(b))
}

/// What the cells of a group have in common.
pub fn title(row: &CellRow) -> String {
    let cell = &row.cell;
    let root = if cell.operation.rooted() { format!(" from rank {}", cell.root) } else { String::new() };
    let datatype = if cell.operation.has_data() { cell.datatype.name() } else { "" };
    let place = format!("{} on {}", counted(row.ranks as usize, "rank"), counted(row.ranks_per_node.len(), "node"));
    let crowded = if row.oversubscribed { ", more ranks than cores" } else { "" };
    let separator = if datatype.is_empty() { "" } else { ", " };
    let order = cell.of_operation();
    format!("{}{root}{separator}{datatype}{order}, {place}{crowded}", cell.operation)
}

/// Four digits of microseconds.
pub fn microseconds(seconds: f64) -> String {
    let value = seconds * 1e6;
    let digits = if value < 10.0 { 3 } else { 5usize.saturating_sub(format!("{value:.0}").len() + 1) };
    format!("{value:.digits$}")
}

/// A ratio in three digits or so.
fn times(ratio: f64) -> String {
    let digits = match ratio {
        small if small < 0.1 => 3,
        middling if middling < 10.0 => 2,
        large if large < 100.0 => 1,
        _ => 0,
    };
    format!("{ratio:.digits$}")
}

/// The variant, with what `auto` or a mode became, and in how many of the jobs it was measured, if not in all.
pub fn label(row: &VariantRow) -> String {
    let name = match row.is_mode() && row.variant.rsplit(": ").next() != Some(&row.algorithm) {
        true => format!("{} = {}", row.variant, row.algorithm),
        false => row.variant.clone(),
    };
    match row.jobs {
        Some(jobs) => format!("{name} (in {} only)", counted(jobs as usize, "job")),
        None => name,
    }
}

/// One line per size and variant.
pub fn long(group: &[CellRow]) -> Vec<Vec<String>> {
    let bounded = group.iter().any(|row| row.bound_seconds.is_some());
    // Who learns pays for it in few calls.
    let learns = group.iter().flat_map(|row| &row.variants).any(|variant| variant.algorithm == LEARN);
    let mut head = vec!["bytes", "variant", "median us", "p10", "p90", "native/this", "95 %"];
    head.extend(learns.then_some("mean us"));
    head.extend(bounded.then_some("this/bound"));
    head.push("rounds");
    let mut rows = vec![head.into_iter().map(str::to_owned).collect::<Vec<_>>()];
    for cell in group {
        for (place, variant) in cell.variants.iter().enumerate() {
            let first = if place == 0 { format_bytes(cell.cell.bytes) } else { String::new() };
            let seconds = &variant.seconds;
            let mut row = vec![first, label(variant)];
            row.extend([seconds.median, seconds.p10, seconds.p90].map(microseconds));
            let against = variant.against_native;
            row.push(against.map_or_else(String::new, |ratio| times(ratio.ratio)));
            let interval = against.and_then(|ratio| Some(format!("{}-{}", times(ratio.low?), times(ratio.high?))));
            row.push(interval.unwrap_or_default());
            row.extend(learns.then(|| microseconds(seconds.mean)));
            if bounded {
                row.push(cell.bound_seconds.map_or_else(String::new, |bound| times(seconds.median / bound)));
            }
            row.push(if place == 0 { cell.rounds.to_string() } else { String::new() });
            rows.push(row);
        }
    }
    rows
}

/// One line per size, one column per variant: median, and in brackets native over it.
fn wide(group: &[CellRow]) -> Vec<Vec<String>> {
    let names: Vec<&str> = {
        let mut seen = BTreeSet::new();
        let all = group.iter().flat_map(|cell| &cell.variants).map(|variant| variant.variant.as_str());
        all.filter(|name| seen.insert(*name)).collect()
    };
    let mut rows = vec![["elements".to_owned(), "median us:".to_owned()].into_iter().collect::<Vec<_>>()];
    rows[0].extend(names.iter().map(|name| (*name).to_owned()));
    for cell in group {
        let mut row = vec![cell.cell.elements().to_string(), String::new()];
        row.extend(names.iter().map(|name| match cell.variant(name) {
            None => "-".to_owned(),
            Some(variant) => {
                let ratio =
                    variant.against_native.map_or_else(String::new, |ratio| format!(" ({})", times(ratio.ratio)));
                microseconds(variant.seconds.median) + &ratio
            }
        }));
        rows.push(row);
    }
    rows
}

fn overheads(all: &[OverheadRow]) -> Vec<Vec<String>> {
    let head = [
        "ns per call of 8 bytes",
        "ranks",
        "native min",
        "median",
        "through Collie min",
        "median",
        "added min",
        "median",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for row in all {
        let (least, middle) = row.added();
        let mut line = vec![row.operation.to_string(), row.ranks.to_string()];
        let values = [row.native.0, row.native.1, row.through_collie.0, row.through_collie.1, least, middle];
        line.extend(values.map(|value| format!("{value:.1}")));
        rows.push(line);
    }
    rows
}

/// What was left out and what was wrong.
pub fn notes(group: &[CellRow]) -> String {
    let mut text = String::new();
    let left_out: BTreeSet<_> = group.iter().flat_map(|row| &row.left_out).collect();
    let names: BTreeSet<_> = left_out.iter().map(|(name, _)| name).collect();
    for name in names {
        let mut reasons = left_out.iter().filter(|(known, _)| known == name);
        let sizes: Vec<_> = group.iter().filter(|row| row.left_out.iter().any(|(known, _)| known == name)).collect();
        let at = if sizes.len() == group.len() {
            String::new()
        } else {
            let sizes: Vec<_> = sizes.iter().map(|row| format_bytes(row.cell.bytes)).collect();
            format!(" at {}", sizes.join(", "))
        };
        let (_, reason) = reasons.next_back().expect("a name has a reason");
        let _ = writeln!(text, "left out{at}: {name} {reason}");
    }
    for row in group.iter().filter(|row| !row.wrong.is_empty()) {
        let _ = writeln!(text, "WRONG RESULT at {}: {}", format_bytes(row.cell.bytes), row.wrong.join(", "));
    }
    text
}

/// Geometric means of native over what Collie chooses by itself, over each transport, and how it does in a plan's mix.
pub fn summary(report: &Report) -> String {
    let text: String = AUTOS.into_iter().map(|auto| summary_of(report, auto)).collect();
    if text.is_empty() { text } else { format!("\n{text}") }
}

fn summary_of(report: &Report, auto: &str) -> String {
    let cells = &report.cells;
    // What is wrong is not fast.
    let is_right = |row: &CellRow| !row.wrong.iter().any(|variant| variant == auto);
    let ratio = |row: &CellRow| row.variant(auto).filter(|_| is_right(row))?.against_native.map(|ratio| ratio.ratio);
    let mut text = String::new();
    let places: BTreeSet<_> = cells.iter().map(|row| (row.ranks, row.ranks_per_node.len())).collect();
    for (ranks, nodes) in places {
        let here: Vec<_> = cells.iter().filter(|row| (row.ranks, row.ranks_per_node.len()) == (ranks, nodes)).collect();
        let mean = |operation: Option<Operation>| {
            let of = here.iter().filter(|row| operation.is_none_or(|operation| row.cell.operation == operation));
            geometric_mean(of.filter_map(|row| ratio(row)))
        };
        let Some(all) = mean(None) else { continue };
        let each = Operation::ALL.into_iter();
        let each: Vec<_> = each.filter_map(|one| Some(format!("{one} {}", times(mean(Some(one))?)))).collect();
        let (ranks, nodes) = (counted(ranks as usize, "rank"), counted(nodes, "node"));
        let _ = writeln!(
            text,
            "native/{auto}, {ranks} on {nodes}, geometric mean over {}: {} ({})",
            counted(here.iter().filter(|row| ratio(row).is_some()).count(), "cell"),
            times(all),
            each.join(", ")
        );
    }
    let wrong = cells.iter().filter(|row| !is_right(row)).count();
    if wrong > 0 {
        let _ = writeln!(text, "left out: {} in which {auto} gave WRONG RESULTS", counted(wrong, "cell"));
    }
    let behind = cells.iter().filter(|row| ratio(row).is_some_and(|ratio| ratio < WORTH_A_WORD));
    let behind: Vec<_> = behind.map(|row| format!("{} {}", row.cell.operation, format_bytes(row.cell.bytes))).collect();
    if !behind.is_empty() {
        let over = if auto == AUTO { String::new() } else { format!("{auto} ") };
        let _ = writeln!(text, "{over}below {WORTH_A_WORD}: {}", behind.join(", "));
    }
    for (&ranks, share) in &report.planned_shares {
        let here = || cells.iter().filter(|row| row.ranks == ranks && row.variant(auto).is_some() && is_right(row));
        if here().next().is_none() {
            continue;
        }
        let total = |name: &str| -> f64 {
            here().filter_map(|row| Some(row.cell.calls? as f64 * row.variant(name)?.seconds.median)).sum()
        };
        let (native, ours) = (total(NATIVE), total(auto));
        // Of those cells alone, as their times are; of all where the file does not tell.
        let share = here().map(|row| row.cell.share).sum::<Option<f64>>().unwrap_or(*share);
        let _ = writeln!(
            text,
            "the plan's calls among {} ({:.0} % of its time in collectives): native {native:.3} s, {auto} {ours:.3} s, \
             ratio {:.2}",
            counted(ranks as usize, "rank"),
            share * 100.0,
            native / ours
        );
    }
    text
}

/// Columns two spaces apart, numbers at their right end, the second column at its left.
fn aligned(rows: &[Vec<String>]) -> String {
    let width = |place: usize| rows.iter().filter_map(|row| row.get(place)).map(|cell| cell.chars().count()).max();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (place, cell) in row.iter().enumerate() {
            let widest = width(place).unwrap_or(0);
            let _ = if place == 1 { write!(line, "{cell:<widest$}  ") } else { write!(line, "{cell:>widest$}  ") };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::csv;
    use super::super::result::tests::{report, row};
    use super::*;
    use crate::selection::Transport;

    #[test]
    fn the_table_of_a_report() {
        let mut cells = vec![row(Operation::Bcast, 8, 4, 5.0), row(Operation::Bcast, 4096, 4, 12.5)];
        cells[1].left_out.clear();
        cells[1].bound_seconds = Some(5e-6);
        let expected = "\
Collie 1.2.3 on An MPI 4.0, one job, warm buffers

bcast from rank 0, double, 4 ranks on 1 node
bytes  variant                   median us    p10    p90  native/this       95 %  this/bound  rounds
    8  native                        10.00  9.000  15.00                                         100
       auto = ring:segment=none      5.000  4.500  7.500         2.00  1.80-2.20
   4K  native                        10.00  9.000  15.00                                2.00     100
       auto = ring:segment=none      12.50  11.25  18.75         0.80  0.72-0.88        2.50
left out at 8: rabenseifner needs at least 4 units, not 1

native/auto, 4 ranks on 1 node, geometric mean over 2 cells: 1.26 (bcast 1.26)
below 0.9: bcast 4K
";
        assert_eq!(text(&report(cells), None), expected);
    }

    #[test]
    fn transports_stand_side_by_side_and_each_has_its_means() {
        let cell = |bytes, microseconds: f64| {
            let mut cell = row(Operation::Bcast, bytes, 2, 8.0);
            cell.left_out.clear();
            cell.variants[1].variant = "messages".to_owned();
            let mut shared = row(Operation::Bcast, bytes, 2, microseconds).variants.remove(1);
            (shared.variant, shared.algorithm) = ("shared".to_owned(), "shared_queue".to_owned());
            shared.transport = Transport::Shared;
            cell.variants.push(shared);
            cell
        };
        let report = report(vec![cell(8, 5.0), cell(4096, 12.5)]);
        let text = text(&report, None);
        assert!(text.contains("\n       shared = shared_queue  "), "{text}");
        let means = "\n\nnative/messages, 2 ranks on 1 node, geometric mean over 2 cells: 1.25 (bcast 1.25)\n\
                     native/shared, 2 ranks on 1 node, geometric mean over 2 cells: 1.26 (bcast 1.26)\n\
                     shared below 0.9: bcast 4K\n";
        assert!(text.ends_with(means), "{text}");
        let csv = csv::text(&report);
        // Twelve columns are behind it.
        let transports: Vec<_> = csv.lines().skip(1).filter_map(|line| line.rsplit(',').nth(12)).collect();
        assert_eq!(transports, ["", "messages", "shared", "", "messages", "shared"]);
    }

    #[test]
    fn a_scenario_has_a_column_for_each_variant() {
        let cells = vec![row(Operation::Reduce, 8, 2, 5.0), row(Operation::Reduce, 80, 2, 2500.0)];
        let text = text(&report(cells), Some(Scenario::ReduceStudy));
        let lines: Vec<_> = text.lines().skip(3).take(3).collect();
        assert_eq!(
            lines,
            [
                "elements  median us:  native          auto",
                "       1               10.00  5.000 (2.00)",
                "      10               10.00  2500 (0.004)",
            ]
        );
    }

    #[test]
    fn plan_and_overhead_have_their_lines() {
        let mut cell = row(Operation::Bcast, 8, 4, 5.0);
        cell.cell.calls = Some(100_000);
        let planned = Report { planned_shares: [(4, 0.5), (8, 0.1)].into(), ..report(vec![cell]) };
        let text = text(&planned, None);
        assert!(
            text.ends_with(
                "the plan's calls among 4 ranks (50 % of its time in collectives): native 1.000 s, auto 0.500 s, ratio 2.00\n"
            ),
            "{text}"
        );
        let overhead =
            OverheadRow { operation: Operation::Bcast, ranks: 1, native: (20.0, 30.0), through_collie: (50.0, 75.0) };
        let text = super::text(&Report { overheads: vec![overhead], ..report(Vec::new()) }, None);
        assert!(text.lines().last().unwrap().ends_with("30.0    45.0"), "{text}");
    }

    #[test]
    fn four_digits() {
        for (seconds, written) in [
            (1.23456e-6, "1.235"),
            (12.3456e-6, "12.35"),
            (0.000_123_456, "123.5"),
            (0.123_456, "123456"),
            (9.9999e-6, "10.000"),
        ] {
            assert_eq!(microseconds(seconds), written);
        }
    }
}
