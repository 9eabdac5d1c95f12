//! Messages within a node through memory that its ranks share: every algorithm and program that messages are tested
//! with, and what becomes of the memory however a job ends, or if it cannot be had.

use crate::algorithms::{Forced, forced_jobs};
use crate::job::Outcome;
use crate::mpi::{Family, Launch};
use crate::nodes::{by_nodes, on_nodes};
use crate::programs::{TRUNCATED, accounted, truncated};
use crate::report::{self, Report, Row};
use libtest_mimic::{Failed, Trial};
use std::time::{Duration, Instant};

/// What switches it on.
pub const SHARED: (&str, &str) = ("COLLIE_TRANSPORT", "shared");

/// Programs, and the numbers of ranks that they run on.
const PROGRAMS: &[(&str, &[usize])] = &[
    ("data_movement.c", &[2, 8]),
    ("reductions.c", &[2, 3]),
    ("predefined.c", &[3]),
    ("alltoallv.c", &[3, 8]),
    ("repeated.c", &[2, 3]),
    ("made_alike.c", &[3]),
    ("aliased_buffers.c", &[2]),
    ("barrier.c", &[3]),
    ("pitfall_1_signatures.c", &[6]),
    ("pitfall_2_insignificant_arguments.c", &[8]),
    ("pitfall_3_zero_blocks.c", &[4]),
    ("pitfall_4_user_operations.c", &[8]),
    ("pitfall_5_identical_results.c", &[8]),
    ("pitfall_6_gaps.c", &[8]),
    ("pitfall_7_large_counts.c", &[2]),
    ("pitfall_8_zero_counts.c", &[8]),
    ("pitfall_9_wildcards.c", &[8]),
    ("pitfall_9_communicators.c", &[4, 7]),
    ("pitfall_9_many_communicators.c", &[2]),
    ("pitfall_9_teardown.c", &[3]),
    ("contexts_run_out.c", &[3]),
    ("pitfall_12_threads.c", &[3]),
    ("short_lived_threads.c", &[2]),
    ("own_messages.c", &[2, 3]),
    ("random_calls.c", &[2, 3]),
];

