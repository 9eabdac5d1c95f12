//! What happens to records, and to what is kept of calls, that no longer fit into the memory they may take.

use crate::job::Outcome;
use crate::mpi::{Family, Launch};
use crate::report::{self, Report};
use libtest_mimic::{Failed, Trial};
use serde_json::Value;

/// Of `many_cells.c`: communicators, calls in each of their twenty rows, ranks.
const COMMUNICATORS: u64 = 40;
const CALLS: u64 = 10;
const RANKS: usize = 2;

pub fn trials(family: &'static Family) -> Vec<Trial> {
    let trial =
        |name: &str, spill| Trial::test(format!("{}::bounds::{name}", family.name), move || bounded(family, spill));
    let calls = Trial::test(format!("{}::bounds::kept_calls", family.name), move || kept_calls(family));
    let waits = Trial::test(format!("{}::bounds::waits", family.name), move || waits(family));
    let forgotten = Trial::test(format!("{}::bounds::forgotten_waits", family.name), move || forgotten_waits(family));
    vec![trial("memory_only", false), trial("memory_and_file", true), calls, waits, forgotten]
}

/// The calls in rows, those of them that are waits, and those beyond, of `many_waits.c` with little memory.
fn calls_and_waits(family: &Family, arguments: &[&str]) -> Result<((u64, u64, u64), Outcome), Failed> {
    let path = report::fresh();
    let path_text = path.display().to_string();
    let variables = [("COLLIE_REPORT", path_text.as_str()), ("COLLIE_MEMORY", "1M")];
    let program = family.program("many_waits.c")?.display().to_string();
    let command = std::iter::once(program.as_str()).chain(arguments.iter().copied()).map(str::to_owned).collect();
    let launch = Launch { ranks: 2, command, variables: &variables, preload: family.preload()?, others: Vec::new() };
    let outcome = family.run(&launch)?.success()?;
    let report = Report::read(&path, &outcome)?;
    let beyond = report.whole["beyond"]["calls"].as_u64().unwrap_or(0);
    Ok(((report.calls(|_| true), report.calls(|row| row.function.ends_with("(wait)")), beyond), outcome))
}

/// Waits for nonblocking collectives that there is no room for, on communicators with a record and without, are told in
/// sum.
fn waits(family: &Family) -> Result<(), Failed> {
    let ((told, waits, beyond), outcome) = calls_and_waits(family, &["200"])?;
    // 200 of each on either rank.
    if told + beyond == 800 && waits > 0 && waits < 400 && beyond > 0 {
        Ok(())
    } else {
        Err(format!("{told} calls in rows, {waits} of them waits, {beyond} in none\n{}", outcome.told()).into())
    }
}

/// What was forgotten of communicators that are gone, and of their requests, takes no room from those to come.
fn forgotten_waits(family: &Family) -> Result<(), Failed> {
    let (found, outcome) = calls_and_waits(family, &["600", "10"])?;
    match found {
        (40, 20, 0) => Ok(()),
        _ => Err(format!("calls in rows, waits among them, and calls in none: {found:?}\n{}", outcome.told()).into()),
    }
}

/// More different calls than there is room to keep: those kept before go, the report says how many, and results and
/// records are as they are where there is room.
fn kept_calls(family: &Family) -> Result<(), Failed> {
    let program = family.program("evicted_calls.c")?.display().to_string();
    for memory in ["1M", "64M"] {
        let path = report::fresh();
        let path_text = path.display().to_string();
        let variables = [
            ("COLLIE_REPORT", path_text.as_str()),
            ("COLLIE_MEMORY", memory),
            ("COLLIE_ALLREDUCE", "recursive_doubling"),
            ("COLLIE_BCAST", "binomial"),
        ];
        let command = [&program, "500", "3"].map(str::to_owned).to_vec();
        let launch =
            Launch { ranks: 3, command, variables: &variables, preload: family.preload()?, others: Vec::new() };
        let outcome = family.run(&launch)?.success()?;
        let report = Report::read(&path, &outcome)?;
        report.accounts_for(&outcome)?;
        let (ours, cache) = (report.calls(|row| row.algorithm != "native"), &report.whole["cache"]);
        let as_told = if memory == "1M" {
            // An eighth of it is for these; each of 3 ranks meets two kinds of call 1000 times over that are no longer
            // kept.
            let number = |name: &str| cache[name].as_u64().unwrap_or(0);
            number("bound") == 128 << 10
                && number("most_bytes") <= number("bound")
                && number("most_bytes") > number("bound") / 2
                && number("evicted") > 3 * 2 * 1000
                && number("refused") == 0
        } else {
            cache.is_null()
        };
        if ours != 3 * 3 * 500 * 3 || !as_told {
            return Err(format!("{memory}: {ours} calls of ours; kept: {cache}\n{}", outcome.told()).into());
        }
    }
    Ok(())
}

