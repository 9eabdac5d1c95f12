//! Mode `learn` under programs whose results are known: right call by call while several take turns, and something is
//! learned.

use crate::algorithms::PROGRAMS;
use crate::job::alone;
use crate::mpi::Family;
use crate::programs::accounted;
use crate::report::Report;
use collie::algorithm::Operation;
use libtest_mimic::{Failed, Trial};
use serde_json::Value;

type Test = fn(&Family) -> Result<(), Failed>;

const TESTS: &[(&str, Test)] = &[
    ("learn", learn),
    ("learn_watched", watched),
    ("learn_by_threads", by_threads),
    ("learn_on_short_lived_communicators", short_lived),
    ("learn_reproducibly", reproducibly),
    ("learn_for_the_next_run", handed_on),
];

pub fn trials(family: &'static Family) -> Vec<Trial> {
    let trial = |(name, test): &(&str, Test)| {
        let test = *test;
        alone(format!("{}::{name}", family.name), move || test(family))
    };
    TESTS.iter().map(trial).collect()
}

const LEARN: (&str, &str) = ("COLLIE_MODE", "learn");
/// Calls of a tenth of a microsecond pay for trying after thousands of them.
const BUDGET: (&str, &str) = ("COLLIE_LEARN_BUDGET", "50");

/// The operations of the program whose calls come back, but for some.
fn operations(left_out: &[Operation]) -> String {
    let (_, called) = PROGRAMS.iter().find(|(source, _)| *source == "repeated.c").expect("a program of the tests");
    let wanted = called.iter().filter(|operation| !left_out.contains(operation));
    wanted.map(|operation| operation.name()).collect::<Vec<_>>().join(",")
}

fn cells(report: &Report) -> Result<&Vec<Value>, Failed> {
    report.whole["learned"]["cells"].as_array().ok_or_else(|| "nothing was learned".into())
}

/// Candidates of a cell that were measured.
fn measured(cell: &Value) -> usize {
    cell["candidates"].as_array().map_or(0, |all| all.iter().filter(|tried| tried["seconds"].is_number()).count())
}

/// What the sums say is what the cells say, and every call of a cell was carried out by one of its candidates.
fn adds_up(report: &Report) -> Result<(), Failed> {
    let number = |value: &Value| value.as_u64().unwrap_or(u64::MAX);
    for cell in cells(report)? {
        let candidates = cell["candidates"].as_array().ok_or("no candidates")?;
        let by: u64 = candidates.iter().map(|tried| number(&tried["calls"])).sum();
        if by != number(&cell["calls"]) || number(&cell["tried_calls"]) > by {
            return Err(format!("calls do not add up\n{cell:#}").into());
        }
    }
    // A cell counts a communicator's calls once, and the sum is of a rank, in the mean.
    let on_ranks = |cell: &Value| number(&cell["tried_calls"]).saturating_mul(number(&cell["ranks"]));
    let tried: u64 = cells(report)?.iter().map(on_ranks).sum();
    let mean = (tried as f64 / number(&report.whole["ranks"]) as f64).round() as u64;
    if number(&report.whole["learned"]["tried_calls"]) != mean {
        return Err("the sum is not that of the cells".into());
    }
    Ok(())
}

/// Rotating roots, in place and not, on three communicators in turns, the same call after call with other values.
fn learn(family: &Family) -> Result<(), Failed> {
    // MPICH 4.0.2's own reduction in place breaks off at roots other than 0 (docs/native-defects.md), and native has
    // its turns.
    let operations = operations(if family.name == "mpich" { &[Operation::Reduce] } else { &[] });
    for ranks in [2, 3] {
        let variables = [LEARN, BUDGET];
        let (outcome, report) = accounted(family, "repeated.c", &[&operations, "thin", "often"], ranks, &variables)?;
        adds_up(&report)?;
        let all = cells(&report)?;
        let compared = all.iter().filter(|cell| measured(cell) > 1).count();
        if all.len() < 12 || compared * 2 < all.len() {
            return Err(format!("{compared} of {} cells were compared\n{all:#?}\n{}", all.len(), outcome.told()).into());
        }
        if report.calls(|row| row.decided_by == "learn") == 0 {
            return Err(format!("nobody but the defaults ran\n{}", outcome.told()).into());
        }
    }
    Ok(())
}

/// The same where every call takes the slow path, and where communicators are replaced from their first call on.
fn watched(family: &Family) -> Result<(), Failed> {
    let variables = [LEARN, ("COLLIE_WATCHDOG", "60"), ("COLLIE_SYNC", "barrier"), ("COLLIE_AFTER", "1")];
    let (_, report) = accounted(family, "repeated.c", &["allreduce,bcast", "thin", "often"], 2, &variables)?;
    adds_up(&report)
}

