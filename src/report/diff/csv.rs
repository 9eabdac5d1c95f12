//! The difference of runs as a table.

use super::changes::Difference;
use crate::report::csv::written;
use crate::report::layout::Layout;

/// A row for each.
pub fn render(difference: &Difference, layout: &Layout) -> Vec<u8> {
    let heads = vec![
        "function",
        "communicator",
        "communicator_name",
        "bytes_from",
        "bytes_to",
        "a_algorithms",
        "b_algorithms",
        "a_calls",
        "b_calls",
        "a_mean_seconds",
        "b_mean_seconds",
        "ratio",
        "more_seconds",
        "change",
    ];
    let optional = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let rows = difference.rows.iter().take(layout.rows_for_programs(difference.rows.len())).map(|row| {
        vec![
            row.function.clone(),
            row.communicator.clone(),
            row.communicator_name.clone().unwrap_or_default(),
            row.bytes_from.to_string(),
            row.bytes_to.to_string(),
            row.a_algorithms.join("+"),
            row.b_algorithms.join("+"),
            row.a_calls.to_string(),
            row.b_calls.to_string(),
            optional(row.a_mean_seconds),
            optional(row.b_mean_seconds),
            optional(row.ratio),
            row.more_seconds.to_string(),
            row.change.text().to_owned(),
        ]
    });
    written(heads, rows.collect())
}
