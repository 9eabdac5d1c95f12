//! Point-to-point calls in the report: how many of each, what they sent, and how long they waited; those of
//! collectives' requests are none of them.

use crate::job::alone;
use crate::mpi::{Family, Launch};
use crate::report::{self, Report};
use libtest_mimic::{Failed, Trial};
use serde_json::Value;

type Test = fn(&Family) -> Result<(), Failed>;

const TESTS: &[(&str, Test)] = &[
    ("messages::all_kinds", all_kinds),
    ("messages::mpif", |family| fortran(family, "messages_mpif.F")),
    ("messages::f08", |family| fortran(family, "messages_f08.f90")),
    ("messages::rare_kinds", rare_kinds),
    ("messages::windows_and_files", |family| windows_and_files(family, "windows_and_files.c")),
    ("messages::windows_and_files_mpif", |family| windows_and_files(family, "windows_and_files_mpif.F")),
    ("messages::windows_and_files_f08", |family| windows_and_files(family, "windows_and_files_f08.f90")),
    ("messages::allocated_windows", allocated_windows),
    ("messages::large_integers_f08", large_integers),
    ("messages::late", late),
    ("messages::left_alone", left_alone),
    ("messages::waits_in_the_time_line", waits_in_the_time_line),
];

pub fn trials(family: &'static Family) -> Vec<Trial> {
    let trial = |(name, test): &(&str, Test)| {
        let test = *test;
        alone(format!("{}::{name}", family.name), move || test(family))
    };
    TESTS.iter().map(trial).collect()
}

fn run(family: &Family, source: &str, variables: &[(&str, &str)]) -> Result<(Report, String), Failed> {
    let path = report::fresh();
    let path_text = path.display().to_string();
    let mut all = vec![("COLLIE_REPORT", path_text.as_str())];
    all.extend(variables);
    let command = vec![family.program(source)?.display().to_string()];
    let launch = Launch { ranks: 2, command, variables: &all, preload: family.preload()?, others: Vec::new() };
    let outcome = family.run(&launch)?.success()?;
    Ok((Report::read(&path, &outcome)?, outcome.told()))
}

/// Calls and bytes of each function on both ranks.
fn expect(report: &Report, expected: &[(&str, u64, u64)], told: &str) -> Result<(), Failed> {
    let rows = report.whole["messages"].as_array().ok_or_else(|| format!("no messages\n{told}"))?;
    let mut found: Vec<(String, u64, u64)> = rows
        .iter()
        .map(|row| {
            let number = |name: &str| row[name].as_u64().unwrap_or_default();
            (row["function"].as_str().unwrap_or_default().to_owned(), number("calls_all_ranks"), number("bytes"))
        })
        .collect();
    found.sort();
    let mut expected: Vec<_> =
        expected.iter().map(|(name, calls, bytes)| (format!("MPI_{name}"), *calls, *bytes)).collect();
    expected.sort();
    if found == expected { Ok(()) } else { Err(format!("{found:?}\nnot {expected:?}\n{told}").into()) }
}

fn all_kinds(family: &Family) -> Result<(), Failed> {
    let (report, told) = run(family, "messages.c", &[])?;
    expect(
        &report,
        &[
            ("Send", 7, 16 + 4 + 4),
            ("Ssend", 1, 64),
            ("Recv", 3, 0),
            ("Probe", 1, 0),
            ("Mprobe", 1, 0),
            ("Mrecv", 1, 0),
            ("Sendrecv", 2, 16),
            ("Sendrecv_replace", 2, 32),
            ("Irecv", 202, 0),
            ("Isend", 202, 808),
            ("Waitall", 202, 0),
            ("Send_init", 2, 0),
            ("Recv_init", 2, 0),
            ("Start", 4, 0),
            ("Waitany", 4, 0),
            ("Iprobe", 2, 0),
        ],
        &told,
    )?;
    // Rank 0 waited for rank 1; waiting for the collectives' requests is among theirs.
    let waited = report.whole["per_rank"][0]["message_seconds"].as_f64().unwrap_or_default();
    let run = report.whole["per_rank"][0]["run_seconds"].as_f64().unwrap_or_default();
    let waits = report.calls(|row| row.function == "MPI_Iallreduce (wait)" || row.function == "MPI_Ibarrier (wait)");
    // What was moved counts once, where it was started.
    let rows = report.whole["rows"].as_array().into_iter().flatten();
    let moved =
        |name: &str| rows.clone().filter(|row| row["function"] == name).filter_map(|row| row["bytes"].as_u64()).sum();
    let (of_starts, of_waits): (u64, u64) = (moved("MPI_Iallreduce"), moved("MPI_Iallreduce (wait)"));
    if waited < 0.045 || waited > run || waits != 4 || of_starts == 0 || of_waits != 0 {
        let bytes = format!("{of_starts} bytes started, {of_waits} waited for");
        return Err(format!("{waited} s of {run} s, {waits} waits, {bytes}\n{told}").into());
    }
    Ok(())
}