fn bounded(family: &Family, spill: bool) -> Result<(), Failed> {
    let path = report::fresh();
    let trace = path.with_extension("trace");
    let (path_text, trace_text) = (path.display().to_string(), trace.display().to_string());
    let variables = [
        ("COLLIE_REPORT", path_text.as_str()),
        ("COLLIE_TRACE", &trace_text),
        ("COLLIE_MEMORY", "1M"),
        ("COLLIE_SPILL", if spill { "1G" } else { "0" }),
    ];
    let mut command = vec![family.program("many_cells.c")?.display().to_string()];
    command.extend([COMMUNICATORS, CALLS].map(|number| number.to_string()));
    // Those that are freed give room back.
    command.push("kept".to_owned());
    let launch =
        Launch { ranks: RANKS, command, variables: &variables, preload: family.preload()?, others: Vec::new() };
    let outcome = family.run(&launch)?.success()?;
    let report = Report::read(&path, &outcome)?;
    let made = COMMUNICATORS * CALLS * 20 * RANKS as u64;

    // Half a mebibyte holds 170 rows of 3 KiB.
    let (rows, told) = (report.rows.len(), report.calls(|_| true));
    let beyond = report.whole["beyond"]["calls"].as_u64().unwrap_or(0);
    let of_ranks: u64 =
        report.whole["per_rank"].as_array().into_iter().flatten().filter_map(|row| row["calls"].as_u64()).sum();
    if rows != 170 || told + beyond != made || of_ranks != made {
        return Err(format!(
            "{made} calls: {told} in {rows} rows, {beyond} in none, {of_ranks} of ranks\n{}",
            outcome.told()
        )
        .into());
    }

    // One quarter holds 6553 calls of 40 bytes.
    let dropped = report.whole["dropped_events"].as_u64().unwrap_or(0);
    let expected = if spill { 0 } else { made - 6553 * RANKS as u64 };
    let text = std::fs::read(&trace).map_err(|error| format!("no trace: {error}\n{}", outcome.told()))?;
    std::fs::remove_file(&trace).map_err(|error| format!("{}: {error}", trace.display()))?;
    let trace: Value = serde_json::from_slice(&text).map_err(|error| format!("the trace is no JSON: {error}"))?;
    let slices = trace["traceEvents"].as_array().into_iter().flatten().filter(|event| event["ph"] == "X");
    let (gaps, calls): (Vec<&Value>, Vec<&Value>) = slices.partition(|event| event["cat"] == "missing");
    // Those without a row are there with their function.
    let expected_in_trace = (made - expected) as usize;
    // Each rank says how many of its calls are missing.
    let missing: Vec<(u64, u64)> =
        gaps.iter().filter_map(|gap| Some((gap["pid"].as_u64()?, gap["args"]["calls"].as_u64()?))).collect();
    let of_rank = expected / RANKS as u64;
    let expected_missing: Vec<(u64, u64)> =
        (0..RANKS as u64).filter(|_| expected > 0).map(|rank| (rank, of_rank)).collect();
    if dropped != expected || calls.len() != expected_in_trace || missing != expected_missing {
        let found = format!("{dropped} dropped, {} in the trace, missing {missing:?}", calls.len());
        return Err(format!("{found}\n{}", outcome.told()).into());
    }
    Ok(())
}
