//! Buffers in memory of a GPU, which a stand-in for CUDA's driver library claims: those calls are the MPI library's,
//! and all that follow on the communicator, and no others.

use crate::job::Outcome;
use crate::mpi::{Family, Launch};
use crate::report::{self, Report};
use libtest_mimic::{Failed, Trial};
use std::path::PathBuf;

const SOURCE: &str = "device_memory.c";

/// The first rank that has the stand-in, what COLLIE_DEVICE is, and whether ranks that have it are asked.
const SETTINGS: [(&str, &str, &str, bool); 6] = [
    ("all_ranks", "0", "", true),
    ("one_rank", "2", "", true),
    ("no_rank", "9", "", false),
    ("ask", "1", "ask", true),
    ("host", "0", "host", false),
    ("native", "2", "native", false),
];

pub fn trials(family: &'static Family) -> Vec<Trial> {
    let trial = |(name, first, device, asked): (&'static str, _, _, _)| {
        let test = move || device_memory(family, first, device, asked);
        Trial::test(format!("{}::device_memory::{name}", family.name), test)
    };
    SETTINGS.into_iter().map(trial).collect()
}

/// The stand-in under the name by which CUDA's is known.
fn stand_in(family: &Family) -> Result<PathBuf, Failed> {
    let flags = ["-shared", "-fPIC", "-Wl,-soname,libcuda.so.1"];
    let library = family.compiled("device_runtime.c", &flags)?;
    let link =
        library.with_file_name(format!("libcuda.so.{}", report::fresh().file_stem().unwrap_or_default().display()));
    std::os::unix::fs::symlink(&library, &link).map_err(|error| format!("{}: {error}", link.display()))?;
    Ok(link)
}

fn device_memory(family: &Family, first: &str, device: &str, asked: bool) -> Result<(), Failed> {
    let (path, library) = (report::fresh(), stand_in(family)?);
    let path_text = path.display().to_string();
    let command = vec![family.program(SOURCE)?.display().to_string(), library.display().to_string(), first.to_owned()];
    let variables = [("COLLIE_REPORT", path_text.as_str()), ("COLLIE_DEVICE", device)];
    let launch = Launch { ranks: 3, command, variables: &variables, preload: family.preload()?, others: Vec::new() };
    let outcome = family.run(&launch)?.success()?;
    std::fs::remove_file(&library).map_err(|error| format!("{}: {error}", library.display()))?;
    let report = Report::read(&path, &outcome)?;
    report.accounts_for(&outcome)?;
    if outcome.stdout.contains("was asked: yes") != asked {
        return Err(format!("whether the stand-in was asked is wrong\n{}", outcome.told()).into());
    }
    let cases = outcome.stdout.lines().filter_map(|line| line.strip_prefix("case ")).map(|case| {
        let (name, rest) = case.split_once(": ")?;
        let mut words = rest.split(' ');
        let claimed = words.next()? == "claimed";
        Some((name, claimed, words.next()?.parse().ok()?, words.next()?.parse().ok()?))
    });
    let cases: Vec<(_, _, u64, u64)> = cases.collect::<Option<_>>().ok_or("the program's cases cannot be read")?;
    if cases.len() != 9 {
        return Err(format!("{} cases\n{}", cases.len(), outcome.told()).into());
    }
    for (name, claimed, before, after) in cases {
        // Its ranks agree before they have the stand-in.
        let late = name == "loaded late";
        let (native, reason) = match device {
            "" if claimed && !late => (after, "fallback: device memory"),
            "ask" if claimed => (after, "fallback: device memory"),
            "native" if !late => (before + after, "COLLIE_DEVICE=native"),
            _ => (0, ""),
        };
        expect(&report, &outcome, name, before + after - native, (native, reason))?;
    }
    Ok(())
}

/// So many calls on the communicator are replaced, so many native for that reason, and no others; barriers left out.
fn expect(
    report: &Report,
    outcome: &Outcome,
    name: &str,
    replaced: u64,
    (native, reason): (u64, &str),
) -> Result<(), Failed> {
    let communicators = report.whole["communicators"].as_array().ok_or("no communicators")?;
    let place = communicators.iter().position(|row| row["name"] == name).ok_or_else(|| format!("no '{name}'"))?;
    let rows = report.whole["rows"].as_array().ok_or("no rows")?;
    let rows = rows.iter().filter(|row| row["communicator"] == place && row["function"] != "MPI_Barrier");
    let (mut found_replaced, mut found_native) = (0, 0);
    for row in rows {
        let calls = row["calls_all_ranks"].as_u64().unwrap_or_default();
        match row["algorithm"] == "native" {
            true if row["decided_by"] == reason => found_native += calls,
            true => return Err(format!("{name}: native by {}\n{}", row["decided_by"], outcome.told()).into()),
            false => found_replaced += calls,
        }
    }
    if (found_replaced, found_native) == (replaced, native) {
        return Ok(());
    }
    let found = format!("{found_replaced} replaced, {found_native} native");
    Err(format!("{name}: {found}, expected {replaced} and {native}\n{}", outcome.told()).into())
}
