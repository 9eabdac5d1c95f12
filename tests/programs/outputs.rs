//! Where reports and traces go, and what becomes of them where they cannot go there.

use crate::job::{Outcome, alone};
use crate::mpi::{Family, Launch};
use crate::report::{self, Report};
use libtest_mimic::{Failed, Trial};
use std::path::{Path, PathBuf};
use std::process::Command;

type Test = fn(&Family) -> Result<(), Failed>;

const TESTS: &[(&str, Test)] = &[
    ("outputs::elsewhere", elsewhere),
    ("outputs::beside_another_jobs", beside_another_jobs),
    ("outputs::placeholders", placeholders),
    ("outputs::checkpoints", checkpoints),
    ("outputs::no_thread_for_checkpoints", no_thread_for_checkpoints),
    ("outputs::much_that_is_thread_local", much_that_is_thread_local),
    ("outputs::limited_files", limited_files),
    ("outputs::unread_pipe", unread_pipe),
    ("outputs::full_disk", full_disk),
    ("outputs::folder_for_a_trace", folder_for_a_trace),
    ("outputs::told_once_a_node", told_once_a_node),
    ("outputs::descriptor_2", descriptor_2),
];

pub fn trials(family: &'static Family) -> Vec<Trial> {
    let trial = |(name, test): &(&str, Test)| {
        let test = *test;
        alone(format!("{}::{name}", family.name), move || test(family))
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
    run_after(family, &[], variables)
}

/// The same, started by a command before it.
fn run_after(family: &Family, before: &[&str], variables: &[(&str, &str)]) -> Result<Outcome, Failed> {
    let mut command: Vec<_> = before.iter().map(ToString::to_string).collect();
    command.extend([family.program("exit_code.c")?.display().to_string(), "0".to_owned()]);
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

/// A second and a third job with the same names leave the first one's files as they are, and say so in one line.
fn beside_another_jobs(family: &Family) -> Result<(), Failed> {
    let folder = folder()?;
    let at = |name: &str| folder.join(name);
    let [report, page, trace] = ["run.json", "run.html", "trace"].map(|name| at(name).display().to_string());
    let targets = format!("{report},{page}");
    let variables = [("COLLIE_REPORT", &*targets), ("COLLIE_TRACE", &*trace)];
    let mut first = Vec::new();
    for job in 1..=3 {
        let outcome = run(family, &variables)?;
        let told = outcome.stderr.lines().filter(|line| line.contains("files of another job exist already"));
        let told: Vec<_> = told.collect();
        let right = match told[..] {
            [] => job == 1,
            [line] => line.contains(&format!("run.{job}.html")) && line.contains(&format!("trace.{job}")),
            _ => false,
        };
        let names = files(&folder, "");
        if !right || names.len() != 3 * job {
            return Err(format!("job {job}: {names:?}\n{}", outcome.told()).into());
        }
        let now = ["run.json", "run.html", "trace"].map(|name| std::fs::read(at(name)).unwrap_or_default());
        if job == 1 {
            first = now.to_vec();
        } else if first != now {
            return Err(format!("job {job} has changed the first one's files\n{}", outcome.told()).into());
        }
    }
    Ok(std::fs::remove_dir_all(&folder)?)
}

/// A rank that cannot write checkpoints comes to the end with the others.
fn no_thread_for_checkpoints(family: &Family) -> Result<(), Failed> {
    let folder = folder()?;
    let target = folder.join("run.json").display().to_string();
    let mut preload = vec![family.compiled("no_threads.c", &["-shared", "-fPIC", "-ldl"])?];
    preload.extend(family.preload()?);
    let command = vec![family.program("exit_code.c")?.display().to_string(), "0".to_owned()];
    let variables = [("COLLIE_REPORT", target.as_str()), ("COLLIE_CHECKPOINT", "1")];
    let launch = Launch { ranks: 3, command, variables: &variables, preload, others: Vec::new() };
    let outcome = family.run(&launch)?.success()?;
    if !outcome.stderr.contains("rank 1: there are no checkpoints") || files(&folder, "") != ["run.json"] {
        return Err(format!("{:?}\n{}", files(&folder, ""), outcome.told()).into());
    }
    Ok(std::fs::remove_dir_all(&folder)?)
}

/// What is thread-local in the program takes nothing of the stacks of Collie's own threads.
fn much_that_is_thread_local(family: &Family) -> Result<(), Failed> {
    let folder = folder()?;
    let [report, trace] = ["run.html", "trace.json"].map(|name| folder.join(name).display().to_string());
    let variables = [
        ("COLLIE_REPORT", report.as_str()),
        ("COLLIE_TRACE", &trace),
        ("COLLIE_SITES", "on"),
        ("COLLIE_CHECKPOINT", "1"),
        ("COLLIE_WATCHDOG", "1"),
    ];
    let command = vec![family.program("thread_local.c")?.display().to_string()];
    let launch = Launch { ranks: 2, command, variables: &variables, preload: family.preload()?, others: Vec::new() };
    let outcome = family.run(&launch)?.success()?;
    let has_none =
        ["there are no checkpoints", "calls are not watched"].iter().any(|words| outcome.stderr.contains(words));
    if has_none || files(&folder, "") != ["run.html", "trace.json"] {
        return Err(format!("{:?}\n{}", files(&folder, ""), outcome.told()).into());
    }
    Ok(std::fs::remove_dir_all(&folder)?)
}

/// A limit on the length of files ends no program, neither while it runs nor at its end.
fn limited_files(family: &Family) -> Result<(), Failed> {
    let folder = folder()?;
    let [report, trace, there] = ["run.json", "trace", ""].map(|name| folder.join(name).display().to_string());
    let variables =
        [("COLLIE_REPORT", &*report), ("COLLIE_TRACE", &trace), ("COLLIE_MEMORY", "1M"), ("TMPDIR", &there)];
    let command = vec![family.program("limited_files.c")?.display().to_string()];
    let launch = Launch { ranks: 2, command, variables: &variables, preload: family.preload()?, others: Vec::new() };
    let outcome = family.run(&launch)?.success()?;
    for words in ["the trace could not be written to", "; it follows here", "Allreduce WORLD"] {
        if !outcome.stderr.contains(words) {
            return Err(format!("nothing of '{words}'\n{}", outcome.told()).into());
        }
    }
    let left = files(&folder, "run").into_iter().chain(files(&folder, "trace")).collect::<Vec<_>>();
    if !left.is_empty() {
        return Err(format!("left {left:?}\n{}", outcome.told()).into());
    }
    Ok(std::fs::remove_dir_all(&folder)?)
}

/// A pipe that nobody reads from is something that cannot be written to.
fn unread_pipe(family: &Family) -> Result<(), Failed> {
    let folder = folder()?;
    let [pipe, there] = ["pipe.json", ""].map(|name| folder.join(name).display().to_string());
    if !Command::new("mkfifo").arg(&pipe).status()?.success() {
        return Err("no pipe".into());
    }
    let outcome = run(family, &[("COLLIE_REPORT", &*pipe), ("TMPDIR", &there)])?;
    let [report] = &files(&folder, "pipe.process-")[..] else {
        return Err(format!("no report in its place\n{}", outcome.told()).into());
    };
    Report::read(&folder.join(report), &outcome)?;
    Ok(std::fs::remove_dir_all(&folder)?)
}

/// A trace that finds the disk full while it is written goes elsewhere with all calls.
fn full_disk(family: &Family) -> Result<(), Failed> {
    let folder = folder()?;
    let there = folder.display().to_string();
    let outcome = run(family, &[("COLLIE_REPORT", "off"), ("COLLIE_TRACE", "/dev/full"), ("TMPDIR", &there)])?;
    let wrong = |what: &str| Failed::from(format!("{what}\n{}", outcome.told()));
    let [name] = &files(&folder, "")[..] else { return Err(wrong("not one file in its place")) };
    let words =
        format!("the trace could not be written to /dev/full: No space left on device (os error 28); it is in {there}");
    if !name.starts_with("full.process-") || !outcome.stderr.contains(words.trim_end_matches('/')) {
        return Err(wrong(&words));
    }
    let text = std::fs::read(folder.join(name))?;
    let whole: serde_json::Value = serde_json::from_slice(&text).map_err(|error| wrong(&error.to_string()))?;
    let calls = whole["traceEvents"].as_array().into_iter().flatten().filter(|entry| entry["name"] == "MPI_Allreduce");
    if calls.count() != 2 {
        return Err(wrong("not the calls of both ranks"));
    }
    Ok(std::fs::remove_dir_all(&folder)?)
}

/// A folder in the place of a trace is no other job's file: it is told what it is.
fn folder_for_a_trace(family: &Family) -> Result<(), Failed> {
    let folder = folder()?;
    let target = folder.join("trace");
    std::fs::create_dir(&target)?;
    std::fs::write(target.join("something"), "of the user's")?;
    let [target, there] = [target, folder.clone()].map(|path| path.display().to_string());
    let outcome = run(family, &[("COLLIE_REPORT", "off"), ("COLLIE_TRACE", &*target), ("TMPDIR", &there)])?;
    let told = format!("{target} cannot be written: it is a folder");
    let [_, name] = &files(&folder, "trace")[..] else {
        return Err(format!("{:?}\n{}", files(&folder, ""), outcome.told()).into());
    };
    if !outcome.stderr.contains(&told) || outcome.stderr.contains("another job") || !name.starts_with("trace.process-")
    {
        return Err(format!("nothing of '{told}'\n{}", outcome.told()).into());
    }
    Ok(std::fs::remove_dir_all(&folder)?)
}

/// What holds for all ranks of a node is told by one of them.
fn told_once_a_node(family: &Family) -> Result<(), Failed> {
    let nowhere = "/proc/no/such";
    let variables = [
        ("COLLIE_TRACE", "/dev/null"),
        ("COLLIE_REPORT", "/proc/no/such/run.json"),
        ("COLLIE_CHECKPOINT", "1"),
        ("TMPDIR", nowhere),
    ];
    let outcome = run(family, &variables)?;
    for words in ["calls are kept in memory only", "the folder /proc/no/such/run.checkpoint cannot be created"] {
        if outcome.stderr.matches(words).count() != 1 {
            return Err(format!("not once: {words}\n{}", outcome.told()).into());
        }
    }
    Ok(())
}

/// The report goes to a log that the program has put in the place of standard error, and not to a file of its data that
/// has got its number.
fn descriptor_2(family: &Family) -> Result<(), Failed> {
    let folder = folder()?;
    for what in ["data", "log"] {
        let begin = folder.join(what).display().to_string();
        let command = vec![family.program("descriptor_2.c")?.display().to_string(), what.to_owned(), begin.clone()];
        let variables = &[("COLLIE_REPORT", "stderr")];
        let launch = Launch { ranks: 2, command, variables, preload: family.preload()?, others: Vec::new() };
        let outcome = family.run(&launch)?.success()?;
        let [first, second] = [0, 1].map(|rank| std::fs::read_to_string(format!("{begin}{rank}")).unwrap_or_default());
        let told = first.contains("Allreduce WORLD");
        if told != (what == "log") || second != "begin end" || what == "data" && first != second {
            return Err(format!("{what}: {first:?}, {second:?}\n{}", outcome.told()).into());
        }
    }
    Ok(std::fs::remove_dir_all(&folder)?)
}

/// Placeholders stand for what they are said to, and a relative name is seen from where the launcher was started,
/// though the ranks begin elsewhere. No rank but the first has a say.
fn placeholders(family: &Family) -> Result<(), Failed> {
    let folder = folder()?;
    let here = std::env::current_dir()?;
    let up = "../".repeat(here.components().count() - 1);
    let target = format!("{up}{}/%x_%j_%p_%h_%t_100%%.json", folder.display().to_string().trim_start_matches('/'));
    let outcome = run_after(family, &["env", "-C", "/"], &[("COLLIE_REPORT", &target), ("SLURM_JOB_ID", "77")])?;
    let wrong = |what: String| Failed::from(format!("{what}\n{}", outcome.told()));
    let names = files(&folder, "");
    let [name] = &names[..] else { return Err(wrong(format!("not one report: {names:?}"))) };
    let report = Report::read(&folder.join(name), &outcome)?.whole;
    let first = &report["per_rank"][0];
    let (process, host) = (&first["pid"], first["host"].as_str().unwrap_or_default());
    let beginning = format!("exit_code.c_77_{process}_{host}_20");
    if !name.starts_with(&beginning) || name.len() != beginning.len() + "261231T235959_100%.json".len() {
        return Err(wrong(format!("{name} does not begin with {beginning}")));
    }
    Ok(std::fs::remove_dir_all(&folder)?)
}

/// A job of which every process is killed leaves a recent checkpoint of each rank, and no more; `collie report` makes
/// one report of them that names a rank that is missing. A job that ends well leaves none.
fn checkpoints(family: &Family) -> Result<(), Failed> {
    let folder = folder()?;
    let (target, there) = (folder.join("run.json").display().to_string(), folder.join("run.checkpoint"));
    let run = |how: &str| {
        let program = family.program("killed.c")?.display().to_string();
        let command = vec![program, there.display().to_string(), how.to_owned()];
        let variables = [("COLLIE_REPORT", target.as_str()), ("COLLIE_CHECKPOINT", "1")];
        family.run(&Launch { ranks: 3, command, variables: &variables, preload: family.preload()?, others: Vec::new() })
    };
    let outcome = run("end")?.success()?;
    let wrong = |what: String| Failed::from(format!("{what}\n{}", outcome.told()));
    if files(&folder, "") != ["run.json"] {
        return Err(wrong(format!("a job that ended well left {:?}", files(&folder, ""))));
    }
    Report::read(&folder.join("run.json"), &outcome)?.accounts_for(&outcome)?;

    let outcome = run("kill")?;
    let wrong = |what: String| Failed::from(format!("{what}\n{}", outcome.told()));
    let left = files(&there, "");
    if outcome.status == Some(0)
        || left != ["rank0.json", "rank1.json", "rank2.json"]
        || folder.join("run.json").exists()
    {
        return Err(wrong(format!("left {left:?}")));
    }
    std::fs::remove_file(there.join("rank1.json"))?;
    let collie = option_env!("CARGO_BIN_EXE_collie").ok_or("tests are built with the feature cli")?;
    let told = std::process::Command::new(collie).args(["report", "--format", "json"]).arg(&there).output()?;
    let report: serde_json::Value = serde_json::from_slice(&told.stdout)
        .map_err(|error| wrong(format!("{error}: {}", String::from_utf8_lossy(&told.stderr))))?;
    let words = report["partial"].as_str().unwrap_or_default();
    if !words.starts_with("2 of 3 ranks, ")
        || !words.ends_with("; missing: 1")
        || report["missing"] != serde_json::json!([1])
    {
        return Err(wrong(format!("{words}, {}", report["missing"])));
    }
    let row = &report["rows"][0];
    let (calls, ranks) = (row["calls"].as_u64().unwrap_or_default(), row["ranks"].as_u64());
    if row["function"] != "MPI_Allreduce" || calls == 0 || ranks != Some(2) {
        return Err(wrong(format!("{row:#}")));
    }
    Ok(std::fs::remove_dir_all(&folder)?)
}
