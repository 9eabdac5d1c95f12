//! One row per (function, communicator, size class, algorithm, what decided it); times in seconds. What is of the whole run,
//! such as what found no room, is in the other forms: a line of another kind would make this one no table.

use crate::monitor::{CommunicatorRow, LateRow, Row, Summary};
use csv::Writer;

const COLUMNS: [&str; 32] = [
    "function",
    "communicator",
    "communicator_name",
    "communicator_size",
    "communicator_made_by",
    "communicator_parent",
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
    "communicator_late_rank",
    "communicator_late_seconds",
    "communicator_late_calls",
];

/// The report.
pub fn render(summary: &Summary) -> Vec<u8> {
    let mut writer = Writer::from_writer(Vec::new());
    let rows = summary.rows.iter().map(|row| {
        let mut late = summary.late.iter().filter(|late| late.communicator == row.communicator);
        fields(row, &summary.communicators[row.communicator], late.next())
    });
    for fields in std::iter::once(COLUMNS.map(str::to_owned)).chain(rows) {
        writer.write_record(fields).expect("memory takes every record");
    }
    writer.into_inner().expect("memory takes every record")
}

/// The fields; `late` is the rank of the communicator that the others waited for longest.
fn fields(row: &Row, communicator: &CommunicatorRow, late: Option<&LateRow>) -> [String; COLUMNS.len()] {
    [
        row.function.clone(),
        communicator.identity.clone(),
        communicator.name.clone().unwrap_or_default(),
        communicator.size.to_string(),
        communicator.made_by.clone(),
        communicator.parent.clone(),
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
        row.waiting_seconds.map(|waiting| waiting.to_string()).unwrap_or_default(),
        row.working_seconds().map(|working| working.to_string()).unwrap_or_default(),
        row.fallback().unwrap_or_default().to_owned(),
        late.map(|late| late.rank.to_string()).unwrap_or_default(),
        late.map(|late| late.waited_seconds.to_string()).unwrap_or_default(),
        late.map(|late| late.calls.to_string()).unwrap_or_default(),
    ]
}