fn fortran(family: &Family, source: &str) -> Result<(), Failed> {
    let (report, told) = run(family, source, &[])?;
    let expected =
        [("Irecv", 40, 0), ("Isend", 40, 160), ("Waitall", 40, 0), ("Send", 1, 64), ("Recv", 1, 0), ("Iprobe", 2, 0)];
    expect(&report, &expected, &told)
}

/// Those that ask after requests complete none, neither of messages nor of collectives, and count where the request
/// does.
fn rare_kinds(family: &Family) -> Result<(), Failed> {
    let (report, told) = run(family, "rare_messages.c", &[])?;
    let mut expected = vec![
        ("Irecv", 2, 0),
        ("Isend", 2, 8),
        ("Request_get_status", 2, 0),
        ("Wait", 4, 0),
        ("Irecv", 2, 0),
        ("Cancel", 2, 0),
        ("Wait", 2, 0),
        ("Bsend", 2, 8),
        ("Recv", 2, 0),
        ("Buffer_detach", 2, 0),
    ];
    if told.contains("with MPI_Isendrecv") {
        expected.extend([("Isendrecv", 2, 8), ("Isendrecv_replace", 2, 8), ("Waitall", 2, 0)]);
    }
    let mut sums: Vec<(&str, u64, u64)> = Vec::new();
    for (name, calls, bytes) in expected {
        match sums.iter_mut().find(|sum| sum.0 == name) {
            Some(sum) => *sum = (name, sum.1 + calls, sum.2 + bytes),
            None => sums.push((name, calls, bytes)),
        }
    }
    expect(&report, &sums, &told)?;
    let waits = report.calls(|row| row.function == "MPI_Ibarrier (wait)");
    if waits == 2 { Ok(()) } else { Err(format!("{waits} waits\n{told}").into()) }
}

/// Time in windows and files is told apart from that in messages, per rank too; rank 1 comes 50 ms late to the first
/// fence.
fn windows_and_files(family: &Family, source: &str) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("numbers");
    let (report, told) = run(family, source, &[("WINDOWS_AND_FILES", &file.display().to_string())])?;
    let expected = [
        ("Win_create", 2, 0),
        ("Win_fence", 4, 0),
        ("Put", 2, 8),
        ("Get", 2, 16),
        ("Fetch_and_op", 2, 8),
        ("Win_free", 2, 0),
        ("File_open", 2, 0),
        ("File_write_at_all", 2, 32),
        ("File_read_at", 2, 8),
        ("File_close", 2, 0),
        ("File_delete", 1, 0),
    ];
    expect(&report, &expected, &told)?;
    let seconds = |rank: usize, name: &str| report.whole["per_rank"][rank][name].as_f64().unwrap_or(f64::NAN);
    let in_files = report.whole["file_seconds"]["mean"].as_f64().unwrap_or_default();
    let apart = seconds(0, "one_sided_seconds") >= 0.045 && seconds(0, "message_seconds") == 0.0 && in_files > 0.0;
    let areas: Vec<&str> =
        report.whole["messages"].as_array().into_iter().flatten().filter_map(|row| row["area"].as_str()).collect();
    let of = |area: &str| areas.iter().filter(|found| **found == area).count();
    if apart && (of("one-sided"), of("files")) == (6, 5) {
        Ok(())
    } else {
        Err(format!("{:#}\n{told}", report.whole).into())
    }
}

/// Windows of memory that MPI allocates have names of their own in Open MPI's `use mpi`.
fn allocated_windows(family: &Family) -> Result<(), Failed> {
    let (report, told) = run(family, "allocated_windows.f90", &[])?;
    expect(&report, &[("Win_allocate", 2, 0), ("Win_allocate_shared", 2, 0), ("Win_free", 4, 0)], &told)
}

