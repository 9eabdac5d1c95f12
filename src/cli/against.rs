//! `collie simulate --against`: what was measured beside what is predicted for it.

use super::table::columns;
use crate::algorithm::{Call, Choice, Operation, format_bytes, parse_choice};
use crate::bench::program::NATIVE;
use crate::bench::result::{CellRow, Report};
use crate::schedule::draw::seconds;
use crate::schedule::simulate::{Network, predict};

/// A prediction is as good as a measured winner if what it would choose is so many times as slow at most.
const NEAR: f64 = 1.1;

/// One algorithm in one cell, seconds.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    name: String,
    measured: f64,
    predicted: f64,
}

impl Row {
    fn error(&self) -> f64 {
        self.predicted / self.measured - 1.0
    }
}

/// The table: all that was measured of Collie's algorithms, and how far off the predictions are.
///
/// # Errors
/// There is nothing to compare.
pub fn compare(report: &Report, network: &Network, steps: usize) -> Result<String, String> {
    let mut table =
        vec![["operation", "bytes", "algorithm", "measured", "predicted", "error"].map(str::to_owned).to_vec()];
    let mut winners = Vec::new();
    let mut errors: Vec<(Operation, f64)> = Vec::new();
    for cell in &report.cells {
        let rows = rows(cell, network, steps)?;
        let cost = |row: &Row| row.measured;
        let fastest = |by: fn(&Row) -> f64| rows.iter().min_by(|a, b| by(a).total_cmp(&by(b)));
        let (Some(best), Some(chosen)) = (fastest(cost), fastest(|row| row.predicted)) else { continue };
        winners.push((cell.cell.operation, chosen.measured / best.measured));
        for row in &rows {
            errors.push((cell.cell.operation, row.error().abs()));
            let mark = match (row == best, row == chosen) {
                (true, true) => "  fastest, and predicted so",
                (true, false) => "  fastest",
                (false, true) => "  predicted fastest",
                (false, false) => "",
            };
            let [operation, bytes] = [cell.cell.operation.to_string(), format_bytes(cell.cell.bytes)];
            let [measured, predicted] = [row.measured, row.predicted].map(seconds);
            let error = format!("{:+.0} %{mark}", 100.0 * row.error());
            table.push(vec![operation, bytes, row.name.clone(), measured, predicted, error]);
        }
    }
    if errors.is_empty() {
        return Err("the report holds none of Collie's algorithms".to_owned());
    }
    let mut text = format!("{}: {}\n\n{}\n", network.name, network.description, columns(0, &table));
    let operations = Operation::ALL.into_iter().filter(|one| errors.iter().any(|(operation, _)| operation == one));
    for wanted in operations.map(Some).chain([None]) {
        let of = |operation: Operation| wanted.is_none_or(|wanted| wanted == operation);
        let errors: Vec<_> = errors.iter().filter(|(one, _)| of(*one)).map(|(_, error)| *error).collect();
        let ratios: Vec<_> = winners.iter().filter(|(one, _)| of(*one)).map(|(_, ratio)| *ratio).collect();
        let near = ratios.iter().filter(|ratio| **ratio <= NEAR).count();
        text.push_str(&format!(
            "{}: median error {:.1} %, nine in ten below {:.0} %; the predicted winner is within 10 % of the fastest in {near} \
             of {} cells, at most {:.0} % off\n",
            wanted.map_or("all", Operation::name),
            100.0 * quantile(&errors, 0.5),
            100.0 * quantile(&errors, 0.9),
            ratios.len(),
            100.0 * (ratios.iter().copied().fold(1.0, f64::max) - 1.0),
        ));
    }
    Ok(text)
}

/// Each algorithm that was measured in a cell, once.
fn rows(cell: &CellRow, network: &Network, steps: usize) -> Result<Vec<Row>, String> {
    let size = cell.ranks as usize;
    let nodes: Vec<u32> = match cell.ranks_per_node.len() {
        1 => Vec::new(),
        _ => (0..).zip(&cell.ranks_per_node).flat_map(|(node, ranks)| vec![node; *ranks as usize]).collect(),
    };
    let operation = cell.cell.operation;
    let unit = if operation.reduces() { cell.cell.datatype.size() } else { 1 };
    let call = network.call(operation, cell.cell.root, cell.cell.bytes, &nodes);
    let call = Call { unit, count: cell.cell.bytes / unit, ..call };
    let mut rows: Vec<Row> = Vec::new();
    for variant in cell.variants.iter().filter(|variant| variant.algorithm != NATIVE) {
        let choice = parse_choice(operation, &variant.algorithm).map_err(|error| error.to_string())?;
        let name =
            if choice == Choice::new(choice.algorithm) { choice.algorithm.name.to_owned() } else { choice.to_string() };
        if rows.iter().any(|row| row.name == name) {
            continue;
        }
        let predicted =
            predict(&choice, &call, size, network, steps).map_err(|broken| format!("{choice}: {broken}"))?;
        let predicted = predicted.ok_or_else(|| format!("{choice} cannot run among {size} ranks, but was measured"))?;
        rows.push(Row { name, measured: variant.seconds.median, predicted: predicted.time });
    }
    Ok(rows)
}

/// The value that the share `part` of `values` does not exceed.
fn quantile(values: &[f64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[((sorted.len() - 1) as f64 * part).round() as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let [ring, doubling] = [&predicted[0], &predicted[1]].map(|row| row.predicted);
        assert!(ring < doubling, "{predicted:?}");
        let text = compare(&report([ring / 1.1, doubling * 2.0]), &network, usize::MAX).unwrap();
        assert!(text.contains("+10 %  fastest, and predicted so") && text.contains("-50 %"), "{text}");
        assert!(text.contains("within 10 % of the fastest in 1 of 1 cells"), "{text}");
        let text = compare(&report([3.0, 1.0]), &network, usize::MAX).unwrap();
        assert!(text.contains("in 0 of 1 cells, at most 200 % off"), "{text}");
        assert!(compare(&Report::default(), &network, 1).is_err());
    }
}
