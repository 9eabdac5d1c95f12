//! Cells of all ranks → rows.

use super::merge::{seconds, share};
use super::{Bucket, CellRecord, Form, Function, RankRecord, Row, Spread};
use std::collections::{BTreeMap, HashMap};

/// Communicator, function, size class, algorithm, what decided it.
pub(super) type RowKey<'a> = (usize, Function, Bucket, &'a str, &'a str);

/// The rows, most time first, and where the row of a key is.
pub(super) fn rows<'a>(
    records: &'a [RankRecord],
    place: &HashMap<&str, usize>,
    run_ns: f64,
) -> (Vec<Row>, HashMap<RowKey<'a>, usize>) {
    let mut cells: BTreeMap<RowKey<'a>, Vec<(u32, &CellRecord)>> = BTreeMap::new();
    for record in records {
        for communicator in record.communicators.iter().filter(|communicator| communicator.has_calls()) {
            let place = place[communicator.identity.as_str()];
            for cell in communicator.cells.iter().filter(|cell| cell.calls > 0) {
                cells.entry(key(place, cell)).or_default().push((record.rank, cell));
            }
        }
    }
    let mut rows: Vec<(RowKey<'a>, Row)> =
        cells.into_iter().map(|(key, cells)| (key, row(key, &cells, run_ns))).collect();
    // Stable: rows of equal time stay in the order of their keys, so the same records give the same report.
    rows.sort_by(|(_, left), (_, right)| right.all_ranks_seconds().total_cmp(&left.all_ranks_seconds()));
    let row_of = rows.iter().enumerate().map(|(place, (key, _))| (*key, place)).collect();
    (rows.into_iter().map(|(_, row)| row).collect(), row_of)
}

/// The key of a cell on the communicator at `place`.
pub(super) fn key(place: usize, cell: &CellRecord) -> RowKey<'_> {
    (place, cell.function, cell.bucket, &cell.algorithm, &cell.decided_by)
}

fn row(
    (communicator, function, bucket, algorithm, decided_by): RowKey<'_>,
    cells: &[(u32, &CellRecord)],
    run_ns: f64,
) -> Row {
    let sum = |of: fn(&CellRecord) -> u64| cells.iter().map(|(_, cell)| of(cell)).sum::<u64>();
    let (calls, total_ns, waiting_ns) =
        (sum(|cell| cell.calls), sum(|cell| cell.total_ns), sum(|cell| cell.waiting_ns));
    let durations = merged_durations(cells);
    let longest_ns = cells.iter().map(|(_, cell)| cell.max_ns).max().unwrap_or(0);
    // The middle of a step may lie past the longest call.
    let percentile = |share: f64| seconds(quantile(&durations, share).min(longest_ns) as f64);
    Row {
        function: function.name().to_owned(),
        communicator,
        bytes_from: bucket.first(),
        bytes_to: bucket.last(),
        algorithm: algorithm.to_owned(),
        decided_by: decided_by.to_owned(),
        ranks: cells.len() as u32,
        calls: cells.iter().map(|(_, cell)| cell.calls).max().unwrap_or(0),
        calls_all_ranks: calls,
        bytes: sum(|cell| cell.bytes),
        total_seconds: Spread::of(cells.iter().map(|(rank, cell)| (*rank, seconds(cell.total_ns as f64)))),
        mean_seconds: seconds(total_ns as f64 / calls.max(1) as f64),
        min_seconds: seconds(cells.iter().map(|(_, cell)| cell.min_ns).min().unwrap_or(0) as f64),
        p50_seconds: percentile(0.5),
        p90_seconds: percentile(0.9),
        p99_seconds: percentile(0.99),
        max_seconds: seconds(longest_ns as f64),
        share: share(total_ns as f64, run_ns),
        // Calls that only start something or finish it wait for no rank as such.
        waiting_seconds: (function.form == Form::Blocking).then(|| seconds(waiting_ns as f64) / cells.len() as f64),
        durations: per_power_of_two(&durations),
    }
}

/// Durations with their calls, ascending.
fn merged_durations(cells: &[(u32, &CellRecord)]) -> Vec<(u64, u64)> {
    let each = cells.iter().flat_map(|(_, cell)| &cell.durations);
    let mut durations: Vec<(u64, u64)> = each.map(|&(duration, calls)| (duration, u64::from(calls))).collect();
    // The stable sort: every rank's part is sorted already, and it merges such runs.
    durations.sort_by_key(|entry| entry.0);
    durations.dedup_by(|later, kept| {
        let same = later.0 == kept.0;
        kept.1 += if same { later.1 } else { 0 };
        same
    });
    durations
}

/// The smallest duration that at least `share` of the calls do not exceed.
fn quantile(durations: &[(u64, u64)], share: f64) -> u64 {
    let calls: u64 = durations.iter().map(|(_, calls)| calls).sum();
    let wanted = ((calls as f64 * share).ceil() as u64).max(1);
    let mut seen = 0;
    let reached = durations.iter().find(|(_, calls)| {
        seen += calls;
        seen >= wanted
    });
    reached.map_or(0, |(duration, _)| *duration)
}

/// Coarser, for pictures: the upper end of each power of two of nanoseconds, in seconds.
fn per_power_of_two(durations: &[(u64, u64)]) -> Vec<(f64, u64)> {
    let power = |entry: &(u64, u64)| entry.0.max(1).next_power_of_two();
    let classes = durations.chunk_by(|left, right| power(left) == power(right));
    classes.map(|class| (seconds(power(&class[0]) as f64), class.iter().map(|(_, calls)| calls).sum())).collect()
}
