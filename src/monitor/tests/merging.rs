//! Merging in any grouping, and within bounds.

use crate::monitor::bounds::Bounds;
use crate::monitor::durations::{STEPS, step};
use crate::monitor::merged::{KINDS_OF_TRAFFIC, Merged};
use crate::monitor::parts::{EpochsPart, EventPart, LatePart, RankPart, RowPart, TrafficPart};
use crate::monitor::{
    Bucket, CacheRecord, ClockRecord, Collective, CommunicatorRecord, CounterRecord, DifferenceRecord, ElementsRecord,
    EpochsRecord, Event, FoldKind, Function, JobRecord, LateRecord, OverflowRecord, PlayedRecord, RankRecord,
    TrafficRecord, gathering,
};
use proptest::prelude::*;

const WIDE: Bounds = Bounds::REPORT;

fn counter(seed: u64, kind: u64) -> CounterRecord {
    let calls = seed % 5;
    let ns = 100 + seed * 37 % 9000;
    CounterRecord {
        function: Function::blocking(Collective::ALL[(kind % 5) as usize]),
        bucket: Bucket::of(1 << (kind % 3)),
        algorithm: ["ring", "native"][(kind / 3 % 2) as usize].into(),
        decided_by: format!("rule {}", kind / 7).into(),
        calls,
        bytes: 8 * calls,
        total_ns: ns * calls,
        min_ns: ns / 2,
        max_ns: ns,
        waiting_ns: (kind > 0).then_some(ns / 3),
        durations: [(step(ns) as u16, calls as u32)].into_iter().collect(),
    }
}

/// A record with something of everything, which differs from rank to rank.
fn record(rank: u32, seed: u64) -> RankRecord {
    let mix = |salt: u64| (seed ^ u64::from(rank) << 7 ^ salt).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    let communicator = |number: u64| CommunicatorRecord {
        identity: format!("world/{}", (u64::from(rank) / 2 + number) % 4),
        name: (mix(number) % 3 == 0).then(|| format!("name {}", mix(number) % 5)),
        made_by: format!("by {rank}"),
        size: rank + 1,
        members: if mix(number + 9) % 3 == 0 { (0..=rank).collect() } else { Vec::new() },
        counters: (0..mix(number + 1) % 6).map(|place| counter(mix(place), place * 3 + mix(number) % 4)).collect(),
        epochs: vec![EpochsRecord {
            function: Function::blocking(Collective::Bcast),
            bucket: Bucket(4),
            kind: FoldKind { in_order: mix(number + 7) % 2 == 1, locally: mix(number + 8) % 2 == 1 },
            halvings: 0,
            epochs: (0..12).filter(|epoch| mix(u64::from(*epoch)) % 4 > 0).map(|epoch| (epoch, 3, mix(77))).collect(),
        }],
        late: vec![LateRecord { rank, calls: mix(5) % 9, waited_ns: mix(6) }],
        compared_calls: mix(3) % 2 * u64::from(rank),
        comparable_calls: mix(3) % 2 * 70,
        verified_calls: mix(4) % 10,
        failed_calls: mix(4) % 2,
        rounded_calls: mix(4) % 7,
        unjudged_calls: mix(4) % 3,
        near_calls: mix(4) % 4,
        differing_calls: 1 + mix(4) % 5,
        verifying_ns: mix(4) % 1000,
        differences: vec![DifferenceRecord {
            function: Function::blocking(Collective::Scan),
            call: mix(8),
            passed: "1 MPI_INT".into(),
            algorithm: "ring".into(),
            element: 1,
            native: "1".into(),
            ours: "2".into(),
        }],
        ..CommunicatorRecord::default()
    };
    let sent = |salt| vec![TrafficRecord { to: rank + 1, messages: 1 + mix(salt), bytes: mix(salt + 1) }];
    RankRecord {
        rank,
        host: format!("node {}", rank / 3),
        pid: rank,
        oversubscribed: mix(9) % 2 == 0,
        started_unix_ns: 1 << 60 | mix(10),
        run_ns: 1_000_000 + mix(11),
        overhead_ns_per_call: mix(12) as f64 / 7.0,
        dropped_events: mix(13),
        job: (rank == 0).then(|| JobRecord { mode: "verify".into(), sync: "clock".into(), ..JobRecord::default() }),
        communicators: (0..3).filter(|number| mix(*number) % 5 > 0).map(communicator).collect(),
        traffic: sent(20),
        shared_traffic: sent(21),
        native_traffic: sent(22),
        native_collectives: sent(24),
        clock: (mix(30) % 2 == 0).then(|| ClockRecord { points: 1, error_ns: mix(31), round_trip_ns: mix(32) }),
        events: (0..mix(40) % 8)
            .map(|number| Event {
                enter_unix_ns: 1 << 60 | mix(41 + number),
                duration_ns: mix(42),
                bytes: 8,
                communicator: (number % 3) as u32,
                counter: (number % 4) as u32,
                root: -1,
                thread: 0,
                elements: (number % 3) as u16,
            })
            .collect(),
        elements: ["", "MPI_INT", &format!("own of {}", rank / 2)]
            .map(|datatype| ElementsRecord { datatype: datatype.into(), operation: String::new() })
            .to_vec(),
        overflow: OverflowRecord { calls: mix(50) % 3, bytes: 9, total_ns: mix(51) },
        played: PlayedRecord { calls: mix(52), kept: 3, actions: mix(53) },
        cache: CacheRecord { most_bytes: mix(54), bound: 9, evicted: mix(55), refused: 1 },
        ..RankRecord::default()
    }
}