pub fn trials(family: &'static Family) -> Vec<Trial> {
    let mut trials = Vec::new();
    let mut add = |name: String, test: Box<dyn Fn() -> Result<(), Failed> + Send>| {
        trials.push(Trial::test(format!("{}::shared::{name}", family.name), move || {
            test().and_then(|()| nothing_left())
        }));
    };
    for (source, sizes) in PROGRAMS {
        let stem = source.split('.').next().unwrap_or(source);
        for &ranks in *sizes {
            add(format!("{stem}::ranks_{ranks}"), Box::new(move || program(family, source, ranks)));
        }
    }
    // The algorithms that live in shared memory on one MPI, since their messages are no MPI's; with COLLIE_TEST_DEEP=1
    // all on each.
    let deep = std::env::var("COLLIE_TEST_DEEP").is_ok_and(|value| value == "1");
    let wanted = |job: &Forced| deep || job.shares_memory() && family.is_open_mpi();
    for (name, job) in forced_jobs(family, &[SHARED]).into_iter().filter(|(_, job)| wanted(job)) {
        add(
            format!("algorithms::{name}"),
            Box::new(move || job.check_all().and_then(|report| went_through(report, false))),
        );
    }
    for (source, operations) in crate::algorithms::PROGRAMS {
        let stem = source.split('.').next().unwrap_or(source);
        if stem != "barrier" {
            let test =
                move || by_nodes(family, source, operations, &[SHARED]).and_then(|report| went_through(&report, true));
            add(format!("nodes::{stem}"), Box::new(test));
        }
    }
    // Four nodes of two ranks; one of three and one that a rank has for itself; unequal ones whose ranks are not
    // consecutive.
    for nodes in ["00112233", "0001", "01020012"] {
        for program in [&["repeated.c"][..], &["random_calls.c", "500"], &["barrier.c"]] {
            let stem = program[0].trim_end_matches(".c");
            add(format!("inside_nodes_{nodes}::{stem}"), Box::new(move || inside_nodes(family, program, nodes)));
        }
    }
    add("own_messages_beside_nodes".to_owned(), Box::new(move || own_messages_beside_nodes(family)));
    for (setting, variables) in TRUNCATED {
        // What algorithms in shared memory do is another program's affair.
        let messages = [SHARED, ("COLLIE_GATHER", "linear"), ("COLLIE_SCATTER", "linear")];
        let test = move || truncated(family, 3, &[&messages[..], variables].concat());
        add(format!("truncated::{setting}"), Box::new(test));
    }
    for ranks in [2, 3] {
        add(format!("disagreeing::ranks_{ranks}"), Box::new(move || disagreeing(family, ranks)));
    }
    for how in ["end", "exit", "abort", "kill", "crash"] {
        add(format!("ends::{how}"), Box::new(move || ends(family, how)));
    }
    for (mode, words) in [
        ("room", "no room in /dev/shm"),
        ("unseen", "ranks of a node do not see each other's /dev/shm"),
        ("refused", "/dev/shm cannot be used"),
    ] {
        add(format!("without::{mode}"), Box::new(move || without(family, mode, words)));
    }
    add("named".to_owned(), Box::new(move || named(family)));
    add("unreadable".to_owned(), Box::new(move || unreadable(family)));
    for (name, refused, more) in [
        ("lent", false, ("COLLIE_TRANSPORT", "shared")),
        ("not_lent", false, ("NO_SHARED_MEMORY", "unreadable")),
        ("refused", true, ("COLLIE_MEMORY", "7M")),
    ] {
        add(format!("tracks::{name}"), Box::new(move || tracks(family, more, refused)));
    }
    for (nodes, ranks) in [("auto", 3), ("2", 3), ("2", 4), ("3", 4), ("4", 4)] {
        add(format!("numa::{nodes}_nodes_of_{ranks}_ranks"), Box::new(move || numa(family, nodes, ranks)));
    }
    add("learn".to_owned(), Box::new(move || learn(family)));
    add("learn_without".to_owned(), Box::new(move || learn_without(family)));
    add("modes".to_owned(), Box::new(move || modes(family)));
    trials
}

