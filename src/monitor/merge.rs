//! All ranks' records → one summary. Pure.

use super::summary::SCHEMA_VERSION;
use super::{
    Bucket, CellRecord, CommunicatorRecord, CommunicatorRow, Function, Overhead, RankRecord, RankRow, Row, Spread,
    Summary,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Merges the records of all ranks, in any order; ranks may be missing.
pub fn merge(mut records: Vec<RankRecord>) -> Summary {
    records.sort_by_key(|record| record.rank);
    let job = records.iter_mut().find_map(|record| record.job.take()).unwrap_or_default();
    let communicators = communicators(&records);
    let place: HashMap<&str, usize> =
        communicators.iter().enumerate().map(|(place, row)| (row.identity.as_str(), place)).collect();
    let run_ns = records.iter().map(|record| record.run_ns as f64).sum::<f64>();
    let waiting_known = !job.sync.is_empty();
    let per_rank: Vec<RankRow> = records.iter().map(|record| rank_row(record, waiting_known)).collect();
    let mut rows = rows(&records, &place, run_ns);
    if !waiting_known {
        rows.iter_mut().for_each(|row| row.waiting_seconds = None);
    }
    let collective = Spread::of(per_rank.iter().map(|row| (row.rank, row.collective_seconds)));
    let hosts: BTreeSet<&str> = records.iter().map(|record| record.host.as_str()).collect();
    Summary {
        schema_version: SCHEMA_VERSION,
        collie_version: job.collie_version,
        mpi_library: job.mpi_library,
        command: job.command,
        mode: job.mode,
        sync: (!job.sync.is_empty()).then_some(job.sync),
        started_unix_seconds: records.iter().map(|record| record.started_unix_ns).min().unwrap_or(0) as f64 / 1e9,
        ranks: records.len() as u32,
        nodes: hosts.len() as u32,
        run_seconds: seconds(run_ns) / records.len().max(1) as f64,
        collective_seconds: collective,
        collective_share: share(per_rank.iter().map(|row| row.collective_seconds).sum::<f64>() * 1e9, run_ns),
        overhead: overhead(&records, &per_rank),
        dropped_events: records.iter().map(|record| record.dropped_events).sum(),
        communicators,
        rows,
        per_rank,
    }
}

fn seconds(nanoseconds: f64) -> f64 {
    nanoseconds / 1e9
}

fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

impl Spread {
    fn of(values: impl Iterator<Item = (u32, f64)>) -> Self {
        let (mut spread, mut count, mut sum) = (Self { min: f64::INFINITY, ..Self::default() }, 0u32, 0.0);
        for (rank, value) in values {
            count += 1;
            sum += value;
            spread.min = spread.min.min(value);
            if count == 1 || value > spread.max {
                (spread.max, spread.max_rank) = (value, rank);
            }
        }
        if count == 0 { Self::default() } else { Self { mean: sum / f64::from(count), ..spread } }
    }
}

fn communicators(records: &[RankRecord]) -> Vec<CommunicatorRow> {
    let mut rows: BTreeMap<&str, CommunicatorRow> = BTreeMap::new();
    let used = records.iter().flat_map(|record| &record.communicators).filter(|record| !record.cells.is_empty());
    for record in used {
        let row = rows.entry(&record.identity).or_insert_with(|| communicator_row(record));
        // The members are told by one of the ranks only, and a name may be set on one rank only.
        if row.members.is_empty() {
            row.members.clone_from(&record.members);
        }
        if row.name.is_none() {
            row.name.clone_from(&record.name);
        }
    }
    rows.into_values().collect()
}

fn communicator_row(record: &CommunicatorRecord) -> CommunicatorRow {
    CommunicatorRow {
        identity: record.identity.clone(),
        name: record.name.clone(),
        made_by: record.made_by.clone(),
        parent: record.parent.clone(),
        size: record.size,
        members: Vec::new(),
    }
}

fn rank_row(record: &RankRecord, waiting_known: bool) -> RankRow {
    let cells = || record.communicators.iter().flat_map(|communicator| &communicator.cells);
    let waiting = cells().map(|cell| cell.waiting_ns).sum::<u64>();
    RankRow {
        rank: record.rank,
        host: record.host.clone(),
        pid: record.pid,
        run_seconds: seconds(record.run_ns as f64),
        collective_seconds: seconds(cells().map(|cell| cell.total_ns).sum::<u64>() as f64),
        waiting_seconds: waiting_known.then(|| seconds(waiting as f64)),
        calls: cells().map(|cell| cell.calls).sum(),
        bytes: cells().map(|cell| cell.bytes).sum(),
    }
}

fn overhead(records: &[RankRecord], per_rank: &[RankRow]) -> Overhead {
    let nanoseconds_per_call = records.iter().map(|record| record.overhead_ns_per_call).fold(0.0, f64::max);
    let calls = per_rank.iter().map(|row| row.calls).max().unwrap_or(0);
    Overhead {
        nanoseconds_per_call,
        seconds_per_rank: seconds(nanoseconds_per_call * calls as f64),
        finalize_seconds: None,
    }
}

/// Communicator, function, size class, algorithm, what decided it.
type RowKey<'a> = (usize, Function, Bucket, &'a str, &'a str);

fn rows(records: &[RankRecord], place: &HashMap<&str, usize>, run_ns: f64) -> Vec<Row> {
    let mut cells: BTreeMap<RowKey<'_>, Vec<(u32, &CellRecord)>> = BTreeMap::new();
    for record in records {
        for communicator in record.communicators.iter().filter(|communicator| !communicator.cells.is_empty()) {
            let place = place[communicator.identity.as_str()];
            for cell in &communicator.cells {
                let key = (place, cell.function, cell.bucket, cell.algorithm.as_str(), cell.decided_by.as_str());
                cells.entry(key).or_default().push((record.rank, cell));
            }
        }
    }
    let mut rows: Vec<Row> = cells.into_iter().map(|(key, cells)| row(key, &cells, run_ns)).collect();
    // Stable: rows of equal time stay in the order of their keys, so the same records give the same report.
    rows.sort_by(|left, right| right.all_ranks_seconds().total_cmp(&left.all_ranks_seconds()));
    rows
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
        waiting_seconds: Some(seconds(waiting_ns as f64) / cells.len() as f64),
        durations: per_power_of_two(&durations),
    }
}