fn one_by_one(parts: Vec<Merged>, bounds: &Bounds) -> Merged {
    let join = |mut all: Merged, part| {
        all.add(part, bounds);
        all
    };
    parts.into_iter().reduce(join).unwrap_or_default()
}

/// Neighbours joined in an order that `choices` picks.
fn in_groups(mut parts: Vec<Merged>, choices: &[usize], bounds: &Bounds) -> Merged {
    let mut choices = choices.iter().cycle();
    while parts.len() > 1 {
        let place = choices.next().unwrap_or(&0) % (parts.len() - 1);
        let after = parts.remove(place + 1);
        // As it travels.
        parts[place].add(Merged::decode(&after.encode()).unwrap(), bounds);
    }
    parts.pop().unwrap_or_default()
}

proptest! {
    #[test]
    fn however_ranks_are_grouped_the_summary_is_the_same(
        ranks in 1..20u32, seed: u64, choices in prop::collection::vec(0..20usize, 20),
    ) {
        let parts = || (0..ranks).map(|rank| Merged::of(record(rank, seed), &WIDE)).collect::<Vec<_>>();
        let flat = one_by_one(parts(), &WIDE).finish();
        prop_assert_eq!(flat.ranks, ranks);
        prop_assert_eq!(&flat, &in_groups(parts(), &choices, &WIDE).finish());
        prop_assert_eq!(&flat, &crate::monitor::merge((0..ranks).rev().map(|rank| record(rank, seed)).collect()));
    }

    #[test]
    fn bounds_keep_the_same_however_ranks_are_grouped(
        ranks in 1..20u32, seed: u64, choices in prop::collection::vec(0..20usize, 20),
    ) {
        // Rows of several ranks grow together, so only what is each rank's own is bounded here.
        let tight = Bounds { events: 7, traffic: 3, differences: 4, ..WIDE };
        let parts = || (0..ranks).map(|rank| Merged::of(record(rank, seed), &tight)).collect::<Vec<_>>();
        let flat = one_by_one(parts(), &tight).finish();
        prop_assert!(flat.timeline.len() <= 7 && flat.traffic.len() <= 3);
        prop_assert_eq!(&flat, &in_groups(parts(), &choices, &tight).finish());
        let all = crate::monitor::merge((0..ranks).map(|rank| record(rank, seed)).collect());
        let left_out = flat.left_out.unwrap_or_default();
        prop_assert_eq!(left_out.events as usize, all.timeline.len() - flat.timeline.len());
        let missing = |summary: &crate::monitor::Summary| summary.timeline_gaps.iter().map(|gap| gap.calls).sum::<u64>();
        prop_assert_eq!(missing(&flat), missing(&all) + left_out.events);
        let all_pairs = |summary: &crate::monitor::Summary| {
            let kinds =
                [&summary.traffic, &summary.shared_traffic, &summary.native_traffic, &summary.native_collectives];
            kinds.map(Vec::len).iter().sum::<usize>()
        };
        prop_assert_eq!(left_out.traffic as usize, all_pairs(&all) - all_pairs(&flat));
    }
}

