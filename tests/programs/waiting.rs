//! What is told of waiting ranks: apart from working in the report, which must name the rank that a program makes late;
//! by the watch for calls that do not end; and by one rank alone, on demand or before the job is aborted.

use crate::job::{Outcome, alone};
use crate::mpi::{Family, Launch};
use crate::programs::accounted;
use crate::report::{self, Report};
use libtest_mimic::{Failed, Trial};
use serde_json::Value;

/// The late rank of `late_rank.c`, how often it is late on the world and on its half, and by how much at least.
const LATE: u64 = 2;
const ON_WORLD: u64 = 40;
const ON_HALF: u64 = 20;
const LATENESS_SECONDS: f64 = 0.010;

pub fn trials(family: &'static Family) -> Vec<Trial> {
    let mut trials = Vec::new();
    for sync in ["clock", "barrier"] {
        for mode in ["replace", "native", "compare", "verify"] {
            // There the ranks meet before they would in the barrier.
            if (sync, mode) == ("barrier", "verify") {
                continue;
            }
            let name = format!("{}::late_rank::{sync}::{mode}", family.name);
            trials.push(alone(name, move || late_rank(family, sync, mode)));
        }
    }
    for (kind, culprits) in [("rarely", &[2][..]), ("often", &[1]), ("two", &[1, 2])] {
        for sync in ["clock", "barrier"] {
            let name = format!("{}::late_ranks::{kind}::{sync}", family.name);
            trials.push(alone(name, move || late_ranks(family, kind, sync, culprits)));
        }
    }
    trials.push(alone(format!("{}::late_ranks::ahead", family.name), move || root_ahead(family)));
    for (sync, late) in [("off", 1), ("clock", 0)] {
        let name = format!("{}::late_to_the_end::{sync}::{late}", family.name);
        trials.push(Trial::test(name, move || late_to_the_end(family, sync, late)));
    }
    for sync in ["clock", "barrier"] {
        let name = format!("{}::failing_calls::{sync}", family.name);
        trials.push(Trial::test(name, move || failing_calls(family, sync)));
    }
    trials.push(alone(format!("{}::stuck::replaced", family.name), move || stuck(family)));
    trials.push(alone(format!("{}::stuck::native", family.name), move || stuck_natively(family)));
    for how in ["", "before", "after"] {
        let name = format!("{}::on_demand::handler_{}", family.name, if how.is_empty() { "none" } else { how });
        trials.push(alone(name, move || on_demand(family, how)));
    }
    trials.push(alone(format!("{}::threads_and_reports", family.name), move || threads_and_reports(family)));
    for (source, arguments, rank) in
        [("stuck.c", &["abort"][..], 2), ("abort_mpif.F", &[], 1), ("abort_f08.f90", &[], 1)]
    {
        let name = format!("{}::abort::{}", family.name, source.replace('.', "_"));
        // Most of its time is spent waiting for a launcher that ends the other ranks.
        trials.push(Trial::test(name, move || abort(family, source, arguments, rank)));
    }
    trials
}

/// The lines about a call that does not end, one per rank that waits.
fn watched(outcome: &Outcome) -> Vec<&str> {
    let mut lines: Vec<&str> = outcome.stderr.lines().filter(|line| line.contains("has not returned after")).collect();
    lines.sort_unstable();
    lines
}

/// Recursive doubling pairs 0 with 1 and 2 with 3, then 0 with 2 and 1 with 3.
fn stuck(family: &Family) -> Result<(), Failed> {
    let variables = [("COLLIE_WATCHDOG", "1"), ("COLLIE_ALLREDUCE", "recursive_doubling")];
    let (outcome, _) = accounted(family, "stuck.c", &[], 4, &variables)?;
    let expected = [(0, "rank 2", Some("rank 1")), (1, "rank 3", Some("rank 0")), (3, "rank 2", None)];
    let lines = watched(&outcome);
    let right = lines.len() == expected.len()
        && lines.iter().zip(expected).all(|(line, (rank, missing, heard))| {
            let call =
                format!("rank {rank}: MPI_Allreduce, call 2 on MPI_COMM_WORLD (rank {rank} of 4), has not returned");
            line.contains(&call)
                && line.contains(&format!("recursive_doubling, waiting for messages from {missing}"))
                && heard.map_or(!line.contains("heard"), |heard| line.ends_with(&format!("has heard from {heard}")))
        });
    if right { Ok(()) } else { Err(format!("{lines:#?}\n{}", outcome.told()).into()) }
}

