//! Fixed runs, made of rank records as the library hands them in.

use crate::monitor::{
    Bucket, CacheRecord, ClockRecord, Collective, CommunicatorRecord, DifferenceRecord, ElementsRecord, EpochsRecord,
    Event, FoldKind, Form, Function, GapRecord, JobRecord, Key, LateRecord, LearnedKey, LearnedRecord, LimitsRecord,
    LinkRecord, MessageCall, MessageRecord, NetworkRecord, RankRecord, RegionRecord, SiteRecord, Summary, Table,
    TrafficRecord, TriedRecord, merge,
};
use crate::operation::Operation;

const RANKS: u32 = 8;
const START_UNIX_NS: u64 = 1_700_000_000_000_000_000;

/// (function, bytes, algorithm, decided by, calls, nanoseconds).
type Calls = (Function, u64, &'static str, &'static str, u64, u64);

fn world_calls() -> Vec<Calls> {
    let blocking = Function::blocking;
    let started = Function { collective: Collective::Alltoall, form: Form::Nonblocking };
    let waited = Function { form: Form::NonblockingWait, ..started };
    vec![
        (blocking(Collective::Allreduce), 8, "recursive_doubling", "default one_node.rules:4", 5000, 2_300),
        (blocking(Collective::Allreduce), 4096, "recursive_doubling", "default one_node.rules:4", 1200, 9_100),
        (blocking(Collective::Allreduce), 1 << 20, "segmented_ring:segment=128K", "site.rules:12", 400, 1_150_000),
        (blocking(Collective::Bcast), 64, "binomial:segment=none", "forced", 800, 1_900),
        (blocking(Collective::Bcast), 3 << 19, "pipeline:segment=128K", "forced", 150, 820_000),
        (blocking(Collective::Reduce), 24, "native", "fallback: operation is not commutative", 90, 4_400),
        (blocking(Collective::Allgather), 512, "bruck", "default one_node.rules:9", 300, 6_000),
        (blocking(Collective::Barrier), 0, "dissemination", "default one_node.rules:1", 64, 3_100),
        (blocking(Collective::Alltoall), 2048, "native", "observed only", 210, 21_000),
        (started, 2048, "native", "observed only", 40, 1_200),
        (waited, 2048, "native", "observed only", 40, 64_000),
        (blocking(Collective::Gather), 100, "native", "fallback: device memory", 12, 30_000),
        (blocking(Collective::Scan), 8, "native", "observed only", 5, 5_000),
    ]
}

fn row_calls() -> Vec<Calls> {
    vec![
        (Function::blocking(Collective::Bcast), 32 << 10, "knomial:radix=4", "site.rules:14", 600, 17_000),
        (Function::blocking(Collective::Reduce), 32 << 10, "binomial:segment=none", "site.rules:15", 600, 24_000),
    ]
}

/// Records of `calls`; durations spread from half to twice the time, and rank 5 takes a third longer.
fn counters(table: &mut Table, rank: u32, calls: &[Calls]) {
    for &(function, bytes, algorithm, decided_by, number, ns) in calls {
        let key = Key {
            function,
            bucket: Bucket::of(bytes),
            algorithm: table.label(algorithm),
            decided_by: table.label(decided_by),
        };
        let counter = table.counter(key);
        for call in 0..number {
            let spread = 50 + (call * 37 + u64::from(rank) * 11) % 100;
            let tail = if call % 97 == 96 { 12 } else { 1 };
            let ns = ns * spread / 100 * tail * if rank == 5 { 4 } else { 3 } / 3;
            table.record(counter, bytes, ns);
            if function.form == Form::Blocking {
                table.waited(counter, if rank == 5 { 0 } else { ns / 4 });
            }
        }
    }
}

