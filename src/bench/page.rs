//! The result as one page in the look of the report's: drawings, and tables that sort.

#![forbid(unsafe_code)]

use super::result::{CellRow, OverheadRow, Report};
use super::{plot, table};
use crate::report::Page;
use serde::Serialize;

const SCRIPT: &str = include_str!("page.js");

/// What the script draws the page from.
#[derive(Serialize)]
struct Bench<'a> {
    headline: String,
    cells: usize,
    /// Variants whose result was not the native one, all cells.
    wrong: usize,
    summary: Vec<String>,
    groups: Vec<Group>,
    overheads: &'a [OverheadRow],
}

/// Cells that differ in their size only.
#[derive(Serialize)]
struct Group {
    title: String,
    notes: Vec<String>,
    rows: Vec<Row>,
}

/// A variant of a cell; times in seconds.
#[derive(Serialize)]
struct Row {
    bytes: usize,
    variant: String,
    label: String,
    median: f64,
    p10: f64,
    p90: f64,
    min: f64,
    ratio: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    bound: Option<f64>,
    rounds: u64,
}

/// A page that needs nothing from elsewhere.
pub fn html(report: &Report) -> String {
    let bench = Bench {
        headline: table::headline(report),
        cells: report.cells.len(),
        wrong: report.cells.iter().map(|row| row.wrong.len()).sum(),
        summary: lines(&table::summary(report)),
        groups: table::groups(&report.cells).map(group).collect(),
        overheads: &report.overheads,
    };
    let drawings: String = table::groups(&report.cells).map(plot::group).collect();
    let text = table::text(report, None);
    Page { heading: "Collie bench", script: SCRIPT, start: "showBench", drawings: &drawings, text: &text }.of(&bench)
}

fn lines(text: &str) -> Vec<String> {
    text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

fn group(cells: &[CellRow]) -> Group {
    Group {
        title: table::title(&cells[0]),
        notes: lines(&table::notes(cells)),
        rows: cells.iter().flat_map(rows).collect(),
    }
}

fn rows(cell: &CellRow) -> impl Iterator<Item = Row> {
    cell.variants.iter().map(|variant| Row {
        bytes: cell.cell.bytes,
        variant: variant.variant.clone(),
        label: table::label(variant),
        median: variant.seconds.median,
        p10: variant.seconds.p10,
        p90: variant.seconds.p90,
        min: variant.seconds.min,
        ratio: variant.against_native.map(|against| against.ratio),
        low: variant.against_native.and_then(|against| against.low),
        high: variant.against_native.and_then(|against| against.high),
        bound: cell.bound_seconds,
        rounds: cell.rounds,
    })
}

#[cfg(test)]
mod tests {
    use super::super::result::tests::{report, row};
    use super::*;
    use crate::algorithm::Operation;

    #[test]
    fn the_page_holds_drawings_numbers_and_the_table_for_those_without_scripts() {
        let cells = vec![row(Operation::Bcast, 8, 4, 5.0), row(Operation::Barrier, 0, 4, 5.0)];
        let report = report(cells);
        let page = html(&report);
        for group in table::groups(&report.cells) {
            assert!(page.contains(&plot::group(group)));
        }
        assert!(page.contains("\"label\":\"auto = ring:segment=none\"") && page.contains("<h1>Collie bench</h1>"));
        assert!(page.contains("native/auto, 4 ranks on 1 node, geometric mean over 2 cells"));
        let addresses = page.matches("http").count() - page.matches("http://www.w3.org/2000/svg").count();
        assert_eq!(addresses, 0, "it needs nothing from elsewhere");
    }
}