fn stuck_natively(family: &Family) -> Result<(), Failed> {
    let variables = [("COLLIE_WATCHDOG", "1"), ("COLLIE_MODE", "native")];
    let (outcome, _) = accounted(family, "stuck.c", &[], 4, &variables)?;
    let lines = watched(&outcome);
    let right = lines.len() == 3 && lines.iter().all(|line| line.contains("call 2 on") && line.contains("MPI library"));
    if right { Ok(()) } else { Err(format!("{lines:#?}\n{}", outcome.told()).into()) }
}

/// Rank 1 has made three calls when it is asked; a handler that the program sets later is the program's business.
fn on_demand(family: &Family, how: &str) -> Result<(), Failed> {
    let (outcome, _, alone) = with_partial(family, "on_demand.c", &[how], 3, 1, 0)?;
    match alone {
        None if how == "after" => Ok(()),
        Some(alone) if how != "after" => told_alone(&alone, "rank 1 of 3 alone, at SIGUSR2", 3, &outcome),
        _ => Err(format!("a report of rank 1 alone, or none\n{}", outcome.told()).into()),
    }
}

/// Reports, resets and switches in the middle of other threads' calls; the calls after the last reset are all accounted
/// for.
fn threads_and_reports(family: &Family) -> Result<(), Failed> {
    let (outcome, whole, alone) = with_partial(family, "threads_and_reports.c", &[], 2, 0, 0)?;
    let partial = alone.as_ref().and_then(|alone| alone.whole["partial"].as_str()).unwrap_or_default();
    if whole && partial.starts_with("rank 0 of 2 alone, at SIGUSR2") {
        Ok(())
    } else {
        Err(format!("no report of rank 0 alone, or none of all\n{}", outcome.told()).into())
    }
}

fn abort(family: &Family, source: &str, arguments: &[&str], rank: usize) -> Result<(), Failed> {
    let (outcome, whole, alone) = with_partial(family, source, arguments, 4, rank, 9)?;
    let Some(alone) = alone.filter(|_| !whole) else {
        return Err(format!("not just a report of rank {rank} alone\n{}", outcome.told()).into());
    };
    told_alone(&alone, &format!("rank {rank} of 4 alone, before MPI_Abort with code 9"), 1, &outcome)
}

/// Runs a program that ends with `status`; gives also whether there is a report of all ranks, and that of `rank` alone.
fn with_partial(
    family: &Family,
    source: &str,
    arguments: &[&str],
    ranks: usize,
    rank: usize,
    status: i32,
) -> Result<(Outcome, bool, Option<Report>), Failed> {
    let path = report::fresh();
    let path_text = path.display().to_string();
    let variables = [("COLLIE_REPORT", path_text.as_str())];
    let mut command = vec![family.program(source)?.display().to_string()];
    command.extend(arguments.iter().map(ToString::to_string));
    let launch = Launch { ranks, command, variables: &variables, preload: family.preload()?, others: Vec::new() };
    let outcome = family.run(&launch)?;
    if outcome.status != Some(status) {
        return Err(format!("expected status {status}\n{}", outcome.told()).into());
    }
    let whole = path.exists();
    if whole {
        Report::read(&path, &outcome)?.accounts_for(&outcome)?;
    }
    let path = path.with_extension(format!("rank{rank}.json"));
    let alone = if path.exists() { Some(Report::read(&path, &outcome)?) } else { None };
    Ok((outcome, whole, alone))
}