fn record(rank: u32, mode: &str, sync: &str) -> RankRecord {
    let (mut world, mut row) = (Table::new(), Table::new());
    counters(&mut world, rank, &world_calls());
    counters(&mut row, rank, &row_calls());
    let (first, members) = if rank < 4 { (0, vec![0, 1, 2, 3]) } else { (4, vec![4, 5, 6, 7]) };
    let world = CommunicatorRecord {
        identity: "world".into(),
        name: Some("MPI_COMM_WORLD".into()),
        size: RANKS,
        rank,
        members: if rank == 0 { (0..RANKS).collect() } else { Vec::new() },
        counters: world.records(1.0),
        ..CommunicatorRecord::default()
    };
    let row = CommunicatorRecord {
        identity: format!("world/1.{first}"),
        name: (rank < 4).then(|| "rows of the <grid>".into()),
        made_by: "MPI_Comm_split".into(),
        parent: "world".into(),
        size: 4,
        rank: rank - first,
        members: if rank == first { members } else { Vec::new() },
        counters: row.records(1.0),
        ..CommunicatorRecord::default()
    };
    RankRecord {
        rank,
        host: if rank < 4 { "node-a" } else { "node-b" }.into(),
        pid: 4000 + rank,
        oversubscribed: false,
        started_unix_ns: START_UNIX_NS,
        ended_unix_ns: START_UNIX_NS + 2_500_000_000,
        run_ns: 2_500_000_000,
        overhead_ns_per_call: 43.0,
        dropped_events: 0,
        job: (rank == 0).then(|| JobRecord {
            collie_version: "0.1.0".into(),
            mpi_library: "Open MPI v4.1.4".into(),
            command: "./stencil --grid 4096 --steps 400".into(),
            mode: mode.into(),
            limits: (mode == "replace").then(|| LimitsRecord {
                bytes: vec![4032],
                longest: vec![8064],
                ways: vec!["both".into()],
                measured_seconds: Some(0.0047),
                measured_with: Some(3),
            }),
            network: (mode == "verify").then_some(NetworkRecord {
                within_node: Some(LinkRecord {
                    rank: 1,
                    start_up_seconds: Some(4.12e-7),
                    seconds_per_byte: Some(8.93e-11),
                }),
                between_nodes: Some(LinkRecord { rank: 4, start_up_seconds: None, seconds_per_byte: None }),
                measured_seconds: 0.0123,
            }),
            reproducible: mode == "learn",
            sync: sync.into(),
            ranks: RANKS,
            id: "node-a 4000".into(),
        }),
        communicators: vec![world, row],
        ..RankRecord::default()
    }
}

fn records(mode: &str, sync: &str) -> Vec<RankRecord> {
    (0..RANKS).map(|rank| record(rank, mode, sync)).collect()
}

/// What was kept of calls, with little room for it.
fn short_of_room() -> CacheRecord {
    CacheRecord { most_bytes: 130_944, bound: 131_072, evicted: 1_504, refused: 2 }
}

/// Only what is always there.
pub fn plain() -> Summary {
    let mut summary = merge(records("replace", ""));
    summary.overhead.finalize_seconds = Some(0.0041);
    summary
}

fn counted(call: MessageCall, calls: u64, bytes: u64, total_ns: u64) -> MessageRecord {
    MessageRecord { call: call as u8, calls, bytes, total_ns }
}

/// A run with windows and files.
pub fn windows_and_files() -> Summary {
    let mut records = records("replace", "");
    for record in &mut records {
        let more = 1_000_000 * u64::from(record.rank);
        record.messages = Some(vec![
            counted(MessageCall::Waitall, 1000, 0, 130_000_000 + 9 * more),
            counted(MessageCall::Put, 20_000, 160_000, 7_000_000),
            counted(MessageCall::WinFence, 400, 0, 61_000_000 + more),
            counted(MessageCall::FileOpen, 1, 0, 3_000_000),
            counted(MessageCall::FileWriteAtAll, 4, 64 << 20, 410_000_000 - more),
        ]);
    }
    merge(records)
}

