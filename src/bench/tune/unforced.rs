//! What Collie does without rules where that was faster than every algorithm that was forced: rules cannot hold it, since
//! it was not compared by name.

use super::compared::ours;
use crate::bench::program::{NATIVE, is_auto};
use crate::bench::result::{CellRow, Report, VariantRow};

/// By so much it has to be faster to be worth telling.
const CLEARLY: f64 = 1.1;

/// A cell in which it was.
#[derive(Debug)]
pub struct Unforced<'a> {
    /// The cell.
    pub cell: &'a CellRow,
    /// The algorithm that ran.
    pub algorithm: &'a str,
    /// Time of the fastest that was forced over its.
    pub ratio: f64,
}

/// All of them, the clearest first.
pub fn faster_unforced(reports: &[Report]) -> Vec<Unforced<'_>> {
    let mut found: Vec<_> = reports.iter().flat_map(|report| &report.cells).filter_map(of_cell).collect();
    found.sort_by(|one, other| other.ratio.total_cmp(&one.ratio));
    found
}

fn of_cell(cell: &CellRow) -> Option<Unforced<'_>> {
    let fastest = ours(cell).map(|row| row.seconds.median).min_by(f64::total_cmp)?;
    let counts = |row: &&VariantRow| {
        // What was forced as well is faster by noise, and what the MPI library carried out is none of ours.
        let is_new = row.algorithm != NATIVE && ours(cell).all(|own| own.algorithm != row.algorithm);
        is_auto(&row.variant) && !cell.wrong.contains(&row.variant) && row.seconds.median > 0.0 && is_new
    };
    let unforced = cell.variants.iter().filter(counts);
    let best = unforced.min_by(|one, other| one.seconds.median.total_cmp(&other.seconds.median))?;
    let ratio = fastest / best.seconds.median;
    (ratio >= CLEARLY).then(|| Unforced { cell, algorithm: &best.algorithm, ratio })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_forced_and_clearly_faster_is_found() {
        let variant = |name: &str, algorithm: &str, median: f64| {
            format!(
                r#"{{"variant": "{name}", "algorithm": "{algorithm}",
                    "seconds": {{"median": {median}, "p10": {median}, "p90": {median}, "min": {median}}}}}"#
            )
        };
        let report = |auto: &str, median: f64| -> Report {
            let variants =
                [variant("native", "native", 1.0), variant("auto", auto, median), variant("ring", "ring", 2.0)];
            let text = format!(
                r#"{{"schema_version": 1, "collie_version": "", "mpi_library": "", "cold": false, "runs": 1, "seed": 1,
                    "cells": [{{"operation": "allreduce", "datatype": "double", "root": 0, "bytes": 64, "ranks": 8,
                    "ranks_per_node": [8], "oversubscribed": false, "rounds": 6, "variants": [{}]}}]}}"#,
                variants.join(",")
            );
            serde_json::from_str(&text).unwrap()
        };
        let reports = [report("bine", 1.6), report("bine", 1.0), report("bine", 1.9), report("ring", 1.0)];
        let found = faster_unforced(&reports);
        assert_eq!(
            found.iter().map(|one| (one.algorithm, one.ratio)).collect::<Vec<_>>(),
            [("bine", 2.0), ("bine", 1.25)]
        );
    }
}
