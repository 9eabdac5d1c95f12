//! `collie simulate --against`: what was measured beside what is predicted for it.

use super::kinds::Kinds;
use super::table::columns;
use crate::algorithm::{Call, Choice, Operation, format_bytes, parse_choice};
use crate::bench::result::{CellRow, Report};
use crate::bench::tune::ours;
use crate::report::several;
use crate::schedule::draw::seconds;
use crate::schedule::limits::Limit;
use crate::schedule::simulate::{Network, predict};
use crate::selection::Transport;
use crate::statistics::{quantile, sorted};
use std::collections::BTreeSet;

/// A prediction is as good as a measured winner if what it would choose is so many times as slow at most.
const NEAR: f64 = 1.1;

/// One algorithm in one cell, seconds.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    name: String,
    measured: f64,
    /// Or why nothing is predicted.
    predicted: Result<f64, String>,
    /// Whether that is from a simulation, and not from a cost formula.
    simulated: bool,
}

impl Row {
    fn error(&self) -> Option<f64> {
        self.predicted.as_ref().ok().map(|predicted| predicted / self.measured - 1.0)
    }
}

/// The table: all that was measured of Collie's algorithms, and how far off the predictions are.
///
/// # Errors
/// There is nothing to compare.
pub fn compare(reports: &[Report], network: &Network, steps: usize) -> Result<String, String> {
    let groups = alike(reports);
    let cells = || groups.iter().flat_map(|report| &report.cells);
    let (places, kinds): (BTreeSet<_>, _) = (cells().map(place).collect(), Kinds::of(cells()));
    // What ranks wait for a core is predicted by nobody.
    let names_places = places.len() > 1 || cells().any(|cell| cell.oversubscribed);
    let (mut tables, mut winners, mut by_formula) = (String::new(), Vec::new(), false);
    let (mut errors, mut notes): (Vec<(Operation, f64)>, _) = (Vec::new(), Vec::new());
    for report in &groups {
        let network = &as_measured(network, report);
        let mut heading =
            ["operation", "bytes", "algorithm", "measured", "predicted", "error"].map(str::to_owned).to_vec();
        heading.splice(..0, names_places.then(|| "ranks".to_owned()));
        let mut table = vec![heading];
        for cell in &report.cells {
            let rows = rows(cell, network, steps)?;
            let predicted: Vec<_> = rows.iter().filter_map(|row| Some((row, *row.predicted.as_ref().ok()?))).collect();
            // Of one algorithm alone there is nothing to choose.
            let choice = if predicted.len() > 1 { &predicted[..] } else { &[] };
            let best = choice.iter().min_by(|a, b| a.0.measured.total_cmp(&b.0.measured)).map(|(row, _)| *row);
            let chosen = choice.iter().min_by(|a, b| a.1.total_cmp(&b.1)).map(|(row, _)| *row);
            winners
                .extend(best.zip(chosen).map(|(best, chosen)| (cell.cell.operation, chosen.measured / best.measured)));
            for row in &rows {
                let mark = match (Some(row) == best, Some(row) == chosen) {
                    (true, true) => "  fastest, and predicted so",
                    (true, false) => "  fastest",
                    (false, true) => "  predicted fastest",
                    (false, false) => "",
                };
                let [operation, bytes] = [kinds.title(cell), format_bytes(cell.cell.bytes)];
                let (predicted, told) = match (&row.predicted, row.error()) {
                    (Ok(predicted), Some(error)) => {
                        errors.push((cell.cell.operation, error.abs()));
                        let by = if row.simulated { "" } else { "~" };
                        by_formula |= !row.simulated;
                        (format!("{by}{}", seconds(*predicted)), format!("{:+.0} %{mark}", 100.0 * error))
                    }
                    (note, _) => {
                        let note = note.as_ref().err().cloned().unwrap_or_default();
                        notes.push(format!("{operation} {}: {note}", row.name));
                        ("-".to_owned(), note)
                    }
                };
                let mut line = vec![operation, bytes, row.name.clone(), seconds(row.measured), predicted, told];
                line.splice(..0, names_places.then(|| place(cell)));
                table.push(line);
            }
        }
        if table.len() > 1 {
            tables.push_str(&format!("{}\n{}\n", how_measured(report), columns(0, &table)));
        }
    }
    if errors.is_empty() {
        let why = notes.first().map(|note| format!("; {note}")).unwrap_or_default();
        return Err(format!("the report holds none of Collie's algorithms that can be predicted{why}"));
    }
    let mut text = format!("{}: {}\n\n{tables}", network.name, network.description);
    if by_formula {
        text.push_str("~ by the cost formula: the call takes more steps than --steps\n\n");
    }
    let operations = Operation::ALL.into_iter().filter(|one| errors.iter().any(|(operation, _)| operation == one));
    for wanted in operations.map(Some).chain([None]) {
        let of = |operation: Operation| wanted.is_none_or(|wanted| wanted == operation);
        let errors: Vec<_> = errors.iter().filter(|(one, _)| of(*one)).map(|(_, error)| *error).collect();
        let ratios: Vec<_> = winners.iter().filter(|(one, _)| of(*one)).map(|(_, ratio)| *ratio).collect();
        let name = wanted.map_or("all", Operation::name);
        text.push_str(&format!("{name}: {}; {}\n", summed_up(&errors), near(&ratios)));
    }
    Ok(text)
}

