//! Parts of programs in the report: regions that they name, and places that they call collectives from.

use crate::job::alone;
use crate::mpi::{Family, Launch};
use crate::programs::linked_program;
use crate::report::{self, Report};
use libtest_mimic::{Failed, Trial};
use serde_json::Value;
use std::path::PathBuf;

type Test = fn(&Family) -> Result<(), Failed>;

const TESTS: &[(&str, Test)] = &[
    ("parts::regions", regions),
    ("parts::regions_f08", regions_of_fortran),
    ("parts::regions_of_threads", regions_of_threads),
    ("parts::paused", paused),
    ("parts::sites", sites),
    ("parts::sites_of_plugins", sites_of_plugins),
];

pub fn trials(family: &'static Family) -> Vec<Trial> {
    let trial = |(name, test): &(&str, Test)| {
        let test = *test;
        Trial::test(format!("{}::{name}", family.name), move || test(family))
    };
    // It looks at times.
    let recorded = alone(format!("{}::parts::recorded", family.name), move || recorded(family));
    TESTS.iter().map(trial).chain([recorded]).collect()
}

/// The report of a run on two ranks, and what the run said.
fn run(
    family: &Family,
    command: Vec<String>,
    preload: Vec<PathBuf>,
    variables: &[(&str, &str)],
) -> Result<(Report, String), Failed> {
    let path = report::fresh();
    let path_text = path.display().to_string();
    let mut all = vec![("COLLIE_REPORT", path_text.as_str())];
    all.extend(variables);
    let outcome = family.run(&Launch { ranks: 2, command, variables: &all, preload, others: Vec::new() })?.success()?;
    let report = Report::read(&path, &outcome)?;
    report.accounts_for(&outcome).ok();
    Ok((report, outcome.told()))
}

/// While recording is off nothing counts, neither calls nor what they send.
fn paused(family: &Family) -> Result<(), Failed> {
    let command = vec![family.program("pcontrol.c")?.display().to_string()];
    let (report, words) = run(family, command, family.preload()?, &[("COLLIE_ALLREDUCE", "recursive_doubling")])?;
    let recorded = report.calls(|row| row.algorithm != "native");
    let played = report.whole["played"]["calls"].as_u64().unwrap_or(0);
    let traffic = report.whole["traffic"].as_array().into_iter().flatten();
    // Of two ranks each sends the other one message in a call.
    let sent: u64 = traffic.filter_map(|row| row["messages"].as_u64()).sum();
    if recorded == 0 || played != recorded || sent != recorded {
        return Err(format!("{recorded} calls recorded, {played} played, {sent} messages\n{words}").into());
    }
    Ok(())
}

/// Name, how often on all ranks, and collective calls in it.
fn told(report: &Report) -> Vec<(String, u64, u64)> {
    let rows = report.whole["regions"].as_array().cloned().unwrap_or_default();
    let number = |row: &Value, name: &str| row[name].as_u64().unwrap_or_default();
    let region = |row: &Value| {
        let name = row["name"].as_str().unwrap_or_default().to_owned();
        (name, number(row, "entries_all_ranks"), number(row, "calls_all_ranks"))
    };
    let mut regions: Vec<_> = rows.iter().map(region).collect();
    regions.sort();
    regions
}

fn regions(family: &Family) -> Result<(), Failed> {
    let (report, words) = run(family, linked_program(family, "regions.c")?, Vec::new(), &[])?;
    let expected =
        [("by pcontrol", 2, 2), ("inner", 20, 40), ("left", 6, 6), ("outer", 2, 40), ("until the end", 2, 2)];
    let expected = expected.map(|(name, entries, calls)| (name.to_owned(), entries, calls));
    let seconds = |name: &str| {
        let rows = report.whole["regions"].as_array().into_iter().flatten();
        let mut row = rows.filter(|row| row["name"] == name);
        row.next().and_then(|row| row["total_seconds"]["mean"].as_f64()).unwrap_or_default()
    };
    // Ten sleeps of two milliseconds; the inner region lies within the outer one.
    if told(&report) != expected || seconds("inner") < 0.02 || seconds("outer") < seconds("inner") {
        return Err(format!("{:#}\n{words}", report.whole["regions"]).into());
    }
    let mistakes = [
        "collie_region_end(\"never begun\"): no such region has begun",
        "MPI_Pcontrol(-1, \"never begun either\"): no such region has begun",
        "MPI_Pcontrol(17): unknown level",
    ];
    match mistakes.iter().find(|mistake| words.matches(**mistake).count() != 2) {
        Some(mistake) => Err(format!("not told once by each of two ranks: {mistake}\n{words}").into()),
        None => Ok(()),
    }
}

