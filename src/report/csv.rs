//! One table of the report, by default the one with a row per (function, communicator, size class, algorithm, what
//! decided it); times in seconds. What is of the whole run is in the other forms: a line of another kind would make this
//! one no table. Sums have one for the calls that are in no row.

use super::compared::compared_with;
use super::layout::{Layout, TableOf};
use super::text::late::latest;
use super::totals::{self, IN_NO_ROW, Total, waited_for};
use crate::algorithm::Operation;
use crate::monitor::{
    CommunicatorRow, ComparisonRow, LateRow, MessageRow, NATIVE, RankRow, RegionRow, Row, SiteRow, Spread, Summary,
};
use std::collections::HashMap;

/// Columns that tell a communicator.
const COMMUNICATOR: [&str; 5] =
    ["communicator", "communicator_name", "communicator_size", "communicator_made_by", "communicator_parent"];

/// Columns of a row's own numbers.
const ROW: [&str; 23] = [
    "bytes_from",
    "bytes_to",
    "algorithm",
    "decided_by",
    "ranks",
    "calls",
    "calls_all_ranks",
    "bytes",
    "total_seconds_min",
    "total_seconds_min_rank",
    "total_seconds_mean",
    "total_seconds_max",
    "total_seconds_max_rank",
    "mean_seconds",
    "min_seconds",
    "p50_seconds",
    "p90_seconds",
    "p99_seconds",
    "max_seconds",
    "share",
    "waiting_seconds",
    "working_seconds",
    "fallback",
];

/// Columns of a communicator's rank that the others waited for longest.
const LATE: [&str; 3] = ["communicator_late_rank", "communicator_late_seconds", "communicator_late_calls"];

/// Columns of native against ours.
const VERDICT: [&str; 11] = [
    "verdict",
    "pairs",
    "native_median_seconds",
    "collie_median_seconds",
    "ratio",
    "ratio_low",
    "ratio_high",
    "p_value",
    "saved_seconds",
    "commutative",
    "reduce_local",
];

/// Columns of a sum.
const TOTAL: [&str; 7] = [
    "calls_all_ranks",
    "bytes",
    "seconds_per_rank",
    "share_of_run",
    "share_of_collectives",
    "mean_seconds",
    "waiting_seconds_per_rank",
];

/// Columns of a rank's total over ranks.
const SPREAD: [&str; 5] = [
    "total_seconds_min",
    "total_seconds_min_rank",
    "total_seconds_mean",
    "total_seconds_max",
    "total_seconds_max_rank",
];

/// The table that the layout names, as many rows as it says.
pub fn render(summary: &Summary, layout: &Layout) -> Vec<u8> {
    let table = layout.table.unwrap_or(TableOf::Rows);
    let (heads, mut rows) = match table {
        TableOf::Rows => rows(summary),
        TableOf::Functions => functions(summary),
        TableOf::Communicators => communicators(summary),
        TableOf::Messages => messages(summary),
        TableOf::Regions => regions(summary),
        TableOf::Sites => sites(summary),
        TableOf::Ranks => ranks(summary),
        TableOf::Late => late(summary),
        TableOf::Verdicts => verdicts(summary),
    };
    let has_sums = matches!(table, TableOf::Functions | TableOf::Communicators);
    // Without it, the rows would seem to be all that there is.
    let others = rows.pop_if(|row| has_sums && row[0] == IN_NO_ROW);
    rows.truncate(layout.rows_for_programs(rows.len()));
    rows.extend(others);
    written(heads, rows)
}

/// A table as bytes.
pub fn written(heads: Vec<&str>, rows: Vec<Vec<String>>) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(&heads).expect("memory takes every record");
    for row in rows {
        writer.write_record(&row).expect("memory takes every record, and all have as many fields");
    }
    writer.into_inner().expect("memory takes every record")
}