#[test]
fn of_too_many_calls_each_rank_keeps_its_first_its_slowest_and_its_last() {
    let tight = Bounds { events: 12, ..WIDE };
    const BEGIN: u64 = (1 << 60) + (1 << 30);
    let of_rank = |rank: u32| {
        let event = |number: u64| Event {
            enter_unix_ns: BEGIN + number * 1000,
            duration_ns: if number == 17 { 900 } else { 10 },
            bytes: 8,
            communicator: 0,
            counter: 0,
            root: -1,
            thread: 0,
            elements: 0,
        };
        let world = CommunicatorRecord {
            identity: "world".into(),
            counters: vec![CounterRecord { calls: 40, ..counter(1, 1) }],
            ..CommunicatorRecord::default()
        };
        let events = (0..40).map(event).collect();
        RankRecord { communicators: vec![world], started_unix_ns: BEGIN, events, ..record(rank, 5) }
    };
    let parts: Vec<Merged> = (0..4).map(|rank| Merged::of(of_rank(rank), &tight)).collect();
    let summary = in_groups(parts, &[1, 0, 2], &tight).finish();
    for rank in 0..4 {
        let own = summary.timeline.iter().filter(|call| call.rank == rank);
        let numbers: Vec<i64> = own.map(|call| (call.enter_seconds * 1e6).round() as i64).collect();
        assert_eq!(numbers, [0, 17, 39]);
        let gap = summary.timeline_gaps.iter().find(|gap| gap.rank == rank).unwrap();
        let nanoseconds = |seconds: f64| (seconds * 1e9).round() as i64;
        assert_eq!((gap.calls, nanoseconds(gap.from_seconds), nanoseconds(gap.to_seconds)), (37, 1000, 38_010));
    }
}

#[test]
fn too_many_rows_leave_those_with_most_time_and_say_so() {
    let tight = Bounds { rows: 5, members: 10, late: 3, comparisons: 2, ..WIDE };
    let parts = (0..40).map(|rank| Merged::of(record(rank, 11), &tight)).collect();
    let summary = in_groups(parts, &[0, 1, 2], &tight).finish();
    let whole = crate::monitor::merge((0..40).map(|rank| record(rank, 11)).collect());
    assert_eq!(summary.rows.len(), 5);
    let left_out = summary.left_out.unwrap();
    assert!(left_out.rows > 0 && left_out.members > 0 && left_out.late > 0 && left_out.comparisons > 0);
    let calls = |rows: &[crate::monitor::Row]| rows.iter().map(|row| row.calls_all_ranks).sum::<u64>();
    assert_eq!(calls(&summary.rows) + left_out.calls, calls(&whole.rows));
    assert_eq!(summary.per_rank, whole.per_rank, "the ranks' totals hold everything");
    for call in &summary.timeline {
        assert!(call.row < 5);
    }
    for row in &summary.rows {
        let communicator = &summary.communicators[row.communicator];
        assert!(whole.communicators.iter().any(|known| known.identity == communicator.identity));
    }
}

#[test]
fn sums_of_many_ranks_for_days_do_not_wrap() {
    let mut all = Merged::of(record(1, 3), &WIDE);
    all.ranks = vec![RankPart { run_ns: u64::MAX / 4, total_ns: u64::MAX / 4, ..all.ranks[0].clone() }; 16];
    let row = RowPart { total_ns: u128::from(u64::MAX), ..all.rows[0].clone() };
    all.rows = vec![row];
    all.events.clear();
    all.add(all.clone(), &WIDE);
    let summary = all.finish();
    assert!(summary.run_seconds > 4e9 && summary.rows[0].total_seconds.mean > 1e9);
}

/// Bytes in memory of what may be that many at worst; texts apart.
fn most_bytes(bounds: &Bounds, ranks: usize) -> [usize; 4] {
    let row = size_of::<RowPart>() + STEPS * size_of::<(u16, u64)>();
    let epochs = size_of::<EpochsPart>() + 512 * size_of::<(u32, f64)>();
    [
        ranks * (size_of::<RankPart>() + 64),
        bounds.rows * row,
        bounds.events * size_of::<EventPart>() + KINDS_OF_TRAFFIC * bounds.traffic * size_of::<TrafficPart>(),
        bounds.comparisons * epochs + bounds.late * size_of::<LatePart>() + bounds.members * size_of::<u32>(),
    ]
}

#[test]
fn the_memory_of_rank_0_is_as_said() {
    let mebi = |bytes: usize| bytes.div_ceil(1 << 20);
    let worst = most_bytes(&WIDE, 65_536);
    println!("{:?} MiB", worst.map(mebi));
    assert!(mebi(worst.iter().sum()) < 1024, "{worst:?}");
    // A hundred different rows, all other bounds met: what most large programs come to.
    let usual = most_bytes(&Bounds { rows: 100, comparisons: 100, ..WIDE }, 65_536);
    println!("{:?} MiB", usual.map(mebi));
    assert!(mebi(usual.iter().sum()) < 256, "{usual:?}");
    // What travels to rank 0 of 65,536 ranks with 10,000 rows each: not the 65,536-fold.
    assert_eq!(gathering::children(0, 65_536).count(), 16);
}