/// What MPI 4 has in `mpi_f08` for large integers, and its persistent barrier, call PMPI past the C symbols in MPICH.
fn large_integers(family: &Family) -> Result<(), Failed> {
    if family.name != "mpich" {
        return Ok(());
    }
    let (report, told) = run(family, "large_integers_f08.f90", &[])?;
    expect(
        &report,
        &[("Buffer_detach", 2, 0), ("Win_allocate", 2, 0), ("Win_allocate_shared", 2, 0), ("Win_free", 4, 0)],
        &told,
    )?;
    let calls = |function: &str| report.calls(|row| row.function == function);
    let found = ["MPI_Barrier_init", "MPI_Barrier_init (wait)"].map(calls);
    if found == [8, 6] { Ok(()) } else { Err(format!("{found:?}: {:#?}\n{told}", report.rows).into()) }
}

/// A wait among many short calls counts as what it was, neither missed nor multiplied.
fn late(family: &Family) -> Result<(), Failed> {
    let (report, told) = run(family, "late_messages.c", &[])?;
    let took =
        told.lines().find_map(|line| line.strip_prefix("receiving took ")?.strip_suffix(" s")?.parse::<f64>().ok());
    let rows = report.whole["messages"].as_array().into_iter().flatten();
    let row = rows.into_iter().find(|row| row["function"] == "MPI_Recv");
    let seconds = row.and_then(|row| row["max_seconds"].as_f64());
    match (took, seconds) {
        // The program's own readings of the clock are in the one and not in the other.
        (Some(took), Some(seconds)) if (0.8 * took..=took).contains(&seconds) => Ok(()),
        _ => Err(format!("{took:?} s in receives, told as {seconds:?} s\n{told}").into()),
    }
}

/// `COLLIE_OBSERVE=collectives` counts none, and `MPI_Pcontrol` has nothing to say about that.
fn left_alone(family: &Family) -> Result<(), Failed> {
    let (report, told) = run(family, "messages.c", &[("COLLIE_OBSERVE", "collectives")])?;
    let is_there = ["messages", "message_seconds"].map(|name| !report.whole[name].is_null());
    if is_there != [false; 2] || !report.whole["per_rank"][0]["message_seconds"].is_null() {
        return Err(format!("{:#}\n{told}", report.whole).into());
    }
    Ok(())
}

/// The calls that complete collectives' requests are in time line and trace, in their turn and with what was started.
fn waits_in_the_time_line(family: &Family) -> Result<(), Failed> {
    let trace = report::fresh();
    let (report, told) = run(family, "messages.c", &[("COLLIE_TRACE", &trace.display().to_string())])?;
    let names = ["MPI_Iallreduce", "MPI_Iallreduce (wait)", "MPI_Ibarrier", "MPI_Ibarrier (wait)"];
    for rank in 0..2u64 {
        let line = report.whole["timeline"].as_array().into_iter().flatten().filter(|call| call["rank"] == rank);
        let known = line.filter_map(|call| {
            let row = &report.whole["rows"][call["row"].as_u64()? as usize];
            Some((*names.iter().find(|name| row["function"] == **name)?, call))
        });
        let (found, calls): (Vec<&str>, Vec<&Value>) = known.unzip();
        let number = |call: &Value, name: &str| call[name].as_f64().unwrap_or(f64::NAN);
        let in_turn = calls.windows(2).all(|pair| {
            number(pair[0], "enter_seconds") + number(pair[0], "seconds") <= number(pair[1], "enter_seconds") + 1e-8
        });
        let same = |name: &str| calls.len() == 4 && calls[0][name] == calls[1][name] && !calls[0][name].is_null();
        if found != names || !in_turn || !same("bytes") || !same("elements") {
            return Err(format!("rank {rank}: {calls:#?}\n{told}").into());
        }
    }
    let text = std::fs::read(&trace).map_err(|error| format!("no trace: {error}\n{told}"))?;
    std::fs::remove_file(&trace).map_err(|error| format!("{}: {error}", trace.display()))?;
    let whole: Value = serde_json::from_slice(&text).map_err(|error| format!("the trace is no JSON: {error}"))?;
    for name in names {
        let events = whole["traceEvents"].as_array().into_iter().flatten();
        if events.filter(|event| event["name"] == name).count() != 2 {
            return Err(format!("{name} is not there twice\n{whole:#}").into());
        }
    }
    Ok(())
}