/// Records with traffic, late ranks and events, waiting told apart.
pub fn full_records() -> Vec<RankRecord> {
    let mut records = records("replace", "clock");
    for record in &mut records {
        let rank = record.rank;
        let sent = |distance: u32| TrafficRecord {
            to: (rank + distance) % RANKS,
            messages: u64::from(400 / distance),
            bytes: u64::from(40_000_000 / distance.pow(3)),
        };
        record.traffic = vec![sent(1), sent(2), sent(4)];
        record.shared_traffic = vec![TrafficRecord { to: (rank + 1) % RANKS, messages: 1200, bytes: 9600 }];
        record.native_traffic = vec![TrafficRecord { to: (rank + 3) % RANKS, messages: 210, bytes: 430_080 }];
        record.native_collectives = vec![TrafficRecord { to: (rank + 1) % RANKS, messages: 90, bytes: 2160 }];
        record.events = events(rank);
        record.elements = [("", ""), ("MPI_DOUBLE", "MPI_SUM"), ("MPI_BYTE", "")]
            .map(|(datatype, operation)| ElementsRecord { datatype: datatype.into(), operation: operation.into() })
            .to_vec();
        record.messages = Some(vec![
            counted(MessageCall::Isend, 4000, 64 << 20, 2_100_000),
            counted(MessageCall::Irecv, 4000, 0, 900_000),
            counted(MessageCall::Waitall, 1000, 0, 130_000_000 + 9_000_000 * u64::from(rank)),
        ]);
        let region = |name: &str, entries: u64, total_ns: u64, collective_ns: u64| RegionRecord {
            name: name.into(),
            entries,
            total_ns: total_ns + 1_000_000 * u64::from(rank),
            calls: 10 * entries,
            collective_ns,
            message_ns: collective_ns / 4,
        };
        record.regions =
            vec![region("time step", 400, 2_000_000_000, 600_000_000), region("output", 4, 90_000_000, 9_000_000)];
        let site = |address: u64, collective: Collective, calls: u64, total_ns: u64| SiteRecord {
            module: "/home/me/stencil".into(),
            address,
            function: Function::blocking(collective),
            calls,
            bytes: 8 * calls,
            total_ns,
            max_ns: total_ns / calls * 3,
        };
        record.sites = vec![
            site(0x1200, Collective::Allreduce, 5000, 13_000_000),
            site(0x12f4, Collective::Allreduce, 400, 530_000_000),
            site(0x1420, Collective::Bcast, 150, 137_000_000),
        ];
        record.dropped_events = u64::from(rank) * 10;
        record.cache = short_of_room();
        let gap = GapRecord {
            from_unix_ns: START_UNIX_NS + 1_004_000_000,
            to_unix_ns: START_UNIX_NS + 1_005_000_000,
            calls: u64::from(rank) * 10,
        };
        record.gap = (rank > 0).then_some(gap);
    }
    records[3].clock = Some(ClockRecord { points: 4, error_ns: 1_400, round_trip_ns: 2_800 });
    let world = &mut records[0].communicators[0];
    (world.compared_calls, world.comparable_calls) = (4096 - 16, 8192 - 31);
    world.late = (0..RANKS)
        .map(|rank| match rank {
            // Late often and short; late rarely and long.
            5 => LateRecord { rank, calls: 3030, waited_ns: 91_000_000 },
            2 => LateRecord { rank, calls: 41, waited_ns: 640_000_000 },
            rank => LateRecord { rank, calls: 150, waited_ns: 7_000_000 },
        })
        .collect();
    records
}

fn events(rank: u32) -> Vec<Event> {
    let mut enter_unix_ns = START_UNIX_NS + 1_000_000_000 + u64::from(rank) * 40_000;
    (0..24u32)
        .map(|call| {
            let (communicator, counter) = if call % 6 == 5 { (1, call / 6 % 2) } else { (0, call * 5 % 9) };
            let duration_ns = 60_000 + u64::from(call * 7919 % 13) * 45_000 + if rank == 5 { 0 } else { 90_000 };
            let event = Event {
                enter_unix_ns,
                duration_ns,
                bytes: u64::from(8 + call * 4),
                communicator,
                counter,
                root: if call % 3 == 0 { 0 } else { -1 },
                thread: 0,
                elements: (counter.min(1) + 1) as u16,
            };
            enter_unix_ns += duration_ns + 150_000 + if rank == 5 { 90_000 } else { 0 };
            event
        })
        .collect()
}