/// Threads learn apart, each on its communicator, of which all have one shape.
fn by_threads(family: &Family) -> Result<(), Failed> {
    let (outcome, report) = accounted(family, "pitfall_12_threads.c", &[], 3, &[LEARN])?;
    if outcome.stdout.contains("check: this MPI has no MPI_THREAD_MULTIPLE") {
        return Ok(());
    }
    adds_up(&report)
}

/// No communicator lives long enough to learn anything by itself.
fn short_lived(family: &Family) -> Result<(), Failed> {
    let (outcome, report) = accounted(family, "learned.c", &[], 4, &[LEARN, BUDGET])?;
    adds_up(&report)?;
    let of_all = |cell: &&Value| cell["ranks"] == 4 && cell["function"] == "MPI_Allreduce";
    let cell = cells(&report)?.iter().find(of_all).ok_or("no cell of all four ranks")?;
    if measured(cell) < 2 || cell["calls"].as_u64().is_none_or(|calls| calls < 500) {
        return Err(format!("nothing was learned across communicators\n{cell:#}\n{}", outcome.told()).into());
    }
    Ok(())
}

/// Reductions give what their first call gave and what the algorithm of the tables gives, bit by bit, while those that
/// combine in the same order are tried.
fn reproducibly(family: &Family) -> Result<(), Failed> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let tables = folder.path().join("some.rules");
    std::fs::write(&tables, "allreduce * * recursive_doubling\nreduce * * binomial\n")
        .map_err(|error| error.to_string())?;
    let tables = tables.display().to_string();
    let run = |mode| {
        let variables =
            [("COLLIE_MODE", mode), BUDGET, ("COLLIE_REPRODUCIBLE", "on"), ("COLLIE_TABLES", tables.as_str())];
        accounted(family, "rounded.c", &["600"], 4, &variables)
    };
    let rounded = |text: &str| text.lines().find(|line| line.starts_with("rounded: ")).map(str::to_owned);
    let ((learned, report), (replaced, _)) = (run("learn")?, run("replace")?);
    let [found, expected] = [&learned, &replaced].map(|outcome| rounded(&outcome.stdout));
    if expected.is_none() || found != expected {
        return Err(format!("{found:?} with mode learn, {expected:?} by the tables").into());
    }
    adds_up(&report)?;
    let all = cells(&report)?;
    let tried = all.iter().filter(|cell| measured(cell) > 1).count();
    let by_native = all.iter().any(|cell| cell["candidates"].to_string().contains("\"native\""));
    if tried < 2 || by_native {
        return Err(format!("{tried} kinds were tried\n{all:#?}").into());
    }
    Ok(())
}

/// A run writes what it has learned, the next one begins with it and adds to it.
fn handed_on(family: &Family) -> Result<(), Failed> {
    // What wins is a matter of time, and whether anything does in so few calls: on a machine with other work one try in
    // some finds no winner, or looks for another one in the second run.
    let mut outcome = hand_on(family);
    for _ in 0..8 {
        if outcome.is_ok() {
            break;
        }
        outcome = hand_on(family);
    }
    outcome
}

fn hand_on(family: &Family) -> Result<(), Failed> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let file = folder.path().join("learned.rules");
    let path = file.display().to_string();
    let variables = [LEARN, BUDGET, ("COLLIE_LEARN", path.as_str())];
    let mut calls_before = 0;
    for run in 0..2 {
        let (outcome, report) = accounted(family, "learned.c", &["1", "3000"], 2, &variables)?;
        let text = std::fs::read_to_string(&file).map_err(|error| format!("{path}: {error}\n{}", outcome.told()))?;
        let of_allreduce = |line: &&str| line.starts_with("#:") && line.contains("MPI_Allreduce");
        let evidence =
            text.lines().find(of_allreduce).ok_or_else(|| format!("no evidence of MPI_Allreduce\n{text}"))?;
        let evidence: Value = serde_json::from_str(&evidence[2..]).map_err(|error| format!("{error}: {evidence}"))?;
        let rules = text.lines().filter(|line| line.starts_with("allreduce ") || line.starts_with("bcast ")).count();
        let calls = evidence["calls"].as_u64().unwrap_or(0);
        // A kind whose candidates are alike may have no winner yet.
        if rules == 0 || calls <= calls_before || evidence["date"].as_str().is_none_or(|date| date.len() != 10) {
            return Err(format!("run {run}: {rules} rules, {calls} calls after {calls_before}\n{text}").into());
        }
        calls_before = calls;
        let cell = cells(&report)?.iter().find(|cell| cell["function"] == "MPI_Allreduce").ok_or("no MPI_Allreduce")?;
        // What is known from the run before is looked at now and then, not tried again.
        if run == 1 && (cell["won"] != true || cell["tried_calls"].as_u64().is_none_or(|tried| tried > 200)) {
            return Err(format!("the second run began anew\n{cell:#}\n{text}").into());
        }
    }
    let others: Vec<_> = std::fs::read_dir(folder.path()).map_err(|error| error.to_string())?.collect();
    if others.len() == 1 { Ok(()) } else { Err(format!("beside the file: {others:?}").into()) }
}
