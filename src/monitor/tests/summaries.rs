//! What a summary says of ranks' records.

use crate::monitor::durations::step;
use crate::monitor::{
    Bucket, CommunicatorRecord, CounterRecord, Epochs, EpochsRecord, Event, FoldKind, Function, JobRecord, LateRecord,
    TrafficRecord,
};
use crate::monitor::{LateRow, RankRecord, Spread, TrafficRow, Verdict, merge};
use crate::operation::Operation;

fn counter(calls: u64, ns: u64) -> CounterRecord {
    CounterRecord {
        function: Operation::Allreduce.into(),
        bucket: Bucket::of(8),
        algorithm: "ring".into(),
        decided_by: "forced".into(),
        calls,
        bytes: 8 * calls,
        total_ns: ns * calls,
        min_ns: ns,
        max_ns: ns,
        waiting_ns: None,
        durations: [(step(ns) as u16, calls as u32)].into_iter().collect(),
    }
}

fn rank(rank: u32, counters: Vec<CounterRecord>) -> RankRecord {
    let world = CommunicatorRecord {
        identity: "world".into(),
        size: 2,
        rank,
        members: if rank == 0 { vec![0, 1] } else { Vec::new() },
        counters,
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
    let records = [rank(0, vec![counter(10, 1000)]), rank(1, vec![counter(10, 3000)])];
    let [first, second] = records.clone();
    assert_eq!(merge(records.to_vec()), merge(vec![second, first]));
}

#[test]
fn a_row_holds_all_ranks() {
    let summary = merge(vec![rank(0, vec![counter(10, 1000)]), rank(1, vec![counter(10, 3000)])]);
    assert_eq!((summary.ranks, summary.nodes, summary.mode.as_str()), (2, 2, "replace"));
    assert_eq!(summary.communicators.len(), 1, "a communicator without calls is left out");
    assert_eq!(summary.communicators[0].members, [0, 1]);
    let [row] = summary.rows.as_slice() else { panic!("one row, not {:?}", summary.rows) };
    assert_eq!((row.function.as_str(), row.ranks, row.calls, row.calls_all_ranks), ("MPI_Allreduce", 2, 10, 20));
    assert_eq!((row.bytes, row.bytes_from, row.bytes_to), (160, 8, 15));
    assert_eq!(row.total_seconds, Spread { min: 1e-5, min_rank: 0, mean: 2e-5, max: 3e-5, max_rank: 1 });
    assert_eq!((row.p50_seconds, row.p99_seconds, row.max_seconds), (1.008e-6, 3e-6, 3e-6));
    assert!((row.share - 0.02).abs() < 1e-12, "40 µs of 2 ms");
    assert_eq!(row.waiting_seconds, None);
    assert_eq!(summary.overhead.seconds_per_rank, 40.0 * 10.0 / 1e9);
}

/// Also of calls that are longer than the longest duration that is told apart.
#[test]
fn percentiles_lie_between_the_shortest_and_the_longest_call() {
    for ns in [7, 1_000, 1 << 47, 1 << 50] {
        for min_ns in [ns, ns - ns / 40] {
            let counter = CounterRecord { min_ns, max_ns: ns, ..counter(10, ns) };
            let summary = merge(vec![rank(0, vec![counter])]);
            let row = &summary.rows[0];
            for percentile in [row.p50_seconds, row.p90_seconds, row.p99_seconds] {
                assert!((row.min_seconds..=row.max_seconds).contains(&percentile), "{row:?}");
            }
        }
    }
}

/// Of a rank that forgot the first half, and one that recorded all the time.
#[test]
fn shares_are_of_what_was_recorded() {
    let part = RankRecord { recorded_ns: Some(500_000), ..rank(0, vec![counter(10, 1000)]) };
    let summary = merge(vec![part, rank(1, vec![counter(10, 2000)])]);
    assert_eq!((summary.run_seconds, summary.recorded_seconds), (1e-3, Some(0.75e-3)));
    assert!((summary.collective_share - 30.0 / 1500.0).abs() < 1e-12, "{}", summary.collective_share);
    assert!((summary.rows[0].share - 30.0 / 1500.0).abs() < 1e-12, "{}", summary.rows[0].share);
    let whole: Vec<_> = summary.per_rank.iter().map(|rank| (rank.recorded_seconds, rank.whole_seconds())).collect();
    assert_eq!(whole, [(Some(0.5e-3), 0.5e-3), (None, 1e-3)]);
}

#[test]
fn bytes_of_a_record_are_the_record() {
    let record = rank(0, vec![counter(10, 1000), counter(3, 17)]);
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
        kind: FoldKind::USUAL,
        halvings: 0,
        epochs: (0..20)
            .map(|epoch| (epoch, 10, (if Epochs::is_native(epoch) { 2000 } else { 1000 }) + slower))
            .collect(),
    };
    let records = [0, 1].map(|number| {
        let mut record = rank(number, vec![counter(200, 150)]);
        record.communicators[1].epochs.push(epochs(u64::from(number) * 1000));
        record
    });
    let summary = merge(records.to_vec());
    let [row] = summary.comparisons.as_slice() else { panic!("one comparison") };
    assert_eq!((row.calls, row.result.pairs), (200, 10));
    // Rank 1 is the slowest: 300 ns and 200 ns a call.
    assert_eq!((row.result.native_median_seconds, row.result.collie_median_seconds), (3e-7, 2e-7));
    assert_eq!(row.result.verdict, Verdict::Faster);
    assert!((row.saved_seconds.unwrap() - 200.0 * 1e-7).abs() < 1e-12);
}

