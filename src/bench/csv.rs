//! The result as comma-separated values: a row for each cell and variant. Columns are added at the end.

#![forbid(unsafe_code)]

use super::program::NATIVE;
use super::result::Report;
use crate::schedule::limits::Limit;
use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};

const HEAD: &str = "operation,datatype,root,bytes,ranks,nodes,oversubscribed,cold,jobs,rounds,variant,algorithm,median_seconds,p10_seconds,\
                    p90_seconds,min_seconds,native_over_this,low,high,bound_seconds,calls,right,transport,mean_seconds,ranks_per_node,mpi_library,\
                    collie_version,commutative,in_a_row,communicators,roots_in_turn,late_seconds,protocol_limits,user_defined,report";

/// In the column of limits, that all messages within a node travelled whole.
pub(super) const NO_LIMITS: &str = "none";

/// Head and rows; of the overhead scenario, those of its measurements.
pub fn text(report: &Report) -> String {
    if !report.overheads.is_empty() {
        return overheads(report);
    }
    let mut text = format!("{HEAD}\n");
    let report_id = id(report);
    let (pattern, limits) = (report.pattern, report.protocol_limits.as_deref().map_or_else(String::new, limits));
    for row in &report.cells {
        let cell = &row.cell;
        for variant in &row.variants {
            let seconds = &variant.seconds;
            let ratio = variant.against_native;
            let _ = writeln!(
                text,
                "{},{},{},{},{},{},{},{},{},{},{},{},{:e},{:e},{:e},{:e},{},{},{},{},{},{},{},{:e},{},{},{},{},{},{},{},{:e},{},{},{:016x}",
                cell.operation,
                cell.datatype.name(),
                cell.root,
                cell.bytes,
                row.ranks,
                row.ranks_per_node.len(),
                row.oversubscribed,
                report.cold,
                variant.jobs.unwrap_or(report.runs),
                row.rounds,
                quoted(&variant.variant),
                quoted(&variant.algorithm),
                seconds.median,
                seconds.p10,
                seconds.p90,
                seconds.min,
                or_nothing(ratio.map(|ratio| ratio.ratio)),
                or_nothing(ratio.and_then(|ratio| ratio.low)),
                or_nothing(ratio.and_then(|ratio| ratio.high)),
                or_nothing(row.bound_seconds),
                cell.calls.map_or_else(String::new, |calls| calls.to_string()),
                !row.wrong.contains(&variant.variant),
                if variant.variant == NATIVE { "" } else { variant.transport.name() },
                seconds.mean,
                row.ranks_per_node.iter().map(u32::to_string).collect::<Vec<_>>().join(" "),
                quoted(&report.mpi_library),
                quoted(&report.collie_version),
                cell.commutative,
                pattern.in_a_row,
                pattern.communicators,
                pattern.roots_in_turn,
                pattern.late,
                limits,
                cell.reduces_locally(),
                report_id,
            );
        }
    }
    text
}

/// A number that tells the rows of this report from those of others in files that are put together.
fn id(report: &Report) -> u64 {
    let mut hasher = DefaultHasher::new();
    serde_json::to_string(report).expect("a report has no maps but of names").hash(&mut hasher);
    hasher.finish()
}

fn overheads(report: &Report) -> String {
    let mut text = "operation,ranks,native_min_ns,native_median_ns,collie_min_ns,collie_median_ns\n".to_owned();
    for row in &report.overheads {
        let (native, ours) = (row.native, row.through_collie);
        let _ = writeln!(text, "{},{},{},{},{},{}", row.operation, row.ranks, native.0, native.1, ours.0, ours.1);
    }
    text
}

/// The limits of messages within a node, or that there are none.
fn limits(limits: &[Limit]) -> String {
    if limits.is_empty() {
        return NO_LIMITS.to_owned();
    }
    limits.iter().map(Limit::to_string).collect::<Vec<_>>().join(" ")
}

fn or_nothing(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| format!("{value:e}"))
}

/// Parameters have commas between them.
fn quoted(text: &str) -> String {
    if text.contains([',', '"']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::super::result::tests::{report, row};
    use super::*;
    use crate::algorithm::Operation;

    #[test]
    fn a_row_for_each_variant() {
        let mut cell = row(Operation::Bcast, 64, 4, 5.0);
        cell.variants[1].algorithm = "knomial:radix=4,segment=none".to_owned();
        let text = text(&report(vec![cell]));
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(lines[1].starts_with("bcast,double,0,64,4,1,false,false,1,100,native,native,1e-5,"), "{text}");
        assert!(lines[2].contains(",auto,\"knomial:radix=4,segment=none\",5e-6,"), "{text}");
        assert!(
            lines[2].contains(",2e0,1.8e0,2.2e0,,,true,messages,5.5e-6,4,An MPI 4.0,1.2.3,true,1,1,false,0e0,,false,"),
            "{text}"
        );
        assert_eq!(lines[1].split(',').count(), HEAD.split(',').count());
    }
}
