//! All ranks' records → one summary. Pure.

use super::rows::{RowOf, rows};
use super::{
    BeyondRow, CacheRow, ClockRow, CommunicatorRecord, CommunicatorRow, ComparisonRow, DifferenceRow, ElementsRecord,
    ElementsRow, Epochs, EpochsRecord, LateRow, Overhead, PlayedRow, RankRecord, RankRow, SCHEMA_VERSION, Spread,
    Summary, TimelineRow, TrafficRecord, TrafficRow, Verification, compare,
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
    let (mut rows, row_of) = rows(&records, &place, run_ns);
    if !waiting_known {
        rows.iter_mut().for_each(|row| row.waiting_seconds = None);
    }
    let collective_ns = per_rank.iter().map(|row| row.collective_seconds).sum::<f64>() * 1e9;
    let hosts: BTreeSet<&str> = records.iter().map(|record| record.host.as_str()).collect();
    let elements: BTreeSet<&ElementsRecord> = records.iter().flat_map(used_elements).collect();
    let elements: Vec<&ElementsRecord> = elements.into_iter().collect();
    let start = records.iter().map(|record| record.started_unix_ns).min().unwrap_or(0);
    Summary {
        schema_version: SCHEMA_VERSION,
        collie_version: job.collie_version,
        mpi_library: job.mpi_library,
        command: job.command,
        verification: (job.mode == "verify").then(|| verification(&records, &place)),
        mode: job.mode,
        sync: waiting_known.then_some(job.sync),
        partial: None,
        started_unix_seconds: seconds(start as f64),
        ranks: records.len() as u32,
        nodes: hosts.len() as u32,
        run_seconds: seconds(run_ns) / records.len().max(1) as f64,
        collective_seconds: Spread::of(per_rank.iter().map(|row| (row.rank, row.collective_seconds))),
        collective_share: share(collective_ns, run_ns),
        overhead: overhead(&records, &per_rank),
        dropped_events: records.iter().map(|record| record.dropped_events).sum(),
        comparisons: comparisons(&records, &place),
        late: late(&records, &place),
        clock: clock(&records),
        traffic: traffic(&records, |record| &record.traffic),
        native_traffic: traffic(&records, |record| &record.native_traffic),
        native_collectives: traffic(&records, |record| &record.native_collectives),
        timeline: timeline(&records, &row_of, &elements),
        elements: elements.into_iter().map(elements_row).collect(),
        beyond: beyond(&records),
        played: played(&records),
        cache: cache(&records),
        communicators,
        rows,
        per_rank,
    }
}

/// Nanoseconds in seconds.
pub(super) fn seconds(nanoseconds: f64) -> f64 {
    nanoseconds / 1e9
}

/// A part of a whole, 0 to 1; nothing is no part of nothing.
pub(super) fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