#[test]
fn comparisons_are_in_the_order_of_what_is_certain_and_nothing_is_saved_without_a_verdict() {
    // Bytes, pairs, native and ours: a large difference that few and noisy pairs leave in doubt, the one that is
    // certain, a smaller one, no difference, and too few epochs of the longest calls.
    let counters = [(8, 4, 90_000, 10), (64, 40, 1000, 1010), (512, 40, 1000, 900), (4096, 40, 5000, 2500)];
    let record = counters.map(|(bytes, pairs, native, ours)| EpochsRecord {
        function: Function::from(Operation::Allreduce),
        bucket: Bucket::of(bytes),
        kind: FoldKind::USUAL,
        halvings: 0,
        epochs: (0..2 * pairs)
            .map(|epoch| {
                let noise = u64::from(u32::wrapping_mul(epoch + 3, 0x9e37_79b9) >> 23) * 2;
                (epoch, 10, if Epochs::is_native(epoch) { native * 10 } else { ours * 10 } + noise)
            })
            .collect(),
    });
    let mut all = rank(0, vec![counter(200, 150)]);
    all.communicators[1].epochs.extend(record);
    let summary = merge(vec![all]);
    let told: Vec<(u64, Verdict, bool)> = summary
        .comparisons
        .iter()
        .map(|row| (row.bytes_from, row.result.verdict, row.saved_seconds.is_some()))
        .collect();
    let expected = [
        (4096, Verdict::Faster, true),
        (512, Verdict::Faster, true),
        (64, Verdict::NoDifference, false),
        (8, Verdict::TooFewEpochs, false),
    ];
    assert_eq!(told, expected);
}

#[test]
fn lateness_traffic_and_events_find_their_places() {
    let mut records = [rank(0, vec![counter(0, 0), counter(1, 500)]), rank(1, vec![counter(0, 0), counter(1, 500)])];
    records[0].communicators[1].late = vec![LateRecord { rank: 1, calls: 3, waited_ns: 2000 }];
    records[1].traffic = vec![TrafficRecord { to: 0, messages: 2, bytes: 64 }];
    for (record, enter_unix_ns) in records.iter_mut().zip([5000, 4000]) {
        record.started_unix_ns = 1000;
        let event = Event {
            enter_unix_ns,
            duration_ns: 500,
            bytes: 8,
            communicator: 1,
            counter: 1,
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
    assert_eq!(entered, [(0, 4e-6, 0), (1, 3e-6, 0)], "since the start of the run");
}
