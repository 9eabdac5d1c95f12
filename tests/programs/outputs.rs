//! Where reports and traces go, and what becomes of them where they cannot go there.

use crate::job::Outcome;
use crate::mpi::{Family, Launch};
use crate::report::{self, Report};
use libtest_mimic::{Failed, Trial};
use std::path::{Path, PathBuf};

type Test = fn(&Family) -> Result<(), Failed>;

const TESTS: &[(&str, Test)] = &[("outputs::elsewhere", elsewhere)];

pub fn trials(family: &'static Family) -> Vec<Trial> {
    let trial = |(name, test): &(&str, Test)| {
        let test = *test;
        Trial::test(format!("{}::{name}", family.name), move || test(family))
    };
    TESTS.iter().map(trial).collect()
}

/// A folder that no other test uses.
fn folder() -> Result<PathBuf, Failed> {
    let folder = report::fresh().with_extension("folder");
    // Left by a process of tests that had this number before.
    drop(std::fs::remove_dir_all(&folder));
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(folder)
}

/// The names in a folder that begin so, in order.
fn files(folder: &Path, beginning: &str) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<_> = names.filter(|name| name.starts_with(beginning)).collect();
    names.sort();
    names
}

fn run(family: &Family, variables: &[(&str, &str)]) -> Result<Outcome, Failed> {
    let command = vec![family.program("exit_code.c")?.display().to_string(), "0".to_owned()];
    let launch = Launch { ranks: 2, command, variables, preload: family.preload()?, others: Vec::new() };
    family.run(&launch)?.success()
}

/// Paths that cannot be written are told at the start, each once; the report and the trace are found in the folder for
/// temporary files, and if that is none either, the report on stderr.
fn elsewhere(family: &Family) -> Result<(), Failed> {
    let folder = folder()?;
    let there = folder.display().to_string();
    let (target, trace) = ("/proc/no/such/report.json", "/proc/no/such/trace.json");
    let outcome = run(family, &[("COLLIE_REPORT", target), ("COLLIE_TRACE", trace), ("TMPDIR", &there)])?;
    let wrong = |what: &str| Failed::from(format!("{what}\n{}", outcome.told()));
    let lines: Vec<_> = outcome.stderr.lines().filter(|line| line.starts_with("collie: ")).collect();
    let [report_tried, trace_tried, trace_told, report_told] = lines[..] else {
        return Err(wrong("not two lines at the start and two at the end"));
    };
    for (line, variable, path) in [(report_tried, "COLLIE_REPORT", target), (trace_tried, "COLLIE_TRACE", trace)] {
        let words = format!("rank 0: {variable}: {path} cannot be written: there is no folder /proc/no/such; ");
        if !line.contains(&words) {
            return Err(wrong(&words));
        }
    }
    let in_folder = |beginning: &str| match &files(&folder, beginning)[..] {
        [file] => Ok(folder.join(file)),
        files => Err(wrong(&format!("not one file {beginning}: {files:?}"))),
    };
    let (report, trace) = (in_folder("report.process-")?, in_folder("trace.process-")?);
    if !report_told.contains(&*report.to_string_lossy()) || !trace_told.contains(&*trace.to_string_lossy()) {
        return Err(wrong("the lines at the end do not say where"));
    }
    if Report::read(&report, &outcome)?.calls(|row| row.function == "MPI_Allreduce") != 2 {
        return Err(wrong("not the calls that were made"));
    }
    let text = std::fs::read(&trace).map_err(|error| format!("{}: {error}", trace.display()))?;
    serde_json::from_slice::<serde_json::Value>(&text).map_err(|error| format!("the trace: {error}"))?;

    let outcome = run(family, &[("COLLIE_REPORT", target), ("TMPDIR", "/proc/no/such")])?;
    if !outcome.stderr.contains("; it follows here") || !outcome.stderr.contains("Allreduce WORLD") {
        return Err(format!("no report on stderr\n{}", outcome.told()).into());
    }
    Ok(std::fs::remove_dir_all(&folder)?)
}