type Table = (Vec<&'static str>, Vec<Vec<String>>);

fn rows(summary: &Summary) -> Table {
    let verdicts = verdicts_by_row(summary);
    let row = |(place, row): (usize, &Row)| {
        let mut fields = vec![row.function.clone()];
        fields.extend(communicator(&summary.communicators[row.communicator]));
        fields.extend(row_fields(row));
        let mut late = summary.late.iter().filter(|late| late.communicator == row.communicator);
        fields.extend(late_fields(late.next()));
        fields.extend(verdict(verdicts.get(&place).copied()));
        fields
    };
    let heads = ["function"].iter().chain(&COMMUNICATOR).chain(&ROW).chain(&LATE).chain(&VERDICT);
    (heads.copied().collect(), summary.rows.iter().enumerate().map(row).collect())
}

/// Each verdict once, by the place of the row that it stands on, so that what is saved adds up: one of the algorithm that
/// native was compared with; of the native calls where there is none. Those of usual reductions come first; where another
/// one finds no row left, it is in the table of verdicts alone.
fn verdicts_by_row(summary: &Summary) -> HashMap<usize, &ComparisonRow> {
    let is_usual = |row: &&ComparisonRow| row.commutative && !row.reduce_local;
    let (usual, others): (Vec<_>, Vec<_>) = summary.comparisons.iter().partition(is_usual);
    let mut places = HashMap::new();
    for verdict in usual.into_iter().chain(others) {
        let is_it = |operation: &Operation| operation.row().mpi_name == verdict.function;
        let Some(operation) = Operation::ALL.into_iter().find(is_it) else { continue };
        let of_native = |(_, row): &(usize, &Row)| {
            (row.function.as_str(), row.communicator) == (verdict.function.as_str(), verdict.communicator)
                && (operation.has_own_counts() || row.bytes_from == verdict.bytes_from)
                && row.algorithm == NATIVE
        };
        let native = summary.rows.iter().enumerate().filter(of_native).map(|(place, _)| place);
        let mut rows = compared_with(summary, verdict, operation).into_iter().chain(native);
        if let Some(place) = rows.find(|place| !places.contains_key(place)) {
            places.insert(place, verdict);
        }
    }
    places
}

fn functions(summary: &Summary) -> Table {
    let row = |(name, sum): (&str, Total)| {
        let mut fields = vec![name.to_owned()];
        fields.extend(total(&sum, summary));
        fields
    };
    let heads = ["function"].iter().chain(&TOTAL).copied().collect();
    let others = totals::in_no_row(summary).map(|sum| (IN_NO_ROW, sum));
    (heads, totals::by_function(summary).into_iter().chain(others).map(row).collect())
}

fn communicators(summary: &Summary) -> Table {
    let row = |(place, sum): (usize, Total)| {
        let row = &summary.communicators[place];
        let mut fields = communicator(row).to_vec();
        fields.extend(total(&sum, summary));
        let number = |calls: Option<u64>| calls.map(|calls| calls.to_string()).unwrap_or_default();
        fields.extend([number(row.compared_calls), number(row.comparable_calls)]);
        fields.extend(late_fields(summary.late.iter().find(|late| late.communicator == place)));
        fields
    };
    let others = |sum: Total| {
        let mut fields = vec![IN_NO_ROW.to_owned()];
        fields.resize(COMMUNICATOR.len(), String::new());
        fields.extend(total(&sum, summary));
        fields.resize(fields.len() + 2 + LATE.len(), String::new());
        fields
    };
    let heads = COMMUNICATOR.iter().chain(&TOTAL).chain(&["compared_calls", "comparable_calls"]).chain(&LATE);
    let rows = totals::by_communicator(summary).into_iter().map(row);
    (heads.copied().collect(), rows.chain(totals::in_no_row(summary).map(others)).collect())
}

fn ranks(summary: &Summary) -> Table {
    let row = |row: &RankRow| {
        vec![
            row.rank.to_string(),
            row.host.clone(),
            row.pid.to_string(),
            row.run_seconds.to_string(),
            row.collective_seconds.to_string(),
            optional(row.waiting_seconds),
            optional(row.message_seconds),
            optional(row.one_sided_seconds),
            optional(row.file_seconds),
            row.calls.to_string(),
            row.bytes.to_string(),
            if summary.late.is_empty() { String::new() } else { waited_for(summary, row.rank).to_string() },
            optional(row.recorded_seconds),
        ]
    };
    let heads = [
        "rank",
        "host",
        "pid",
        "run_seconds",
        "collective_seconds",
        "waiting_seconds",
        "message_seconds",
        "one_sided_seconds",
        "file_seconds",
        "calls",
        "bytes",
        "others_waited_seconds",
        "recorded_seconds",
    ];
    (heads.to_vec(), summary.per_rank.iter().map(row).collect())
}

fn messages(summary: &Summary) -> Table {
    let ranks = summary.per_rank.len().max(1) as f64;
    let row = |row: &MessageRow| {
        vec![
            row.function.clone(),
            row.area.name().to_owned(),
            row.ranks.to_string(),
            row.calls_all_ranks.to_string(),
            row.bytes.to_string(),
            (row.all_ranks_seconds / ranks).to_string(),
            row.max_seconds.to_string(),
            row.max_rank.to_string(),
        ]
    };
    let heads = [
        "function",
        "area",
        "ranks",
        "calls_all_ranks",
        "bytes",
        "seconds_per_rank",
        "seconds_max",
        "seconds_max_rank",
    ];
    (heads.to_vec(), summary.messages.iter().map(row).collect())
}

fn regions(summary: &Summary) -> Table {
    let row = |row: &RegionRow| {
        let mut fields = vec![row.name.clone(), row.ranks.to_string(), row.entries_all_ranks.to_string()];
        fields.extend(spread(&row.total_seconds));
        fields.extend([row.collective_seconds.to_string(), row.message_seconds.to_string()]);
        fields.push(row.calls_all_ranks.to_string());
        fields
    };
    let heads = ["region", "ranks", "entries_all_ranks"].iter().chain(&SPREAD);
    let heads = heads.chain(&["collective_seconds_mean", "message_seconds_mean", "calls_all_ranks"]);
    (heads.copied().collect(), summary.regions.iter().map(row).collect())
}

fn sites(summary: &Summary) -> Table {
    let row = |row: &SiteRow| {
        let mut fields = vec![row.function.clone(), row.title(), row.module.clone(), format!("{:#x}", row.address)];
        fields.extend([row.ranks.to_string(), row.calls_all_ranks.to_string(), row.bytes.to_string()]);
        fields.extend(spread(&row.total_seconds));
        fields.push(row.max_seconds.to_string());
        fields
    };
    let heads = ["function", "place", "module", "address", "ranks", "calls_all_ranks", "bytes"];
    let heads = heads.iter().chain(&SPREAD).chain(&["max_seconds"]).copied();
    (heads.collect(), summary.sites.iter().map(row).collect())
}

fn spread(spread: &Spread) -> [String; SPREAD.len()] {
    [
        spread.min.to_string(),
        spread.min_rank.to_string(),
        spread.mean.to_string(),
        spread.max.to_string(),
        spread.max_rank.to_string(),
    ]
}

fn late(summary: &Summary) -> Table {
    let row = |late: &LateRow| {
        let mut fields = communicator(&summary.communicators[late.communicator]).to_vec();
        fields.extend([late.rank.to_string(), late.waited_seconds.to_string(), late.calls.to_string()]);
        fields
    };
    let heads = COMMUNICATOR.iter().chain(&["rank", "others_waited_seconds", "calls_last"]);
    (heads.copied().collect(), latest(summary).into_iter().flatten().map(row).collect())
}

fn verdicts(summary: &Summary) -> Table {
    let row = |row: &ComparisonRow| {
        let mut fields = vec![row.function.clone()];
        fields.extend(communicator(&summary.communicators[row.communicator]));
        fields.extend([row.bytes_from.to_string(), row.bytes_to.to_string(), row.calls.to_string()]);
        fields.extend(verdict(Some(row)));
        fields
    };
    let heads = ["function"].iter().chain(&COMMUNICATOR).chain(&["bytes_from", "bytes_to", "calls"]).chain(&VERDICT);
    (heads.copied().collect(), summary.comparisons.iter().map(row).collect())
}

fn communicator(row: &CommunicatorRow) -> [String; COMMUNICATOR.len()] {
    [
        row.identity.clone(),
        row.name.clone().unwrap_or_default(),
        row.size.to_string(),
        row.made_by.clone(),
        row.parent.clone(),
    ]
}

fn row_fields(row: &Row) -> [String; ROW.len()] {
    [
        row.bytes_from.to_string(),
        row.bytes_to.to_string(),
        row.algorithm.clone(),
        row.decided_by.clone(),
        row.ranks.to_string(),
        row.calls.to_string(),
        row.calls_all_ranks.to_string(),
        row.bytes.to_string(),
        row.total_seconds.min.to_string(),
        row.total_seconds.min_rank.to_string(),
        row.total_seconds.mean.to_string(),
        row.total_seconds.max.to_string(),
        row.total_seconds.max_rank.to_string(),
        row.mean_seconds.to_string(),
        row.min_seconds.to_string(),
        row.p50_seconds.to_string(),
        row.p90_seconds.to_string(),
        row.p99_seconds.to_string(),
        row.max_seconds.to_string(),
        row.share.to_string(),
        optional(row.waiting_seconds),
        optional(row.working_seconds()),
        row.fallback().unwrap_or_default().to_owned(),
    ]
}

fn late_fields(late: Option<&LateRow>) -> [String; LATE.len()] {
    [
        late.map(|late| late.rank.to_string()).unwrap_or_default(),
        late.map(|late| late.waited_seconds.to_string()).unwrap_or_default(),
        late.map(|late| late.calls.to_string()).unwrap_or_default(),
    ]
}

fn verdict(row: Option<&ComparisonRow>) -> [String; VERDICT.len()] {
    let Some(row) = row else { return Default::default() };
    let result = &row.result;
    [
        result.verdict.text().to_owned(),
        result.pairs.to_string(),
        result.native_median_seconds.to_string(),
        result.collie_median_seconds.to_string(),
        result.ratio.to_string(),
        optional(result.ratio_low),
        optional(result.ratio_high),
        result.p_value.to_string(),
        optional(row.saved_seconds),
        row.commutative.to_string(),
        row.reduce_local.to_string(),
    ]
}

fn total(total: &Total, summary: &Summary) -> [String; TOTAL.len()] {
    let ranks = summary.per_rank.len().max(1) as f64;
    let share = |whole: f64| total.seconds / (whole * ranks).max(f64::MIN_POSITIVE);
    [
        total.calls.to_string(),
        total.bytes.to_string(),
        (total.seconds / ranks).to_string(),
        share(summary.whole_seconds()).to_string(),
        share(summary.collective_seconds.mean).to_string(),
        (total.seconds / total.calls.max(1) as f64).to_string(),
        optional(total.waiting_seconds.map(|waiting| waiting / ranks)),
    ]
}

fn optional(seconds: Option<f64>) -> String {
    seconds.map(|seconds| seconds.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(function: &str, bytes_from: u64, algorithm: &str, seconds: f64) -> Row {
        let total_seconds = Spread { mean: seconds, ..Spread::default() };
        let (function, algorithm) = (function.to_owned(), algorithm.to_owned());
        Row { function, bytes_from, algorithm, ranks: 1, calls: 1, calls_all_ranks: 1, total_seconds, ..Row::default() }
    }

    fn verdict(function: &str, bytes_from: u64, commutative: bool) -> ComparisonRow {
        let row = serde_json::json!({
            "function": function, "communicator": 0, "bytes_from": bytes_from, "bytes_to": bytes_from, "calls": 1,
            "commutative": commutative, "reduce_local": !commutative,
            "pairs": 9, "native_median_seconds": 1.0, "collie_median_seconds": 1.0, "ratio": 1.0, "p_value": 1.0,
            "verdict": "no_difference",
        });
        serde_json::from_value(row).unwrap()
    }

    #[test]
    fn verdicts_stand_on_what_was_compared() {
        let summary = Summary {
            rows: vec![
                row("MPI_Allreduce", 16, "reduce_bcast:reduce=in_order_binary", 5.0),
                row("MPI_Allreduce", 16, "native", 2.0),
                row("MPI_Allreduce", 16, "ring", 1.0),
                row("MPI_Alltoallv", 1024, "native", 1.0),
                row("MPI_Alltoallv", 512, "linear:max_requests=32", 1.0),
                row("MPI_Bcast", 8, "native", 1.0),
            ],
            comparisons: vec![
                verdict("MPI_Allreduce", 16, false),
                verdict("MPI_Allreduce", 16, true),
                verdict("MPI_Alltoallv", 0, true),
                verdict("MPI_Bcast", 8, true),
            ],
            ..Summary::default()
        };
        let places = verdicts_by_row(&summary);
        let mut found: Vec<_> = places.iter().map(|(place, row)| (*place, &*row.function, row.commutative)).collect();
        found.sort_unstable();
        assert_eq!(
            found,
            [
                (0, "MPI_Allreduce", false),
                (2, "MPI_Allreduce", true),
                (4, "MPI_Alltoallv", true),
                (5, "MPI_Bcast", true)
            ]
        );
    }
}