/// Shares are of the part of the run that was recorded, of which one of two ranks waits most of the time in a barrier, and so
/// are the times of regions.
fn recorded(family: &Family) -> Result<(), Failed> {
    let command = vec![family.program("recorded_part.c")?.display().to_string()];
    let (report, words) = run(family, command, family.preload()?, &[("COLLIE_SYNC", "clock")])?;
    let number = |name: &str| report.whole[name].as_f64().unwrap_or(f64::NAN);
    let communicator = &report.whole["communicators"][0];
    let (run, recorded, share) = (number("run_seconds"), number("recorded_seconds"), number("collective_share"));
    let spanning = report.whole["regions"][0]["total_seconds"]["mean"].as_f64().unwrap_or(f64::NAN);
    let in_part = (0.24..0.4).contains(&recorded) && (0.24..0.4).contains(&spanning) && spanning <= 1.001 * recorded;
    let as_told = run > 0.6 && in_part && (0.25..0.6).contains(&share);
    if as_told && communicator["comparable_calls"] == 1 {
        Ok(())
    } else {
        let summary = format!(
            "{recorded} s of {run} s recorded, {share} of it in collectives, {spanning} s in the region; {communicator:#}"
        );
        Err(format!("{summary}\n{words}").into())
    }
}

/// No thread ends what another one has begun, and what a thread is in at the end is in the report.
fn regions_of_threads(family: &Family) -> Result<(), Failed> {
    let (report, words) = run(family, linked_program(family, "regions_of_threads.c")?, Vec::new(), &[])?;
    if told(&report) != [("own".to_owned(), 2, 2), ("to the end".to_owned(), 2, 6)] {
        return Err(format!("{:#}\n{words}", report.whole["regions"]).into());
    }
    Ok(())
}

fn regions_of_fortran(family: &Family) -> Result<(), Failed> {
    let (report, words) = run(family, linked_program(family, "regions_f08.f90")?, Vec::new(), &[])?;
    if told(&report) != [("in fortran".to_owned(), 6, 6)] {
        return Err(format!("{:#}\n{words}", report.whole["regions"]).into());
    }
    Ok(())
}

fn sites(family: &Family) -> Result<(), Failed> {
    let command = vec![family.program("sites.c")?.display().to_string()];
    let (report, words) = run(family, command.clone(), family.preload()?, &[("COLLIE_SITES", "on")])?;
    let rows = report.whole["sites"].as_array().cloned().unwrap_or_default();
    let calls = |function: &str| {
        let at = |row: &&Value| {
            let place = row["place"].as_str().unwrap_or_default();
            place.starts_with(function) && place.contains("(sites.c:") && row["function"] == "MPI_Allreduce"
        };
        rows.iter().filter(at).filter_map(|row| row["calls_all_ranks"].as_u64()).sum::<u64>()
    };
    if (calls("often "), calls("seldom ")) != (120, 60) {
        return Err(format!("{:#}\n{words}", report.whole["sites"]).into());
    }
    let (without, words) = run(family, command, family.preload()?, &[])?;
    if !without.whole["sites"].is_null() {
        return Err(format!("sites though nobody wanted them\n{words}").into());
    }
    Ok(())
}

/// Calls of a plugin that is gone when the report is made are its own, whatever lies at its addresses by then.
fn sites_of_plugins(family: &Family) -> Result<(), Failed> {
    let plugin = family.compiled("plugins.c", &["-DPLUGIN", "-shared", "-fPIC"])?;
    let [first, second] = ["first", "second"].map(|name| plugin.with_file_name(format!("plugins.{name}.so")));
    for copy in [&first, &second] {
        std::fs::copy(&plugin, copy).map_err(|error| format!("{}: {error}", copy.display()))?;
    }
    let command = [&family.program("plugins.c")?, &first, &second].map(|path| path.display().to_string()).to_vec();
    let (report, words) = run(family, command, family.preload()?, &[("COLLIE_SITES", "on")])?;
    let rows = report.whole["sites"].as_array().cloned().unwrap_or_default();
    let of = |plugin: &PathBuf| {
        let rows = rows.iter().filter(|row| row["module"] == plugin.display().to_string());
        let told = |row: &Value| {
            let place = row["place"].as_str().unwrap_or_default();
            (place.starts_with("work (plugins.c:"), row["calls_all_ranks"].as_u64().unwrap_or_default())
        };
        rows.map(told).collect::<Vec<_>>()
    };
    if (of(&first), of(&second)) != (vec![(true, 12)], vec![(true, 10)]) {
        return Err(format!("{:#}\n{words}", report.whole["sites"]).into());
    }
    Ok(())
}
