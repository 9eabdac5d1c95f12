//! What the report holds of programs whose every call is known, field by field.

use crate::mpi::{Family, Launch};
use crate::programs::accounted;
use crate::report::{self, Report};
use libtest_mimic::{Failed, Trial};
use serde_json::Value;

pub fn trials(family: &'static Family) -> Vec<Trial> {
    vec![
        Trial::test(format!("{}::records::c", family.name), move || of_c(family)),
        Trial::test(format!("{}::records::fortran", family.name), move || of_fortran(family)),
        Trial::test(format!("{}::records::every_call", family.name), move || every_call(family)),
        Trial::test(format!("{}::records::blocks_of_several_sizes", family.name), move || blocks(family)),
        Trial::test(format!("{}::records::some_of_many_calls", family.name), move || some_calls(family)),
    ]
}

/// What default tables choose is theirs to say, and depends on the cores.
const ANY: &str = "";

/// The fields of one row that are known beforehand.
struct Known {
    function: &'static str,
    /// The communicator's name and size.
    on: (&'static str, u64),
    bytes: (u64, u64),
    algorithm: &'static str,
    /// How the words of what decided it begin, and what else they hold.
    decided_by: (&'static str, &'static str),
    ranks: u64,
    /// Per rank, and bytes of all ranks.
    calls: u64,
    all_bytes: u64,
}

/// The settings that `records.c` runs with: one operation forced, one by a rule, one with a need that three ranks do
/// not meet, the others by default.
fn settings(rules: &str) -> [(&str, &str); 3] {
    [("COLLIE_BCAST", "knomial:radix=3"), ("COLLIE_ALLGATHER", "recursive_doubling"), ("COLLIE_RULES", rules)]
}

fn rules_file(report: &std::path::Path) -> Result<String, Failed> {
    let path = report.with_extension("rules");
    std::fs::write(&path, "# operation ranks bytes algorithm\n\nallreduce 3 0-1K ring\nallreduce * * linear\n")
        .map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(path.display().to_string())
}

fn of_c(family: &Family) -> Result<(), Failed> {
    let rules = rules_file(&report::fresh())?;
    let by_rule: &'static str = format!("{rules}:3").leak();
    let (outcome, report) = accounted(family, "records.c", &[], 3, &settings(&rules))?;
    let world = ("MPI_COMM_WORLD", 3);
    let known = |function, on, bytes, algorithm, decided_by, ranks, calls, all_bytes| Known {
        function,
        on,
        bytes,
        algorithm,
        decided_by,
        ranks,
        calls,
        all_bytes,
    };
    let need = ("default one_node", "recursive_doubling of COLLIE_ALLGATHER needs a power-of-two number of ranks");
    let ends = ("ends", 2);
    let rows = [
        known("MPI_Bcast", world, (16, 31), "knomial:radix=3", ("COLLIE_BCAST", ""), 3, 7, 420),
        known("MPI_Allreduce", world, (64, 127), "ring", (by_rule, ""), 3, 4, 960),
        known("MPI_Allgather", world, (8, 15), ANY, need, 3, 3, 72),
        known("MPI_Gather", world, (16, 31), ANY, ("default one_node", ""), 3, 2, 144),
        known("MPI_Reduce", ends, (4, 7), ANY, ("default one_node", ""), 2, 6, 48),
        known("MPI_Alltoall", world, (4, 7), ANY, ("default one_node", ""), 3, 5, 60),
        known("MPI_Barrier", ("between", 3), (0, 0), "native", ("fallback: intercommunicator", ""), 3, 1, 0),
    ];
    let found = report.whole["rows"].as_array().ok_or("no rows")?;
    for row in &rows {
        let candidates = found.iter().filter(|found| found["function"] == row.function);
        let told = candidates.clone().map(|found| format!("{found:#}")).collect::<Vec<_>>().join("\n");
        let candidates: Vec<_> = candidates.collect();
        if !candidates.iter().any(|found| is(row, found, &report.whole)) {
            return Err(format!("{} is not as known\n{told}\n{}", row.function, outcome.told()).into());
        }
        candidates.into_iter().try_for_each(|found| times_agree(found, &report.whole))?;
    }
    let made = rows.iter().map(|row| row.calls * row.ranks).sum::<u64>();
    let told = report.calls(|_| true);
    if made != told {
        return Err(format!("{made} calls were made, {told} are in the report\n{}", outcome.told()).into());
    }
    run_agrees(&report.whole, 3)
}

fn is(known: &Known, row: &Value, report: &Value) -> bool {
    let communicator = &report["communicators"][row["communicator"].as_u64().unwrap_or(u64::MAX) as usize];
    let decided_by = row["decided_by"].as_str().unwrap_or_default();
    let algorithm = row["algorithm"].as_str().unwrap_or_default();
    let (name, size) = known.on;
    communicator["name"] == name
        && communicator["size"] == size
        && (row["bytes_from"].as_u64(), row["bytes_to"].as_u64()) == (Some(known.bytes.0), Some(known.bytes.1))
        && (known.algorithm == ANY || algorithm.split([',', ':']).next() == known.algorithm.split(':').next())
        && algorithm.starts_with(known.algorithm)
        && decided_by.starts_with(known.decided_by.0)
        && decided_by.contains(known.decided_by.1)
        && row["ranks"] == known.ranks
        && row["calls"] == known.calls
        && row["calls_all_ranks"] == known.calls * known.ranks
        && row["bytes"] == known.all_bytes
}

/// Times that belong to calls that happened.
fn times_agree(row: &Value, report: &Value) -> Result<(), Failed> {
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    let at = |name: &str| number(&row[name]);
    let total = |name: &str| number(&row["total_seconds"][name]);
    let ascending = ["min_seconds", "p50_seconds", "p90_seconds", "p99_seconds", "max_seconds"].map(at);
    // A percentile is within 1/16 of the duration that it stands for.
    let ordered = ascending.windows(2).all(|pair| pair[0] <= pair[1] * (1.0 + 1.0 / 16.0));
    let (ranks, calls) = (at("ranks"), at("calls_all_ranks"));
    let mean = total("mean") * ranks / calls;
    let in_durations = row["durations"].as_array().into_iter().flatten().filter_map(|entry| entry[1].as_f64());
    // Of the communicator's ranks; an intercommunicator's are those of both groups.
    let communicator = &report["communicators"][row["communicator"].as_u64().unwrap_or(u64::MAX) as usize];
    let members = communicator["members"].as_array().filter(|members| members.len() as f64 >= ranks);
    let run_of = |rank: &Value| number(&report["per_rank"][rank.as_u64().unwrap_or(u64::MAX) as usize]["run_seconds"]);
    let run = members.map_or(number(&report["run_seconds"]) * ranks, |members| members.iter().map(run_of).sum());
    let hold = [
        ("durations are positive and in order", ascending[0] > 0.0 && ordered),
        ("the mean is the total by calls", (at("mean_seconds") / mean - 1.0).abs() < 1e-9),
        ("the mean lies between the extremes", ascending[0] <= mean && mean <= ascending[4]),
        ("min, mean and max over ranks", total("min") <= total("mean") && total("mean") <= total("max")),
        ("the rank with the most is one", total("max_rank") < number(&report["ranks"])),
        ("the total of a rank holds its longest call", total("max") >= ascending[4] * (1.0 - 1e-9) || ranks > 1.0),
        ("every call has a duration", in_durations.sum::<f64>() == calls),
        ("the share is one of the run", (at("share") - total("mean") * ranks / run).abs() < 1e-6),
    ];
    match hold.iter().find(|(_, holds)| !holds) {
        None => Ok(()),
        Some((what, _)) => Err(format!("does not hold: {what}\n{row:#}").into()),
    }
}

/// What the report says of the run as a whole.
fn run_agrees(report: &Value, ranks: u64) -> Result<(), Failed> {
    let per_rank = report["per_rank"].as_array().ok_or("no ranks")?;
    let at = |row: &Value, name: &str| row[name].as_f64().unwrap_or(f64::NAN);
    let rows = report["rows"].as_array().ok_or("no rows")?;
    let in_rows: f64 = rows.iter().map(|row| at(&row["total_seconds"], "mean") * at(row, "ranks")).sum();
    let in_ranks: f64 = per_rank.iter().map(|row| at(row, "collective_seconds")).sum();
    let calls: f64 = per_rank.iter().map(|row| at(row, "calls")).sum();
    let hold = [
        ("the version", report["collie_version"] == env!("CARGO_PKG_VERSION")),
        ("the mode", report["mode"] == "replace"),
        ("the ranks", report["ranks"] == ranks && per_rank.len() as u64 == ranks && report["nodes"] == 1),
        ("the ranks in order", per_rank.iter().enumerate().all(|(place, row)| row["rank"] == place)),
        (
            "the run holds the collectives",
            per_rank.iter().all(|row| at(row, "run_seconds") > at(row, "collective_seconds")),
        ),
        ("the ranks' time is the rows'", (in_rows / in_ranks - 1.0).abs() < 1e-6),
        ("the ranks' calls are the rows'", calls == rows.iter().map(|row| at(row, "calls_all_ranks")).sum::<f64>()),
        ("overhead was measured", at(&report["overhead"], "nanoseconds_per_call") > 0.0),
        ("what MPI_Init took is told", at(&report["overhead"], "init_seconds") > 0.0),
        ("nothing was dropped", report["dropped_events"] == 0),
    ];
    match hold.iter().find(|(_, holds)| !holds) {
        None => Ok(()),
        Some((what, _)) => Err(format!("does not hold: {what}\n{report:#}").into()),
    }
}

/// Where blocks are of several sizes, all of what a rank contributes counts, also in the forms of Fortran.
fn blocks(family: &Family) -> Result<(), Failed> {
    let (outcome, report) = accounted(family, "blocks.c", &[], 3, &[])?;
    let bytes_of = |report: &Report, function: &str| {
        let rows = report.whole["rows"].as_array().into_iter().flatten().filter(|row| row["function"] == function);
        rows.map(|row| row["bytes"].as_u64().unwrap_or(0)).sum::<u64>()
    };
    for (function, bytes) in [
        ("MPI_Alltoallv", 2 * 108),
        ("MPI_Ialltoallv", 108),
        ("MPI_Alltoallw", 2 * 104),
        ("MPI_Reduce_scatter", 72),
        ("MPI_Allgatherv", 24),
        ("MPI_Gatherv", 24),
        ("MPI_Neighbor_alltoallv", 36 + 24),
        ("MPI_Neighbor_alltoallw", 12),
    ] {
        let found = bytes_of(&report, function);
        if found != bytes {
            return Err(format!("{function}: {found} bytes, not {bytes}\n{}", outcome.told()).into());
        }
    }
    let (outcome, report) = accounted(family, "blocks_mpif.F", &[], 3, &[])?;
    for (function, bytes) in [("MPI_Alltoallv", 108), ("MPI_Alltoallw", 104), ("MPI_Reduce_scatter", 72)] {
        let found = bytes_of(&report, function);
        if found != bytes {
            return Err(format!("Fortran, {function}: {found} bytes, not {bytes}\n{}", outcome.told()).into());
        }
    }
    Ok(())
}

/// Of more calls than a page shows, each rank's first, its slowest and its last, when they were, and where others are
/// missing; with a trace beside it as without.
fn some_calls(family: &Family) -> Result<(), Failed> {
    for traced in [false, true] {
        let path = report::fresh();
        let (trace, page) = (path.with_extension("trace"), path.with_extension("html"));
        let (targets, trace) = (format!("{},{}", path.display(), page.display()), trace.display().to_string());
        let mut variables = vec![("COLLIE_REPORT", targets.as_str())];
        if traced {
            variables.push(("COLLIE_TRACE", trace.as_str()));
        }
        let command = vec![family.program("many_calls.c")?.display().to_string()];
        let launch =
            Launch { ranks: 2, command, variables: &variables, preload: family.preload()?, others: Vec::new() };
        let outcome = family.run(&launch)?.success()?;
        let report = Report::read(&path, &outcome)?.whole;
        for rank in 0..2u64 {
            let own = report["timeline"].as_array().into_iter().flatten().filter(|row| row["rank"] == rank);
            let own: Vec<(f64, f64, u64)> = own
                .map(|row| {
                    let at = |name: &str| row[name].as_f64().unwrap_or(f64::NAN);
                    (at("enter_seconds"), at("seconds"), row["bytes"].as_u64().unwrap_or(0))
                })
                .collect();
            let gap = report["timeline_gaps"].as_array().into_iter().flatten().find(|gap| gap["rank"] == rank);
            let gap = gap.ok_or("no gap")?;
            let (from, to) = (gap["from_seconds"].as_f64(), gap["to_seconds"].as_f64());
            // The program begins with 20 ms of its own, makes 5000 calls of which one is 150 ms late, and two more at
            // the end.
            let holds = own.len() == 2000
                && gap["calls"] == 3002
                && own[0].0 > 0.02
                && own[1999].2 == 24
                && own[500..1000]
                    .iter()
                    .any(|call| call.1 > 0.04 && call.2 == 16 && Some(call.0) >= from && Some(call.0) <= to)
                && Some(own[499].0) <= from
                && to <= Some(own[1000].0);
            if !holds {
                let shown: Vec<_> = own.iter().step_by(100).collect();
                return Err(format!("rank {rank}: {} calls, {gap}\n{shown:?}\n{}", own.len(), outcome.told()).into());
            }
        }
    }
    Ok(())
}

fn of_fortran(family: &Family) -> Result<(), Failed> {
    let settings = [("COLLIE_BCAST", "binomial"), ("COLLIE_ALLREDUCE", "recursive_doubling")];
    let (outcome, report) = accounted(family, "records_f08.f90", &[], 2, &settings)?;
    for (function, name, bytes, algorithm, decided_by, calls, all_bytes) in [
        ("MPI_Allreduce", "MPI_COMM_WORLD", (32, 63), "recursive_doubling", "COLLIE_ALLREDUCE", 5, 480),
        ("MPI_Bcast", "pair", (4, 7), "binomial", "COLLIE_BCAST", 3, 24),
    ] {
        let known = Known {
            function,
            on: (name, 2),
            bytes,
            algorithm,
            decided_by: (decided_by, ""),
            ranks: 2,
            calls,
            all_bytes,
        };
        let rows: Vec<_> = report.whole["rows"].as_array().into_iter().flatten().collect();
        let found = rows.iter().find(|row| row["function"] == function && is(&known, row, &report.whole));
        let Some(found) = found else {
            return Err(format!("{function} is not as known\n{rows:#?}\n{}", outcome.told()).into());
        };
        times_agree(found, &report.whole)?;
    }
    let mut communicators = report.whole["communicators"].as_array().into_iter().flatten();
    let pair = communicators.find(|row| row["name"] == "pair");
    let split = pair.is_some_and(|row| row["made_by"] == "MPI_Comm_split" && row["parent"] == "world");
    if !split {
        return Err(format!("where the pair comes from is not told: {pair:?}").into());
    }
    run_agrees(&report.whole, 2)
}

/// The trace and the time line hold each call with its rank, times, communicator, root and algorithm.
fn every_call(family: &Family) -> Result<(), Failed> {
    let path = report::fresh();
    let (trace, page) = (path.with_extension("trace"), path.with_extension("html"));
    let targets = format!("{},{}", path.display(), page.display());
    let (rules, trace_text) = (rules_file(&path)?, trace.display().to_string());
    let mut variables = settings(&rules).to_vec();
    variables.extend([("COLLIE_REPORT", targets.as_str()), ("COLLIE_TRACE", &trace_text)]);
    let command = vec![family.program("records.c")?.display().to_string()];
    let launch = Launch { ranks: 3, command, variables: &variables, preload: family.preload()?, others: Vec::new() };
    let outcome = family.run(&launch)?.success()?;
    let report = Report::read(&path, &outcome)?;
    let page = std::fs::read_to_string(&page).map_err(|error| format!("no page: {error}\n{}", outcome.told()))?;
    if !page.contains("\"timeline\"") {
        return Err("the page has no time line".into());
    }
    let text = std::fs::read(&trace).map_err(|error| format!("no trace: {error}\n{}", outcome.told()))?;
    let trace: Value = serde_json::from_slice(&text).map_err(|error| format!("the trace is no JSON: {error}"))?;
    let events = trace["traceEvents"].as_array().ok_or("no events")?;
    for rank in 0..3u64 {
        let own: Vec<_> = events.iter().filter(|event| event["pid"] == rank).collect();
        if !own.iter().any(|event| {
            event["ph"] == "M"
                && event["args"]["name"].as_str().is_some_and(|name| name.starts_with(&format!("rank {rank} ")))
        }) {
            return Err(format!("rank {rank} has no name in the trace").into());
        }
        let calls: Vec<_> = own.into_iter().filter(|event| event["ph"] == "X").collect();
        in_turn(&calls)?;
        let line = report.whole["timeline"].as_array().into_iter().flatten().filter(|row| row["rank"] == rank);
        sequence(rank, &calls)?;
        if line.count() != calls.len() {
            return Err(format!("rank {rank}: the time line and the trace do not hold the same calls").into());
        }
    }
    Ok(())
}

/// A thread's calls follow one another.
fn in_turn(calls: &[&Value]) -> Result<(), Failed> {
    let mut end = f64::MIN;
    for call in calls {
        let (start, duration) = (call["ts"].as_f64().unwrap_or(f64::NAN), call["dur"].as_f64().unwrap_or(f64::NAN));
        // Times are multiples of a nanosecond, written in microseconds.
        let follows = duration > 0.0 && start >= end - 0.002 && call["tid"] == 0 && call["cat"] == "collective";
        if !follows {
            return Err(format!("a call begins before the one before it ends, at {end}\n{call:#}").into());
        }
        end = start + duration;
    }
    Ok(())
}

/// The calls of `records.c` on this rank, in their order.
fn sequence(rank: u64, calls: &[&Value]) -> Result<(), Failed> {
    let mut expected = vec![("MPI_Bcast", "MPI_COMM_WORLD", 20, Some(1), "MPI_INT", ""); 7];
    expected.extend([("MPI_Allreduce", "MPI_COMM_WORLD", 80, None, "MPI_DOUBLE", "MPI_SUM"); 4]);
    expected.extend([("MPI_Allgather", "MPI_COMM_WORLD", 8, None, "MPI_INT", ""); 3]);
    expected.extend([("MPI_Gather", "MPI_COMM_WORLD", 24, Some(2), "MPI_LONG", ""); 2]);
    expected.extend([("MPI_Reduce", "ends", 4, Some(0), "MPI_FLOAT", "MPI_MAX"); 6].into_iter().filter(|_| rank != 1));
    expected.extend([("MPI_Alltoall", "MPI_COMM_WORLD", 4, None, "MPI_INT", ""); 5]);
    expected.push(("MPI_Barrier", "between", 0, None, "", ""));
    let found: Vec<_> = calls
        .iter()
        .map(|call| {
            let of = &call["args"];
            let text = |value: &'_ Value| value.as_str().unwrap_or_default().to_owned();
            let bytes = of["bytes"].as_u64().unwrap_or(u64::MAX);
            let (communicator, root) = (text(&of["communicator"]), of["root"].as_u64());
            (text(&call["name"]), communicator, bytes, root, text(&of["datatype"]), text(&of["operation"]))
        })
        .collect();
    let expected: Vec<_> = expected
        .into_iter()
        .map(|(name, on, bytes, root, datatype, operation)| {
            (name.to_owned(), on.to_owned(), bytes, root, datatype.to_owned(), operation.to_owned())
        })
        .collect();
    if found == expected { Ok(()) } else { Err(format!("rank {rank}: {found:#?}").into()) }
}
