//! A report of any number of rows and ranks, the same each time.

use serde_json::{Value, json};

const FUNCTIONS: [(&str, &[&str]); 14] = [
    ("MPI_Allreduce", &["recursive_doubling", "segmented_ring:segment=128K", "native"]),
    ("MPI_Bcast", &["binomial:segment=none", "pipeline:segment=128K"]),
    ("MPI_Reduce", &["linear", "binomial:segment=none"]),
    ("MPI_Allgather", &["ring", "bruck"]),
    ("MPI_Barrier", &["dissemination"]),
    ("MPI_Alltoall", &["pairwise", "bruck:radix=2"]),
    ("MPI_Alltoallv", &["native"]),
    ("MPI_Gather", &["linear"]),
    ("MPI_Scatter", &["linear"]),
    ("MPI_Iallreduce", &["native"]),
    ("MPI_Iallreduce (wait)", &["native"]),
    ("MPI_Scan", &["native"]),
    ("MPI_Reduce_scatter", &["native"]),
    ("MPI_Allgatherv", &["native"]),
];

/// Numbers without a pattern.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// Such a report.
pub fn report(rows: usize, ranks: u32) -> Value {
    let mut numbers = Numbers(1);
    let communicators: Vec<Value> = (0..1 + rows / 30).map(|place| communicator(place, ranks)).collect();
    let rows: Vec<Value> = (0..rows)
        .map(|place| {
            let (function, algorithms) = FUNCTIONS[numbers.below(FUNCTIONS.len() as u64) as usize];
            let algorithm = algorithms[numbers.below(algorithms.len() as u64) as usize];
            let communicator = if place < 20 { 0 } else { numbers.below(communicators.len() as u64) as usize };
            row(&mut numbers, place, function, algorithm, communicator, ranks)
        })
        .collect();
    let per_rank = (0..ranks).map(|rank| {
        json!({ "rank": rank, "host": format!("node-{}", rank / 8), "pid": 4000 + rank, "run_seconds": 10.0,
                "collective_seconds": 3.0 + f64::from(rank % 7) / 10.0, "waiting_seconds": 0.5, "message_seconds": 1.5, "calls": 10_000, "bytes": 1 << 20 })
    });
    let sent = |rank: u32, distance: u32| json!({ "from": rank, "to": (rank + distance) % ranks, "messages": 400, "bytes": 40_000_000 / distance.pow(2), "on_node": distance < 8 });
    let late = (0..ranks).map(|rank| json!({ "communicator": 0, "rank": rank, "calls": 7 * rank + 1, "waited_seconds": 5.0 / f64::from(rank + 1) }));
    let call = |rank: u32, call: u32| json!({ "rank": rank, "thread": 0, "row": (rank + call) % 20, "enter_seconds": 0.1 * f64::from(call), "seconds": 0.03, "bytes": 8 });
    json!({
        "schema_version": 2, "collie_version": "0.1.0", "mpi_library": "MPICH Version:\t4.0.2", "command": "./stencil --grid 4096",
        "mode": "replace", "sync": "clock", "started_unix_seconds": 1.7e9, "ranks": ranks, "nodes": ranks.div_ceil(8), "run_seconds": 10.0,
        "collective_seconds": { "min": 3.0, "min_rank": 0, "mean": 3.3, "max": 3.6, "max_rank": ranks.min(6) }, "collective_share": 0.33,
        "communicators": communicators, "rows": rows, "per_rank": per_rank.collect::<Vec<_>>(),
        "overhead": { "nanoseconds_per_call": 43.0, "seconds_per_rank": 0.01 },
        "clock": { "points": 1, "error_seconds": 0.0, "round_trip_seconds": 1e-6 }, "message_seconds": { "min": 1.5, "min_rank": 0, "mean": 1.5, "max": 1.5, "max_rank": 0 },
        "messages": [{ "function": "MPI_Waitall", "ranks": ranks, "calls_all_ranks": 9000, "bytes": 0, "all_ranks_seconds": 1.5 * f64::from(ranks),
                       "max_seconds": 1.5, "max_rank": 0 }],
        "late": late.collect::<Vec<_>>(),
        "traffic": (0..ranks).flat_map(|rank| [1, 2, 4].map(|distance| sent(rank, distance))).collect::<Vec<_>>(),
        "timeline": (0..ranks).flat_map(|rank| (0..50).map(move |place| call(rank, place))).collect::<Vec<_>>(),
        "timeline_gaps": [{ "rank": 0, "from_seconds": 5.0, "to_seconds": 6.0, "calls": 70 }], "dropped_events": 0
    })
}

fn communicator(place: usize, ranks: u32) -> Value {
    let half: Vec<u32> = (0..ranks).step_by(2).collect();
    match place {
        0 => json!({ "identity": "world", "name": "MPI_COMM_WORLD", "made_by": "", "parent": "", "size": ranks,
                     "members": (0..ranks).collect::<Vec<u32>>(), "compared_calls": 4000, "comparable_calls": 8000 }),
        // Names come twice.
        _ => {
            json!({ "identity": format!("world/{place}.0"), "name": place.is_multiple_of(3).then(|| format!("level {}", place / 6)),
                     "made_by": "MPI_Comm_split", "parent": "world", "size": half.len(), "members": half })
        }
    }
}

fn row(numbers: &mut Numbers, place: usize, function: &str, algorithm: &str, communicator: usize, ranks: u32) -> Value {
    let size = if communicator == 0 { ranks } else { ranks.div_ceil(2) };
    let (calls, bytes) = (1 + numbers.below(5000), 1u64 << numbers.below(22));
    let total = 2.0 / (place as f64 + 3.0) * (1.0 + numbers.below(100) as f64 / 1000.0);
    let mean = total / calls as f64;
    let decided_by =
        if algorithm == "native" { "observed only" } else { ["default one_node:16", "site.rules:12"][place % 2] };
    json!({
        "function": function, "communicator": communicator, "bytes_from": bytes, "bytes_to": 2 * bytes - 1, "algorithm": algorithm,
        "decided_by": decided_by, "ranks": size, "calls": calls, "calls_all_ranks": calls * u64::from(size), "bytes": bytes * calls,
        "total_seconds": { "min": 0.8 * total, "min_rank": 0, "mean": total, "max": 1.3 * total, "max_rank": 0 },
        "mean_seconds": mean, "min_seconds": mean / 2.0, "p50_seconds": mean, "p90_seconds": 2.0 * mean, "p99_seconds": 3.0 * mean,
        "max_seconds": 9.0 * mean, "share": total / 10.0, "waiting_seconds": total / 3.0,
        "durations": [[mean / 2.0, calls / 2], [mean * 2.0, calls - calls / 2]]
    })
}