impl Spread {
    /// Of (world rank, value) of each rank that takes part.
    pub(super) fn of(values: impl Iterator<Item = (u32, f64)>) -> Self {
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
    let used = records.iter().flat_map(|record| &record.communicators).filter(|record| record.has_calls());
    for record in used {
        let row = rows.entry(&record.identity).or_insert_with(|| communicator_row(record));
        // The members are told by one of the ranks only, and a name may be set on one rank only.
        if row.members.is_empty() {
            row.members.clone_from(&record.members);
        }
        if row.name.is_none() {
            row.name.clone_from(&record.name);
        }
        if record.comparable_calls > 0 {
            (row.compared_calls, row.comparable_calls) = (Some(record.compared_calls), Some(record.comparable_calls));
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
        compared_calls: None,
        comparable_calls: None,
    }
}

fn rank_row(record: &RankRecord, waiting_known: bool) -> RankRow {
    let cells = record.communicators.iter().flat_map(|communicator| &communicator.cells);
    let (mut total, mut waiting) = (record.beyond.total_ns, 0);
    let (mut calls, mut bytes) = (record.beyond.calls, record.beyond.bytes);
    for cell in cells {
        (total, waiting, calls, bytes) =
            (total + cell.total_ns, waiting + cell.waiting_ns, calls + cell.calls, bytes + cell.bytes);
    }
    RankRow {
        rank: record.rank,
        host: record.host.clone(),
        pid: record.pid,
        run_seconds: seconds(record.run_ns as f64),
        collective_seconds: seconds(total as f64),
        waiting_seconds: waiting_known.then(|| seconds(waiting as f64)),
        calls,
        bytes,
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

/// By (communicator's place, function, size class): each rank's epochs.
fn comparisons(records: &[RankRecord], place: &HashMap<&str, usize>) -> Vec<ComparisonRow> {
    let mut cells: BTreeMap<_, Vec<&EpochsRecord>> = BTreeMap::new();
    for communicator in records.iter().flat_map(|record| &record.communicators) {
        let Some(&place) = place.get(communicator.identity.as_str()) else { continue };
        for epochs in &communicator.epochs {
            cells.entry((place, epochs.function, epochs.bucket)).or_default().push(epochs);
        }
    }
    let mut rows: Vec<ComparisonRow> = Vec::new();
    for ((communicator, function, bucket), ranks) in cells {
        let (native, collie) = observations(&ranks);
        let Some(result) = compare::compare(&native, &collie) else { continue };
        let calls = ranks.iter().map(|rank| rank.epochs.iter().map(|epoch| u64::from(epoch.1)).sum()).max();
        let calls: u64 = calls.unwrap_or(0);
        rows.push(ComparisonRow {
            function: function.name().to_owned(),
            communicator,
            bytes_from: bucket.first(),
            bytes_to: bucket.last(),
            calls,
            saved_seconds: calls as f64 * (result.native_median_seconds - result.collie_median_seconds),
            result,
        });
    }
    rows.sort_by(|left, right| right.saved_seconds.abs().total_cmp(&left.saved_seconds.abs()));
    rows
}

/// Per epoch the slowest rank's mean seconds per call, native epochs and ours.
fn observations(ranks: &[&EpochsRecord]) -> (Vec<f64>, Vec<f64>) {
    let mut slowest: BTreeMap<u32, f64> = BTreeMap::new();
    for &(epoch, calls, ns) in ranks.iter().flat_map(|rank| &rank.epochs) {
        let mean = seconds(ns as f64 / f64::from(calls.max(1)));
        slowest.entry(epoch).and_modify(|most| *most = most.max(mean)).or_insert(mean);
    }
    let side = |native: bool| {
        slowest.iter().filter(|(epoch, _)| Epochs::is_native(**epoch) == native).map(|(_, mean)| *mean).collect()
    };
    (side(true), side(false))
}

fn verification(records: &[RankRecord], place: &HashMap<&str, usize>) -> Verification {
    let mut verification = Verification::default();
    for record in records {
        for communicator in &record.communicators {
            verification.calls += communicator.verified_calls;
            let Some(&place) = place.get(communicator.identity.as_str()) else { continue };
            verification.differences.extend(communicator.differences.iter().map(|difference| DifferenceRow {
                rank: record.rank,
                communicator: place,
                function: difference.function.name().to_owned(),
                algorithm: difference.algorithm.clone(),
                call: difference.call,
                element: difference.element,
                native: difference.native.clone(),
                ours: difference.ours.clone(),
            }));
        }
    }
    verification
}

fn late(records: &[RankRecord], place: &HashMap<&str, usize>) -> Vec<LateRow> {
    let mut rows = Vec::new();
    for record in records.iter().flat_map(|record| &record.communicators) {
        let Some(&communicator) = place.get(record.identity.as_str()) else { continue };
        rows.extend(record.late.iter().map(|late| LateRow {
            communicator,
            rank: late.rank,
            calls: late.calls,
            waited_seconds: seconds(late.waited_ns as f64),
        }));
    }
    rows.sort_by_key(|row| (row.communicator, std::cmp::Reverse(row.calls), row.rank));
    rows
}

fn clock(records: &[RankRecord]) -> Option<ClockRow> {
    let clocks = || records.iter().filter_map(|record| record.clock);
    Some(ClockRow {
        points: clocks().map(|clock| clock.points).max()?,
        error_seconds: seconds(clocks().map(|clock| clock.error_ns).max()? as f64),
        round_trip_seconds: seconds(clocks().map(|clock| clock.round_trip_ns).max()? as f64),
    })
}

fn traffic(records: &[RankRecord], of: fn(&RankRecord) -> &Vec<TrafficRecord>) -> Vec<TrafficRow> {
    let host: HashMap<u32, &str> = records.iter().map(|record| (record.rank, record.host.as_str())).collect();
    let row = |from: &RankRecord, sent: &TrafficRecord| TrafficRow {
        from: from.rank,
        to: sent.to,
        messages: sent.messages,
        bytes: sent.bytes,
        on_node: host.get(&sent.to).is_some_and(|host| *host == from.host),
    };
    records.iter().flat_map(|from| of(from).iter().map(move |sent| row(from, sent))).collect()
}

fn beyond(records: &[RankRecord]) -> Option<BeyondRow> {
    let sum = records.iter().fold(BeyondRow::default(), |sum, record| BeyondRow {
        calls: sum.calls + record.beyond.calls,
        bytes: sum.bytes + record.beyond.bytes,
        seconds: sum.seconds + seconds(record.beyond.total_ns as f64),
    });
    (sum.calls > 0).then_some(sum)
}

fn played(records: &[RankRecord]) -> Option<PlayedRow> {
    let sum = records.iter().map(|record| record.played).fold(PlayedRow::default(), |sum, played| PlayedRow {
        calls: sum.calls + played.calls,
        kept: sum.kept + played.kept,
        actions: sum.actions + played.actions,
    });
    (sum.calls > 0).then_some(sum)
}

fn cache(records: &[RankRecord]) -> Option<CacheRow> {
    let sum = records.iter().map(|record| record.cache).fold(CacheRow::default(), |sum, cache| CacheRow {
        most_bytes: sum.most_bytes.max(cache.most_bytes),
        bound: sum.bound.max(cache.bound),
        evicted: sum.evicted + cache.evicted,
        refused: sum.refused + cache.refused,
    });
    (sum.evicted + sum.refused > 0).then_some(sum)
}

/// What the elements of an event are, where that is known.
fn elements_of(record: &RankRecord, place: u16) -> Option<&ElementsRecord> {
    record.elements.get(usize::from(place)).filter(|_| place > 0)
}

/// What the elements of the events in the time line are.
fn used_elements(record: &RankRecord) -> impl Iterator<Item = &ElementsRecord> {
    record.events.iter().filter_map(|event| elements_of(record, event.elements))
}

fn elements_row(record: &ElementsRecord) -> ElementsRow {
    ElementsRow { datatype: record.datatype.clone(), operation: record.operation.clone() }
}

fn timeline(records: &[RankRecord], row_of: &RowOf, elements: &[&ElementsRecord]) -> Vec<TimelineRow> {
    let first = records.iter().flat_map(|record| &record.events).map(|event| event.enter_unix_ns).min().unwrap_or(0);
    let mut rows = Vec::new();
    for (number, record) in records.iter().enumerate() {
        for event in &record.events {
            // Cells may have been reset after the event; such an event belongs to no row.
            let row = row_of.get(number, event.communicator as usize, event.cell as usize);
            let Some(row) = row else { continue };
            rows.push(TimelineRow {
                rank: record.rank,
                thread: u32::from(event.thread),
                row,
                enter_seconds: seconds((event.enter_unix_ns - first) as f64),
                seconds: seconds(event.duration_ns as f64),
                bytes: event.bytes,
                root: u32::try_from(event.root).ok(),
                elements: elements_of(record, event.elements).and_then(|known| elements.binary_search(&known).ok()),
            });
        }
    }
    rows.sort_by(|left, right| left.rank.cmp(&right.rank).then(left.enter_seconds.total_cmp(&right.enter_seconds)));
    rows
}

#[cfg(test)]
mod tests {
    use super::super::durations::step;
    use super::*;
    use crate::algorithm::Operation;
    use crate::monitor::{Bucket, CellRecord, Event, Function, JobRecord, LateRecord, Verdict};

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
            durations: [(step(ns) as u16, calls as u32)].into_iter().collect(),
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
        assert_eq!((row.p50_seconds, row.p99_seconds, row.max_seconds), (1.008e-6, 3e-6, 3e-6));
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

    #[test]
    fn epochs_of_all_ranks_become_one_comparison() {
        let epochs = |slower: u64| EpochsRecord {
            function: Function::from(Operation::Allreduce),
            bucket: Bucket::of(8),
            epochs: (0..20)
                .map(|epoch| (epoch, 10, (if Epochs::is_native(epoch) { 2000 } else { 1000 }) + slower))
                .collect(),
        };
        let records = [0, 1].map(|number| {
            let mut record = rank(number, vec![cell(200, 150)]);
            record.communicators[1].epochs.push(epochs(u64::from(number) * 1000));
            record
        });
        let summary = merge(records.to_vec());
        let [row] = summary.comparisons.as_slice() else { panic!("one comparison") };
        assert_eq!((row.calls, row.result.native_epochs, row.result.collie_epochs), (200, 10, 10));
        // Rank 1 is the slowest: 300 ns and 200 ns a call.
        assert_eq!((row.result.native_median_seconds, row.result.collie_median_seconds), (3e-7, 2e-7));
        assert_eq!(row.result.verdict, Verdict::Faster);
        assert!((row.saved_seconds - 200.0 * 1e-7).abs() < 1e-12);
    }

    #[test]
    fn lateness_traffic_and_events_find_their_places() {
        let mut records = [rank(0, vec![cell(0, 0), cell(1, 500)]), rank(1, vec![cell(0, 0), cell(1, 500)])];
        records[0].communicators[1].late = vec![LateRecord { rank: 1, calls: 3, waited_ns: 2000 }];
        records[1].traffic = vec![TrafficRecord { to: 0, messages: 2, bytes: 64 }];
        for (record, enter_unix_ns) in records.iter_mut().zip([5000, 4000]) {
            let event = Event {
                enter_unix_ns,
                duration_ns: 500,
                bytes: 8,
                communicator: 1,
                cell: 1,
                root: -1,
                thread: 0,
                elements: 0,
            };
            record.events = vec![event, Event { communicator: 9, ..event }];
        }
        let summary = merge(records.to_vec());
        assert_eq!(summary.late, [LateRow { communicator: 0, rank: 1, calls: 3, waited_seconds: 2e-6 }]);
        assert_eq!(summary.traffic, [TrafficRow { from: 1, to: 0, messages: 2, bytes: 64, on_node: false }]);
        let entered: Vec<(u32, f64, usize)> =
            summary.timeline.iter().map(|row| (row.rank, row.enter_seconds, row.row)).collect();
        assert_eq!(entered, [(0, 1e-6, 0), (1, 0.0, 0)]);
    }
}