/// The report is of one rank, which has made so many calls of allreduce.
fn told_alone(report: &Report, partial: &str, calls: u64, outcome: &Outcome) -> Result<(), Failed> {
    let made = report.calls(|row| row.function == "MPI_Allreduce");
    let ranks = report.whole["per_rank"].as_array().map(Vec::len);
    if report.whole["partial"] == partial && ranks == Some(1) && made == calls {
        Ok(())
    } else {
        Err(format!("{:#}\n{}", report.whole, outcome.told()).into())
    }
}

fn late_rank(family: &Family, sync: &str, mode: &str) -> Result<(), Failed> {
    let variables = [("COLLIE_SYNC", sync), ("COLLIE_MODE", mode)];
    let (outcome, report) = accounted(family, "late_rank.c", &[], 4, &variables)?;
    let report = report.whole;
    let wrong = |what: String| Failed::from(format!("{what}\n{report:#}\n{}", outcome.told()));
    if report["sync"] != sync {
        return Err(wrong(format!("sync is {}", report["sync"])));
    }
    if sync == "clock"
        && !(report["clock"]["points"] == 2 && report["clock"]["round_trip_seconds"].as_f64() > Some(0.0))
    {
        return Err(wrong("the clocks were not synchronised at the start and at the end".to_owned()));
    }
    for (members, calls) in [(4, ON_WORLD), (2, ON_HALF)] {
        let (last, compared) = last(&report, members).ok_or_else(|| wrong(format!("nobody late of {members}")))?;
        // A rank that is kept from running may be later still now and then.
        if compared != calls || last["calls"].as_u64() < Some(calls / 2 + 1) {
            return Err(wrong(format!("of {members}: rank {LATE} is last in {last} of {compared} calls")));
        }
    }
    let waiting: Vec<f64> = numbers(&report["per_rank"], "waiting_seconds");
    let working: Vec<f64> = numbers(&report["per_rank"], "collective_seconds");
    let others = LATENESS_SECONDS * ON_WORLD as f64 / 2.0;
    for rank in 0..4 {
        let late = rank as u64 == LATE;
        if waiting[rank] > working[rank] * 1.001
            || (!late && waiting[rank] < others)
            || (late && waiting[rank] > others)
        {
            return Err(wrong(format!("rank {rank} waited {} of {} s", waiting[rank], working[rank])));
        }
    }
    Ok(())
}

/// The ranks that the others wait for come first and make up most of the waiting, however often others are last; and
/// with one of them, it is the one with the least time in collectives.
fn late_ranks(family: &Family, kind: &str, sync: &str, culprits: &[u64]) -> Result<(), Failed> {
    let (outcome, report) = accounted(family, "late_ranks.c", &[kind], 4, &[("COLLIE_SYNC", sync)])?;
    let report = report.whole;
    let wrong = |what: String| Failed::from(format!("{what}\n{report:#}\n{}", outcome.told()));
    let late = report["late"].as_array().ok_or("no late ranks")?;
    let mut named: Vec<u64> = late.iter().take(culprits.len()).filter_map(|row| row["rank"].as_u64()).collect();
    named.sort_unstable();
    let waited = numbers(&report["late"], "waited_seconds");
    let (theirs, all) = (waited.iter().take(culprits.len()).sum::<f64>(), waited.iter().sum::<f64>());
    if named != culprits || theirs < 0.5 * all {
        return Err(wrong(format!("ranks {named:?} are waited for {theirs} of {all} s, not {culprits:?}")));
    }
    // Sums over ranks: what the ranks say they waited is what is charged to others.
    let waiting: f64 = numbers(&report["per_rank"], "waiting_seconds").iter().sum();
    if sync == "clock" && (all / waiting - 1.0).abs() > 0.1 {
        return Err(wrong(format!("{all} s charged, {waiting} s waited")));
    }
    let least = report["collective_seconds"]["min_rank"].as_u64();
    if least.is_none_or(|least| !culprits.contains(&least)) {
        return Err(wrong(format!("least time in collectives on {least:?}")));
    }
    Ok(())
}