/// The network, its messages within a node cut as they were when the report was made, if it tells.
fn as_measured(network: &Network, report: &Report) -> Network {
    let limits = report.protocol_limits.clone().or_else(|| network.limits.clone());
    Network { limits, ..network.clone() }
}

/// The reports, of each MPI library and way of measuring one: what was measured otherwise is not the same time.
fn alike(reports: &[Report]) -> Vec<Report> {
    let is_alike = |one: &Report, other: &Report| {
        (&one.mpi_library, one.cold, one.pattern, &one.protocol_limits)
            == (&other.mpi_library, other.cold, other.pattern, &other.protocol_limits)
    };
    let mut groups: Vec<Vec<Report>> = Vec::new();
    for report in reports {
        match groups.iter_mut().find(|group| is_alike(&group[0], report)) {
            Some(group) => group.push(report.clone()),
            None => groups.push(vec![report.clone()]),
        }
    }
    groups.into_iter().map(Report::merge).collect()
}

/// What such reports have in common, in words.
fn how_measured(report: &Report) -> String {
    let limits = report.protocol_limits.as_ref().map(|limits| match &limits[..] {
        [] => "messages within a node whole".to_owned(),
        limits => format!(
            "messages within a node in pieces beyond {}",
            limits.iter().map(Limit::to_string).collect::<Vec<_>>().join(", ")
        ),
    });
    [Some(report.measured_on()), limits].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Where the ranks of a cell lay, in words.
fn place(cell: &CellRow) -> String {
    let (nodes, crowded) = (cell.ranks_per_node.len(), if cell.oversubscribed { ", oversubscribed" } else { "" });
    format!("{} on {}{crowded}", cell.ranks, several(nodes as u64, "node"))
}

/// Each algorithm that was measured in a cell, once for each transport.
fn rows(cell: &CellRow, network: &Network, steps: usize) -> Result<Vec<Row>, String> {
    let size = cell.ranks as usize;
    let nodes: Vec<u32> = match cell.ranks_per_node.len() {
        1 => Vec::new(),
        _ => (0..).zip(&cell.ranks_per_node).flat_map(|(node, ranks)| vec![node; *ranks as usize]).collect(),
    };
    let numa = network.numa_nodes(size);
    let operation = cell.cell.operation;
    let unit = if operation.reduces() { cell.cell.datatype.size() } else { 1 };
    let call = network.call(operation, cell.cell.root, cell.cell.bytes, &nodes);
    let call = Call { unit, count: cell.cell.bytes / unit, commutative: cell.cell.commutative, ..call };
    let mut rows: Vec<Row> = Vec::new();
    for variant in ours(cell) {
        let shares = variant.transport == Transport::Shared;
        let choice = parse_choice(operation, &variant.algorithm);
        let name = match &choice {
            Ok(choice) if *choice == Choice::new(choice.algorithm) => choice.algorithm.name.to_owned(),
            Ok(choice) => choice.to_string(),
            Err(_) => variant.algorithm.clone(),
        };
        let name = if shares { format!("{}: {name}", Transport::Shared.name()) } else { name };
        if rows.iter().any(|row| row.name == name) {
            continue;
        }
        let mut simulated = true;
        let predicted = match choice {
            Ok(choice) => {
                let shares = shares || choice.shares_memory();
                let call = if shares { network.with_shared_memory(&call, &numa) } else { call };
                let predicted = predict(&choice, &call, size, network, steps);
                let predicted = predicted.map_err(|broken| format!("{choice}: {broken}"))?;
                let unmet = || choice.accepts(&call, size).err().map(|unmet| unmet.to_string()).unwrap_or_default();
                simulated = predicted.is_none_or(|predicted| predicted.simulated);
                predicted.map(|predicted| predicted.time).ok_or_else(unmet)
            }
            Err(error) => Err(error.to_string()),
        };
        rows.push(Row { name, measured: variant.seconds.median, predicted, simulated });
    }
    Ok(rows)
}

/// How far off predictions are.
fn summed_up(errors: &[f64]) -> String {
    match errors {
        [only] => format!("error {:.1} %", 100.0 * only),
        _ => {
            let sorted = sorted(errors.iter().copied());
            // An error that there is: so many are no greater.
            let nine_in_ten = sorted[(9 * sorted.len()).div_ceil(10) - 1];
            format!(
                "median error {:.1} %, nine in ten up to {:.0} %",
                100.0 * quantile(&sorted, 0.5),
                100.0 * nine_in_ten
            )
        }
    }
}

/// How near the algorithms predicted to be the fastest are to those that are, by their times over the times of these.
fn near(ratios: &[f64]) -> String {
    if ratios.is_empty() {
        return "no cell has two algorithms to choose from".to_owned();
    }
    format!(
        "the predicted winner is within 10 % of the fastest in {} of {} cells, at most {:.0} % off",
        ratios.iter().filter(|ratio| **ratio <= NEAR).count(),
        ratios.len(),
        100.0 * (ratios.iter().copied().fold(1.0, f64::max) - 1.0)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::result::VariantRow;

    fn report(times: [f64; 2]) -> Report {
        let variant = |algorithm: &str, median: f64| {
            let seconds = format!(r#"{{"median": {median}, "p10": {median}, "p90": {median}, "min": {median}}}"#);
            format!(r#"{{"variant": "{algorithm}", "algorithm": "{algorithm}", "seconds": {seconds}}}"#)
        };
        let variants = [variant("native", 1.0), variant("ring", times[0]), variant("recursive_doubling", times[1])];
        let cell = format!(
            r#"{{"operation": "allreduce", "datatype": "double", "root": 0, "bytes": 1048576, "ranks": 8,
                "ranks_per_node": [4, 4], "oversubscribed": false, "rounds": 6, "variants": [{}]}}"#,
            variants.join(",")
        );
        let report = format!(
            r#"{{"schema_version": 1, "collie_version": "", "mpi_library": "", "cold": false, "runs": 1, "seed": 1,
                "cells": [{cell}]}}"#
        );
        serde_json::from_str(&report).unwrap()
    }

    #[test]
    fn errors_and_winners_are_told() {
        let network = Network::preset("ethernet").unwrap();
        let predicted = rows(&report([1.0, 1.0]).cells[0], &network, usize::MAX).unwrap();
        let [ring, doubling] = [&predicted[0], &predicted[1]].map(|row| row.predicted.clone().unwrap());
        assert!(ring < doubling, "{predicted:?}");
        let text = compare(&[report([ring / 1.1, doubling * 2.0])], &network, usize::MAX).unwrap();
        assert!(text.contains("+10 %  fastest, and predicted so") && text.contains("-50 %"), "{text}");
        assert!(text.contains("within 10 % of the fastest in 1 of 1 cells"), "{text}");
        let text = compare(&[report([3.0, 1.0])], &network, usize::MAX).unwrap();
        assert!(text.contains("in 0 of 1 cells, at most 200 % off"), "{text}");
        assert!(!text.contains('~'));
        let by_formula = compare(&[report([3.0, 1.0])], &network, 1).unwrap();
        assert!(by_formula.contains("~ by the cost formula") && by_formula.matches('~').count() == 3, "{by_formula}");
        assert!(compare(&[Report::default()], &network, 1).is_err());
    }

    /// The report with another variant.
    fn with(mut report: Report, variant: &str, algorithm: &str, transport: Transport) -> Report {
        let of = report.cells[0].variants[1].clone();
        let (variant, algorithm) = (variant.to_owned(), algorithm.to_owned());
        report.cells[0].variants.push(VariantRow { variant, algorithm, transport, ..of });
        report
    }

    /// The first columns of the rows that are told, without the heading.
    fn told(reports: &[Report]) -> Vec<String> {
        let text = compare(reports, &Network::preset("ethernet").unwrap(), usize::MAX).unwrap();
        let rows = text.lines().filter(|line| line.contains("allreduce") && !line.contains("median error"));
        rows.map(|line| line.split("  ").map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("|"))
            .collect()
    }

    #[test]
    fn modes_and_wrong_results_are_no_measurements_of_algorithms() {
        let mut report = report([1.0, 2.0]);
        for mode in ["auto", "learn", "best", "shared: learn"] {
            report = with(report, mode, if mode == "auto" { "bine" } else { mode }, Transport::Messages);
        }
        report = with(report, "circulant", "circulant", Transport::Messages);
        report.cells[0].wrong.push("circulant".to_owned());
        let told = told(&[report]);
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(
            told[0].starts_with("allreduce|1M|ring|1 s|")
                && told[1].starts_with("allreduce|1M|recursive_doubling|2 s|")
        );
    }

    #[test]
    fn what_cannot_be_predicted_is_told_beside_what_can() {
        let mut several = with(report([1.0, 2.0]), "shared_slices", "shared_slices", Transport::Shared);
        several = with(several, "older", "older", Transport::Messages);
        let rows = told(&[several.clone()]);
        assert!(
            rows[2].starts_with("allreduce|1M|shared: shared_slices|1 s|-|needs memory that all ranks share"),
            "{rows:?}"
        );
        assert!(rows[3].starts_with("allreduce|1M|older|1 s|-|unknown allreduce algorithm 'older'"), "{rows:?}");
        // On one node it is predicted.
        several.cells[0].ranks_per_node = vec![8];
        assert!(told(&[several])[2].contains(" %"));
        let mut none = with(report([1.0, 2.0]), "older", "older", Transport::Messages);
        none.cells[0].variants.drain(1..3);
        let error = compare(&[none], &Network::preset("ethernet").unwrap(), 1).unwrap_err();
        assert!(error.contains("that can be predicted; allreduce older: unknown"), "{error}");
    }

    #[test]
    fn messages_are_cut_as_they_were_measured() {
        let cut = |limits: &[&str]| {
            let limits = limits.iter().map(|limit| limit.parse().unwrap()).collect();
            let mut cut = Report { protocol_limits: Some(limits), ..report([1.0, 2.0]) };
            cut.cells[0].ranks_per_node = vec![8];
            cut
        };
        let network = Network::preset("shared_memory").unwrap();
        let predicted = |report: &Report| {
            let rows = rows(&report.cells[0], &as_measured(&network, report), usize::MAX).unwrap();
            rows[0].predicted.clone().unwrap()
        };
        let [whole, pieces] = [cut(&[]), cut(&["4040x128"])];
        assert!(predicted(&pieces) > predicted(&whole), "each piece of the ring's 128 KiB has its latency");
        let text = compare(&[whole.clone(), pieces, whole], &network, usize::MAX).unwrap();
        let headings: Vec<_> = text.lines().filter(|line| line.contains("messages within a node")).collect();
        assert_eq!(headings.len(), 2, "{text}");
        assert!(headings[0].ends_with("node whole") && headings[1].ends_with("in pieces beyond 4040x128"), "{text}");
        // Where nobody wrote it down the network says what is cut.
        let limits = cut(&["4040x128"]).protocol_limits;
        let fitted = Network { limits: limits.clone(), ..network };
        assert_eq!(as_measured(&fitted, &report([1.0, 2.0])).limits, limits);
        assert_eq!(as_measured(&fitted, &cut(&[])).limits, Some(Vec::new()));
    }

    #[test]
    fn transports_and_orders_are_told_apart() {
        let mut both = with(report([1.0, 2.0]), "shared: ring", "ring", Transport::Shared);
        both.cells[0].ranks_per_node = vec![8];
        let rows = rows(&both.cells[0], &Network::preset("shared_memory").unwrap(), usize::MAX).unwrap();
        assert_eq!([&rows[0], &rows[2]].map(|row| row.name.as_str()), ["ring", "shared: ring"]);
        assert!(rows[0].predicted != rows[2].predicted, "{rows:?}");
        let mut in_order = report([1.0, 2.0]);
        in_order.cells[0].cell.commutative = false;
        let told = told(&[in_order]);
        assert!(told[0].starts_with("allreduce, not commutative|1M|ring|1 s|-|does not keep rank order"), "{told:?}");
        assert!(told[1].starts_with("allreduce, not commutative|1M|recursive_doubling|2 s|"), "{told:?}");
    }

    #[test]
    fn several_reports_count_with_all_they_hold() {
        let first = report([1.0, 2.0]);
        let mut second = with(report([3.0, 2.0]), "bine", "bine", Transport::Messages);
        second.cells[0].variants.remove(2);
        let both = told(&[first.clone(), second.clone()]);
        assert_eq!(both.len(), 3, "{both:?}");
        assert!(
            both[0].starts_with("allreduce|1M|ring|2 s|") && both[2].starts_with("allreduce|1M|bine|3 s|"),
            "{both:?}"
        );
        // Not the same times.
        second.mpi_library = "An MPI 4.0".to_owned();
        assert_eq!(told(&[first.clone(), second.clone()]).len(), 4);
        let text = compare(&[first.clone(), second], &Network::preset("ethernet").unwrap(), 1).unwrap();
        assert!(text.contains("\nAn MPI 4.0\noperation "), "{text}");
        let mut crowded = report([3.0, 2.0]);
        crowded.cells[0].oversubscribed = true;
        let rows = told(&[first, crowded]);
        assert!(rows[0].starts_with("8 on 2 nodes|allreduce|1M|ring|1 s|"), "{rows:?}");
        assert!(rows[2].starts_with("8 on 2 nodes, oversubscribed|allreduce|1M|ring|3 s|"), "{rows:?}");
    }
}