/// Nothing is left of any object, once those that are being made have lost their names.
fn nothing_left() -> Result<(), Failed> {
    let start = Instant::now();
    loop {
        let names = std::fs::read_dir("/dev/shm").into_iter().flatten().flatten().map(|entry| entry.file_name());
        let left: Vec<_> = names.filter(|name| name.to_string_lossy().starts_with("collie-")).collect();
        if left.is_empty() {
            return Ok(());
        }
        if start.elapsed() > Duration::from_secs(10) {
            return Err(format!("left in /dev/shm: {left:?}").into());
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Only between nodes did messages go by MPI; within them they went through shared memory, if what ran there sent any.
fn went_through(report: &Report, several_nodes: bool) -> Result<(), Failed> {
    let rows = |name: &str| report.whole[name].as_array().cloned().unwrap_or_default();
    let (shared, by_mpi) = (rows("shared_traffic"), rows("traffic"));
    let elsewhere = by_mpi.iter().filter(|row| several_nodes || row["from"] != row["to"]).count();
    if (elsewhere > 0) != several_nodes || several_nodes && shared.is_empty() {
        return Err(format!("shared: {shared:?}\nby MPI: {by_mpi:?}").into());
    }
    Ok(())
}

fn program(family: &Family, source: &str, ranks: usize) -> Result<(), Failed> {
    let report = accounted(family, source, &[], ranks, &[SHARED])?.1;
    // More communicators than may have shared memory.
    let many = ["pitfall_9_many_communicators.c", "contexts_run_out.c"].contains(&source);
    if many { Ok(()) } else { went_through(&report, false) }
}

/// What lives in shared memory, inside the nodes of hierarchical algorithms.
fn inside_nodes(family: &Family, program: &[&str], nodes: &str) -> Result<(), Failed> {
    let variables = [
        SHARED,
        ("SEVERAL_NODES", nodes),
        ("COLLIE_BARRIER", "hierarchical:node=central_counter"),
        ("COLLIE_BCAST", "hierarchical:node=shared_queue"),
        ("COLLIE_REDUCE", "hierarchical:node=shared_slices"),
        ("COLLIE_ALLREDUCE", "hierarchical:node=shared_slices,bcast=shared_queue"),
        ("COLLIE_GATHER", "hierarchical:node=shared_copy"),
        ("COLLIE_SCATTER", "hierarchical:node=shared_copy"),
        ("COLLIE_ALLGATHER", "hierarchical:gather=shared_copy,bcast=shared_queue"),
    ];
    let report = on_nodes(family, nodes.len(), program, &variables)?;
    let forced = |row: &Row| variables[2..].iter().any(|(variable, _)| row.decided_by == *variable);
    if report.calls(forced) == 0 {
        return Err("nothing ran that was forced".into());
    }
    let refused = report.rows.iter().find(|row| row.decided_by.contains(" of COLLIE_"));
    refused.map_or(Ok(()), |row| Err(format!("{}: {}", row.function, row.decided_by).into()))
}

/// A message of the program's own to a rank that waits on its node's board goes on, whatever messages of other nodes
/// have arrived there: rank 1 has a node for itself and sends to rank 0 while that waits for rank 2.
fn own_messages_beside_nodes(family: &Family) -> Result<(), Failed> {
    const ALLREDUCE: &str = "hierarchical:node=shared_slices,leaders=recursive_doubling,bcast=shared_queue";
    let variables = [SHARED, ("SEVERAL_NODES", "010"), ("COLLIE_ALLREDUCE", ALLREDUCE)];
    let report = on_nodes(family, 3, &["own_messages.c", "late"], &variables)?;
    let ran = report.calls(|row| row.function == "MPI_Allreduce" && row.decided_by == "COLLIE_ALLREDUCE");
    if ran > 0 { Ok(()) } else { Err("nothing ran that was forced".into()) }
}

/// Runs a program that is not asked how many calls it makes.
fn run(
    family: &Family,
    program: &[&str],
    ranks: usize,
    more: &[(&str, &str)],
    preload: &[&str],
) -> Result<(Outcome, Report), Failed> {
    let path = report::fresh();
    let path_text = path.display().to_string();
    let mut variables = vec![("COLLIE_REPORT", path_text.as_str())];
    variables.extend(more);
    let mut all = family.preload()?;
    for source in preload {
        all.push(family.compiled(source, &["-shared", "-fPIC", "-ldl"])?);
    }
    let mut command = vec![family.program(program[0])?.display().to_string()];
    command.extend(program[1..].iter().map(|word| (*word).to_owned()));
    let launch = Launch { ranks, command, variables: &variables, preload: all, others: Vec::new() };
    let outcome = family.run(&launch)?.success()?;
    let report = Report::read(&path, &outcome)?;
    Ok((outcome, report))
}

/// Ranks that do not agree on the length of what the algorithms in shared memory move come to know it. Calls that fail
/// need not be in the report.
fn disagreeing(family: &Family, ranks: usize) -> Result<(), Failed> {
    let command = vec![family.program("disagreeing.c")?.display().to_string()];
    let variables = [
        SHARED,
        ("COLLIE_REPORT", "off"),
        ("COLLIE_BCAST", "shared_queue"),
        ("COLLIE_REDUCE", "shared_slices"),
        ("COLLIE_ALLREDUCE", "shared_slices"),
        // Blocks of all lengths: long ones would be messages.
        ("COLLIE_GATHER", "shared_copy:read_from=none"),
        ("COLLIE_SCATTER", "shared_copy:read_from=none"),
        ("COLLIE_ALLGATHER", "shared_copy:read_from=none"),
    ];
    let launch = Launch { ranks, command, variables: &variables, preload: family.preload()?, others: Vec::new() };
    family.run(&launch)?.success().map(drop)
}

/// However a rank ends while the others wait for it through shared memory, all of them end.
fn ends(family: &Family, how: &str) -> Result<(), Failed> {
    let command = vec![family.program("shared_ends.c")?.display().to_string(), how.to_owned()];
    let variables = [SHARED, ("COLLIE_REPORT", "off")];
    let launch = Launch { ranks: 4, command, variables: &variables, preload: family.preload()?, others: Vec::new() };
    let outcome = family.run_within(&launch, Duration::from_secs(90))?;
    let right = (outcome.status == Some(0)) == (how == "end");
    if right { Ok(()) } else { Err(format!("the status\n{}", outcome.told()).into()) }
}

/// Where it cannot be had the calls are the same, and the report says why.
fn without(family: &Family, mode: &str, words: &str) -> Result<(), Failed> {
    let more = [SHARED, ("NO_SHARED_MEMORY", mode), ("COLLIE_ALLREDUCE", "ring")];
    let (outcome, report) = run(family, &["shared_ends.c", "end"], 4, &more, &["no_shared_memory.c"])?;
    let communicators = report.whole["communicators"].as_array().cloned().unwrap_or_default();
    let told =
        communicators.iter().filter(|row| row["size"].as_u64() > Some(1)).all(|row| row["no_shared_memory"] == words);
    let ran = report.calls(|row| row.function == "MPI_Allreduce" && row.algorithm.starts_with("ring"));
    if !told || ran != 2 * 10 * 4 || report.whole["shared_traffic"].is_array() {
        return Err(format!("{communicators:?}\n{ran} calls\n{}", outcome.told()).into());
    }
    Ok(())
}

/// Where ranks may not look at each other's open files, they find the memory by its name, of which nothing is left.
fn named(family: &Family) -> Result<(), Failed> {
    let more = [SHARED, ("NO_SHARED_MEMORY", "named")];
    let (_, report) = run(family, &["random_calls.c", "100"], 3, &more, &["no_shared_memory.c"])?;
    went_through(&report, false)?;
    nothing_left()
}

/// Where ranks share memory but may not read each other's own, long messages arrive all the same, and the report says
/// so.
fn unreadable(family: &Family) -> Result<(), Failed> {
    let more = [SHARED, ("NO_SHARED_MEMORY", "unreadable")];
    let (outcome, report) = run(family, &["random_calls.c", "300"], 3, &more, &["no_shared_memory.c"])?;
    went_through(&report, false)?;
    let communicators = report.whole["communicators"].as_array().cloned().unwrap_or_default();
    let pairs = |row: &serde_json::Value| row["size"].as_u64().map(|size| size * (size - 1));
    let alike =
        |row: &serde_json::Value| row["shared_memory"] == serde_json::json!({"pairs": pairs(row), "readable": 0});
    let mut sharing = communicators.iter().filter(|row| row["size"].as_u64() > Some(1)).peekable();
    if sharing.peek().is_none() || !sharing.all(alike) {
        return Err(format!("{communicators:?}\n{}", outcome.told()).into());
    }
    Ok(())
}

/// Long messages go along tracks, where cores evict to a cache that they share and there is memory for them.
fn tracks(family: &Family, more: (&str, &str), refused: bool) -> Result<(), Failed> {
    let more = [SHARED, ("COLLIE_LOG", "collie=debug"), more];
    let (outcome, report) = run(family, &["random_calls.c", "3000"], 2, &more, &["no_shared_memory.c"])?;
    went_through(&report, false)?;
    let processor = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let has_tracks = ["AuthenticAMD", "HygonGenuine"].iter().any(|maker| processor.contains(maker));
    // Ranks that share the only core have none.
    let expected = has_tracks && std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1);
    for (words, is_expected) in
        [("memory for a track", expected && !refused), ("none for a track", expected && refused)]
    {
        if outcome.stderr.contains(words) != is_expected {
            return Err(format!("'{words}' expected: {is_expected}\n{}\n{}", outcome.told(), outcome.stderr).into());
        }
    }
    nothing_left()
}

/// The barrier that knows NUMA nodes, on as many as are stated, or as this machine has.
fn numa(family: &Family, nodes: &str, ranks: usize) -> Result<(), Failed> {
    const BARRIER: &str = "numa_hierarchical:radix=2";
    let variables = [SHARED, ("COLLIE_BARRIER", BARRIER), ("COLLIE_NUMA", nodes), ("COLLIE_LOG", "collie=debug")];
    let (outcome, report) = accounted(family, "barrier.c", &[], ranks, &variables)?;
    went_through(&report, false)?;
    let ran = report.calls(|row| row.function == "MPI_Barrier" && row.algorithm == BARRIER);
    let grouped = format!("shared memory of {ranks} ranks on {nodes} NUMA nodes");
    if ran == 0 || nodes != "auto" && !outcome.stderr.contains(&grouped) {
        return Err(format!("{ran} calls\n{}\n{}", outcome.told(), outcome.stderr).into());
    }
    Ok(())
}

/// Mode `learn` tries what lives in shared memory, and what it learns holds there.
fn learn(family: &Family) -> Result<(), Failed> {
    let variables = [SHARED, ("COLLIE_MODE", "learn"), ("COLLIE_LEARN_BUDGET", "50")];
    let arguments = ["allreduce,bcast,allgather", "thin", "often"];
    let report = accounted(family, "repeated.c", &arguments, 2, &variables)?.1;
    let cells = report.whole["learned"]["cells"].as_array().cloned().unwrap_or_default();
    // Of short calls nobody is tried who does not promise much, so that it may be one operation or another.
    let mut tried = cells.iter().flat_map(|cell| cell["candidates"].as_array().into_iter().flatten());
    let lives_there =
        |tried: &serde_json::Value| tried["algorithm"].as_str().is_some_and(|name| name.starts_with("shared_"));
    if !tried.any(|tried| lives_there(tried) && tried["calls"].as_u64().is_some_and(|calls| calls > 0)) {
        return Err(format!("nothing that lives in shared memory was tried\n{cells:#?}").into());
    }
    let told = !cells.is_empty() && cells.iter().all(|cell| cell["shared_memory"] == true);
    if told { Ok(()) } else { Err(format!("learned elsewhere\n{cells:#?}").into()) }
}

/// Where it cannot be had nothing of it is tried, and what is learned holds for messages.
fn learn_without(family: &Family) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let learned = folder.path().join("learned.rules").display().to_string();
    let variables = [SHARED, ("COLLIE_MODE", "learn"), ("COLLIE_MEMORY", "1M"), ("COLLIE_LEARN", learned.as_str())];
    let report = accounted(family, "repeated.c", &["allreduce,bcast,allgather", "thin", "often"], 2, &variables)?.1;
    let cells = report.whole["learned"]["cells"].as_array().cloned().unwrap_or_default();
    // None where calls took too long or too differently for a winner.
    let text = std::fs::read_to_string(&learned).unwrap_or_default();
    let rules: Vec<_> = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let of_messages = !cells.is_empty() && cells.iter().all(|cell| cell["shared_memory"] != true);
    let hold_there = rules.iter().all(|rule| rule.contains(" no_shared_memory"));
    let tried = |cell: &serde_json::Value| cell["candidates"].to_string().contains("\"shared_");
    let tried_there = cells.iter().any(tried);
    let right = of_messages && hold_there && !tried_there;
    if right { Ok(()) } else { Err(format!("learned elsewhere\n{cells:#?}\n{text}").into()) }
}

/// In every mode that runs algorithms of Collie's.
fn modes(family: &Family) -> Result<(), Failed> {
    for (variable, value) in [
        ("COLLIE_MODE", "verify"),
        ("COLLIE_MODE", "compare"),
        ("COLLIE_MODE", "learn"),
        ("COLLIE_SYNC", "barrier"),
        ("COLLIE_WATCHDOG", "60"),
    ] {
        // Native has its turns, and MPICH 4.0.2's own reduction in place breaks off (docs/native-defects.md).
        let variables = [SHARED, (variable, value), ("COLLIE_ALLREDUCE", "ring")];
        let report = accounted(family, "reductions.c", &["allreduce", "thin"], 3, &variables)?.1;
        went_through(&report, false)?;
    }
    Ok(())
}