fn merged_durations(cells: &[(u32, &CellRecord)]) -> BTreeMap<u64, u64> {
    let mut durations = BTreeMap::new();
    for (duration, count) in cells.iter().flat_map(|(_, cell)| &cell.durations) {
        *durations.entry(*duration).or_insert(0) += u64::from(*count);
    }
    durations
}

/// The smallest duration that at least `share` of the calls do not exceed.
fn quantile(durations: &BTreeMap<u64, u64>, share: f64) -> u64 {
    let calls: u64 = durations.values().sum();
    let wanted = ((calls as f64 * share).ceil() as u64).max(1);
    let mut seen = 0;
    for (duration, count) in durations {
        seen += count;
        if seen >= wanted {
            return *duration;
        }
    }
    0
}

/// Coarser, for pictures: the upper end of each power of two of nanoseconds, in seconds.
fn per_power_of_two(durations: &BTreeMap<u64, u64>) -> Vec<(f64, u64)> {
    let mut coarse: BTreeMap<u64, u64> = BTreeMap::new();
    for (duration, count) in durations {
        *coarse.entry(duration.max(&1).next_power_of_two()).or_insert(0) += count;
    }
    coarse.into_iter().map(|(duration, count)| (seconds(duration as f64), count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::Operation;
    use crate::monitor::JobRecord;

    fn cell(calls: u64, ns: u64) -> CellRecord {
        CellRecord {
            function: Operation::Allreduce.into(),
            bucket: Bucket::of(8),
            algorithm: "ring".into(),
            decided_by: "forced".into(),
            calls,
            bytes: 8 * calls,
            total_ns: ns * calls,
            min_ns: ns,
            max_ns: ns,
            waiting_ns: 0,
            durations: vec![(ns, calls as u32)],
        }
    }

    fn rank(rank: u32, cells: Vec<CellRecord>) -> RankRecord {
        let world = CommunicatorRecord {
            identity: "world".into(),
            size: 2,
            rank,
            members: if rank == 0 { vec![0, 1] } else { Vec::new() },
            cells,
            ..CommunicatorRecord::default()
        };
        let silent = CommunicatorRecord { identity: "silent".into(), ..CommunicatorRecord::default() };
        RankRecord {
            rank,
            host: format!("node{rank}"),
            run_ns: 1_000_000,
            overhead_ns_per_call: 40.0,
            job: (rank == 0).then(|| JobRecord { mode: "replace".into(), ..JobRecord::default() }),
            communicators: vec![silent, world],
            ..RankRecord::default()
        }
    }

    #[test]
    fn the_order_of_the_ranks_does_not_matter() {
        let records = [rank(0, vec![cell(10, 1000)]), rank(1, vec![cell(10, 3000)])];
        let [first, second] = records.clone();
        assert_eq!(merge(records.to_vec()), merge(vec![second, first]));
    }

    #[test]
    fn a_row_holds_all_ranks() {
        let summary = merge(vec![rank(0, vec![cell(10, 1000)]), rank(1, vec![cell(10, 3000)])]);
        assert_eq!((summary.ranks, summary.nodes, summary.mode.as_str()), (2, 2, "replace"));
        assert_eq!(summary.communicators.len(), 1, "a communicator without calls is left out");
        assert_eq!(summary.communicators[0].members, [0, 1]);
        let [row] = summary.rows.as_slice() else { panic!("one row, not {:?}", summary.rows) };
        assert_eq!((row.function.as_str(), row.ranks, row.calls, row.calls_all_ranks), ("MPI_Allreduce", 2, 10, 20));
        assert_eq!((row.bytes, row.bytes_from, row.bytes_to), (160, 8, 15));
        assert_eq!(row.total_seconds, Spread { min: 1e-5, mean: 2e-5, max: 3e-5, max_rank: 1 });
        assert_eq!((row.p50_seconds, row.p99_seconds, row.max_seconds), (1e-6, 3e-6, 3e-6));
        assert!((row.share - 0.02).abs() < 1e-12, "40 µs of 2 ms");
        assert_eq!(row.waiting_seconds, None);
        assert_eq!(summary.overhead.seconds_per_rank, 40.0 * 10.0 / 1e9);
    }

    #[test]
    fn bytes_of_a_record_are_the_record() {
        let record = rank(0, vec![cell(10, 1000), cell(3, 17)]);
        assert_eq!(RankRecord::decode(&record.encode()).unwrap(), record);
        assert!(RankRecord::decode(&record.encode()[..20]).is_err());
    }

    #[test]
    fn nothing_recorded_is_an_empty_summary() {
        let summary = merge(Vec::new());
        assert_eq!((summary.ranks, summary.run_seconds, summary.collective_share), (0, 0.0, 0.0));
        assert!(summary.rows.is_empty());
    }
}
