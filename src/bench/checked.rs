//! Whether what a file says of a cell can be: whoever edits one, or has another program write it, is told here and not
//! by a panic or by a rule that nothing was measured for.

#![forbid(unsafe_code)]

use super::program::NATIVE;
use super::result::{CellRow, Report, SCHEMA_VERSION, VariantRow};
use crate::algorithm::parse_choice;

/// Most ranks of a cell: of each it is kept which node it is on, and no machine has more.
pub const MOST_RANKS: usize = 1 << 24;

/// Most bytes that one rank contributes.
pub const MOST_BYTES: usize = 1 << 40;

/// # Errors
/// The cell and what is wrong with it: what was found, and what is accepted.
pub fn report(report: &Report) -> Result<(), String> {
    // Version 1 told the share of a plan for one number of ranks only.
    if !(1..=SCHEMA_VERSION).contains(&report.schema_version) {
        let found = report.schema_version;
        return Err(format!("schema version: found {found}; accepted: 1 to {SCHEMA_VERSION}"));
    }
    report.cells.iter().enumerate().try_for_each(|(at, row)| cell(row).map_err(|error| format!("cells[{at}]: {error}")))
}

/// # Errors
/// As [`report`], without the cell.
pub fn cell(row: &CellRow) -> Result<(), String> {
    let CellRow { cell, ranks, ranks_per_node, .. } = row;
    let refuse = |field: &str, found: &dyn std::fmt::Display, accepted: String| {
        Err(format!("{field}: found {found}; accepted: {accepted}"))
    };
    let on_nodes: u64 = ranks_per_node.iter().map(|each| u64::from(*each)).sum();
    if *ranks == 0 || on_nodes != u64::from(*ranks) || ranks_per_node.contains(&0) {
        let each: Vec<_> = ranks_per_node.iter().map(ToString::to_string).collect();
        let accepted = format!("the ranks on each node, {ranks} in all, 1 and more on each");
        return refuse("ranks_per_node", &format!("'{}'", each.join(" ")), accepted);
    }
    if cell.root >= *ranks as usize {
        return refuse("root", &cell.root, format!("0 to {}", ranks - 1));
    }
    if *ranks as usize > MOST_RANKS {
        return refuse("ranks", ranks, format!("at most {MOST_RANKS}"));
    }
    if cell.bytes > MOST_BYTES {
        return refuse("bytes", &cell.bytes, format!("at most {MOST_BYTES}"));
    }
    let (size, datatype) = (cell.datatype.size(), cell.datatype.name());
    if !cell.bytes.is_multiple_of(size) {
        return refuse("bytes", &cell.bytes, format!("multiples of {size}, the bytes of a {datatype}"));
    }
    row.variants.iter().try_for_each(|variant| {
        self::variant(row, variant).map_err(|error| format!("variant {}: {error}", variant.variant))
    })
}

fn variant(row: &CellRow, variant: &VariantRow) -> Result<(), String> {
    let spread = &variant.seconds;
    for (name, seconds) in [
        ("median", spread.median),
        ("p10", spread.p10),
        ("p90", spread.p90),
        ("min", spread.min),
        ("mean", spread.mean),
    ] {
        if !(seconds.is_finite() && (seconds > 0.0 || name != "median" && seconds == 0.0)) {
            return Err(format!("{name} seconds: found {seconds}; accepted: seconds above 0, such as 1.5e-6"));
        }
    }
    if let Some(against) = variant.against_native {
        let limits = (against.low.unwrap_or(against.ratio), against.high.unwrap_or(against.ratio));
        let all = [limits.0, against.ratio, limits.1];
        if !(all.iter().all(|ratio| ratio.is_finite() && *ratio > 0.0) && limits.0 <= limits.1) {
            return Err(format!(
                "native over this one: found {} ({} to {}); accepted: ratios above 0, the lower limit first",
                all[1], all[0], all[2]
            ));
        }
    }
    if variant.variant != NATIVE && !variant.is_mode() {
        parse_choice(row.cell.operation, &variant.algorithm).map_err(|error| format!("algorithm: {error}"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::result::tests::{report as report_of, row};
    use super::*;
    use crate::algorithm::Operation;

    #[test]
    fn what_cannot_be_is_refused() {
        let good = row(Operation::Reduce, 64, 4, 5.0);
        assert_eq!(report(&report_of(vec![good.clone()])), Ok(()));
        let wrong = |change: fn(&mut CellRow)| {
            let mut cell = good.clone();
            change(&mut cell);
            report(&report_of(vec![cell])).unwrap_err()
        };
        let nodes =
            "cells[0]: ranks_per_node: found '4 2'; accepted: the ranks on each node, 4 in all, 1 and more on each";
        assert_eq!(wrong(|cell| cell.ranks_per_node = vec![4, 2]), nodes);
        assert!(wrong(|cell| cell.ranks_per_node = vec![4, 0]).contains("found '4 0'"));
        assert!(wrong(|cell| (cell.ranks, cell.ranks_per_node) = (0, vec![])).contains("found ''"));
        assert_eq!(wrong(|cell| cell.cell.root = 9), "cells[0]: root: found 9; accepted: 0 to 3");
        assert!(wrong(|cell| cell.cell.bytes = 7).ends_with("multiples of 8, the bytes of a double"));
        assert!(
            wrong(|cell| cell.variants[0].seconds.median = 0.0).contains("variant native: median seconds: found 0;")
        );
        assert!(wrong(|cell| cell.variants[1].seconds.p90 = -1e-6).contains("p90 seconds: found -0.000001;"));
        let limits = |cell: &mut CellRow| {
            let against = cell.variants[1].against_native.as_mut().unwrap();
            (against.low, against.high) = (Some(1.5), Some(1.2));
        };
        assert!(wrong(limits).ends_with("accepted: ratios above 0, the lower limit first"));
        let old = Report { schema_version: SCHEMA_VERSION + 1, ..report_of(vec![good.clone()]) };
        assert!(report(&old).unwrap_err().starts_with("schema version: found 3; accepted: 1 to 2"));
    }
}