/// Everything that a run in mode `replace` can have.
pub fn full() -> Summary {
    merge(full_records())
}

/// What was learned while the program ran.
pub fn learned() -> Summary {
    let mut records = records("learn", "");
    let cells = [
        (Operation::Allreduce, 4096, [("recursive_doubling", 1_470), ("ring", 990)], 1_030),
        (Operation::Bcast, 64, [("binomial:segment=none", 2_000), ("pipeline:segment=64K", 0)], 1_900),
    ];
    for (place, (operation, bytes, [default, other], native)) in cells.into_iter().enumerate() {
        let tried = |algorithm: &str, calls, ns| TriedRecord { algorithm: algorithm.into(), calls, ns };
        records[0].learned.push(LearnedRecord {
            key: LearnedKey {
                ranks: 8,
                nodes: 2,
                most_on_node: 4,
                oversubscribed: false,
                shared_memory: false,
                function: operation.into(),
                bucket: Bucket::of(bytes),
                commutative: true,
                reduce_local: false,
                units_per_rank: 4,
            },
            candidates: vec![
                tried(default.0, 300, default.1),
                tried("native", 30, native),
                tried(other.0, if place == 0 { 9_000 } else { 0 }, other.1),
            ],
            incumbent: if place == 0 { 2 } else { 0 },
            won: place == 0,
            is_measured: true,
            rests_on: (0, 9_330),
            calls: 9_330,
            tried_calls: 57,
            spent_ns: 41_000,
            saved_ns: if place == 0 { 4_300_000 } else { 0 },
            saved_fastest_ns: if place == 0 { -20_000 } else { 0 },
        });
    }
    merge(records)
}

/// Native and ours in turns.
pub fn compared() -> Summary {
    merge(with_epochs(records("compare", "")))
}

/// Everything at once.
pub fn full_and_compared() -> Summary {
    merge(with_epochs(full_records()))
}

fn with_epochs(mut records: Vec<RankRecord>) -> Vec<RankRecord> {
    let counters = [(Collective::Allreduce, 1 << 20, 1_400_000, 900_000), (Collective::Bcast, 64, 2_000, 2_600)];
    let alike = [(Collective::Allgather, 512, 6_000, 6_010), (Collective::Barrier, 0, 3_000, 2_000)];
    for record in &mut records {
        record.cache = short_of_room();
        for (place, (collective, bytes, native, collie)) in counters.into_iter().chain(alike).enumerate() {
            let epochs = if place == 3 { 6 } else { 40 };
            let epoch = |epoch: u32| {
                let base = if epoch.is_multiple_of(2) { native } else { collie };
                let noise = u64::from((epoch * 7919 + record.rank * 31) % 101);
                (epoch, 10, 10 * (base + base * noise / 1000))
            };
            let epochs = EpochsRecord {
                function: Function::blocking(collective),
                bucket: Bucket::of(bytes),
                kind: FoldKind::USUAL,
                halvings: 0,
                epochs: (0..epochs).map(epoch).collect(),
            };
            record.communicators[0].epochs.push(epochs);
        }
    }
    records
}

/// Results against the native ones, five of them wrong.
pub fn verified() -> Summary {
    let mut records = records("verify", "");
    for record in &mut records {
        record.communicators[0].verified_calls = 8000;
    }
    // Of more than are kept.
    records[3].communicators[0].differing_calls = 25;
    records[3].communicators[0].differences = (0..5)
        .map(|call| DifferenceRecord {
            function: Function::blocking(Collective::Allreduce),
            call: 17 + call,
            passed: "8192 MPI_DOUBLE, MPI_SUM".into(),
            algorithm: "segmented_ring:segment=128K".into(),
            element: 4096,
            native: "1.5".into(),
            ours: "1.25".into(),
        })
        .collect();
    merge(records)
}