/// A root that does not wait for the ranks that come later has nobody charged for it.
fn root_ahead(family: &Family) -> Result<(), Failed> {
    /// Seconds that the others' lateness makes up if each call is taken to begin where its root comes.
    const LATENESS: f64 = 3.0 * 0.003 * (60.0 * 61.0 / 2.0);
    let (outcome, report) = accounted(family, "late_ranks.c", &["ahead"], 4, &[("COLLIE_SYNC", "clock")])?;
    let waiting: f64 = numbers(&report.whole["per_rank"], "waiting_seconds").iter().sum();
    let charged: f64 = numbers(&report.whole["late"], "waited_seconds").iter().sum();
    // The shares of single calls are rounded to their row's.
    if charged > LATENESS / 10.0 || (charged - waiting).abs() > 0.1 * waiting + 0.001 {
        return Err(format!("{charged} s charged, {waiting} s waited\n{}", outcome.told()).into());
    }
    Ok(())
}

/// What a rank waits for others in MPI_Finalize is neither its run time nor Collie's.
fn late_to_the_end(family: &Family, sync: &str, late: usize) -> Result<(), Failed> {
    /// Seconds, of the two that the one comes late.
    const HALF: f64 = 1.0;
    let argument = late.to_string();
    let (outcome, report) = accounted(family, "late_to_the_end.c", &[&argument], 2, &[("COLLIE_SYNC", sync)])?;
    let run = numbers(&report.whole["per_rank"], "run_seconds");
    let at_the_end = report.whole["overhead"]["finalize_seconds"].as_f64();
    if run.len() == 2 && run[late] - run[1 - late] > HALF && at_the_end.is_some_and(|seconds| seconds < HALF) {
        return Ok(());
    }
    Err(format!("the ranks ran {run:?} s, {at_the_end:?} s at the end\n{}", outcome.told()).into())
}

/// A call that fails on one rank counts on both, so that those after it are compared with each other, and the end comes
/// where it is a communicator's only one. One that is refused on a rank, which then makes the right one, does not.
fn failing_calls(family: &Family, sync: &str) -> Result<(), Failed> {
    let variables = [("COLLIE_SYNC", sync), ("COLLIE_MODE", "native")];
    let (outcome, report) = accounted(family, "failing_calls.c", &[], 2, &variables)?;
    let communicators = report.whole["communicators"].as_array().map(Vec::as_slice).unwrap_or_default();
    for (name, compared, comparable) in [("alone", None, None), ("among", Some(4), Some(5))] {
        let row = communicators.iter().find(|row| row["name"] == name).unwrap_or(&Value::Null);
        if row.is_null() || row["compared_calls"].as_u64() != compared || row["comparable_calls"].as_u64() != comparable
        {
            return Err(format!("{name}: {row:#}\n{}", outcome.told()).into());
        }
    }
    Ok(())
}

/// The row of the late rank, the first of its communicator, which has so many members; and the calls compared there.
fn last(report: &Value, members: usize) -> Option<(&Value, u64)> {
    let communicators = report["communicators"].as_array()?;
    let of_members = |place: usize| {
        let all = communicators[place]["members"].as_array();
        all.is_some_and(|all| all.len() == members && all.iter().any(|rank| *rank == LATE))
    };
    let first = report["late"]
        .as_array()?
        .iter()
        .find(|row| row["communicator"].as_u64().is_some_and(|place| of_members(place as usize)))?;
    let place = first["communicator"].as_u64()? as usize;
    (first["rank"] == LATE).then_some((first, communicators[place]["compared_calls"].as_u64()?))
}

fn numbers(rows: &Value, name: &str) -> Vec<f64> {
    rows.as_array().into_iter().flatten().map(|row| row[name].as_f64().unwrap_or(-1.0)).collect()
}
