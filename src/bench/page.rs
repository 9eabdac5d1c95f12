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
    /// How sure it is that a variant is faster or slower.
    certainty: String,
    /// What the intervals include.
    interval: &'static str,
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
    let (certainty, interval) = known(report.runs);
    let bench = Bench {
        certainty,
        interval,
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

/// What intervals over so many jobs tell, in words.
fn known(jobs: u32) -> (String, &'static str) {
    if jobs > 1 {
        let certainty = format!("for certain (95 %, over {jobs} jobs)");
        return (certainty, "Student's, over the jobs");
    }
    let certainty = "in this one job (95 % within it; how much jobs differ is not known: --repeat)";
    (certainty.to_owned(), "within this one job: what differs between jobs is not in it")
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
        let one = "in this one job (95 % within it; how much jobs differ is not known: --repeat)";
        assert!(page.contains(one) && !page.contains("for certain"), "there is no interval over jobs");
        let several = html(&Report { runs: 5, ..report });
        assert!(several.contains("for certain (95 %, over 5 jobs)") && !several.contains(one));
        let addresses = page.matches("http").count() - page.matches("http://www.w3.org/2000/svg").count();
        assert_eq!(addresses, 0, "it needs nothing from elsewhere");
    }
}
