//! Pitfalls that lie in how a job is launched and configured rather than in what a program calls.

use crate::job::{Job, Outcome, alone};
use crate::mpi::{Family, Launch, library_of, root, scratch, tool};
use crate::programs::{accounted, one_row_of_reduce};
use crate::report::{self, Report};
use collie::schedule::simulate::Network;
use libtest_mimic::{Failed, Trial};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

type Test = fn(&Family) -> Result<(), Failed>;

const TESTS: &[(&str, Test)] = &[
    ("pitfall_13_divergent_settings", divergent_settings),
    ("pitfall_13_wrong_settings_of_others", wrong_settings_of_others),
    ("pitfall_14_preload_leaks", preload_leaks),
    ("pitfall_15_forced_with_unmet_need", forced_with_unmet_need),
    ("pitfall_16_library_of_another_mpi", library_of_another_mpi),
    ("unknown_library", unknown_library),
    ("namesake", namesake),
    ("pitfall_17_stacked_tools", stacked_tools),
    ("sanitized", sanitized),
    ("unknown_algorithm", unknown_algorithm),
    ("native_mode", native_mode),
    ("native_mode_waits_for_nobody", native_mode_waits_for_nobody),
    ("trace_log", trace_log),
];

/// Those that measure: no other job runs beside them.
const ALONE: &[(&str, Test)] = &[("fitted_network", fitted_network)];

pub fn trials(family: &'static Family) -> Vec<Trial> {
    let trial = |(name, test): &(&str, Test)| {
        let test = *test;
        Trial::test(format!("{}::{name}", family.name), move || test(family))
    };
    let by_itself = |(name, test): &(&str, Test)| {
        let test = *test;
        alone(format!("{}::{name}", family.name), move || test(family))
    };
    TESTS.iter().map(trial).chain(ALONE.iter().map(by_itself)).collect()
}

fn expect(condition: bool, what: &str, outcome: &Outcome) -> Result<(), Failed> {
    if condition { Ok(()) } else { Err(format!("{what}\n{}", outcome.told()).into()) }
}

/// Mode `native` observes: no rank waits for another that would not have waited, and the calls are the same.
fn native_mode_waits_for_nobody(family: &Family) -> Result<(), Failed> {
    let (outcome, report) = accounted(family, "roots_in_any_order.c", &[], 2, &[("COLLIE_MODE", "native")])?;
    let calls = report.calls(|row| row.function == "MPI_Bcast" && row.decided_by == "COLLIE_MODE=native");
    expect(calls == 80, &format!("{calls} calls by the mode, not 80"), &outcome)
}

/// A variable set for some ranks only: rank 0's decides for all, whether it is rank 0 that has it or the others.
fn divergent_settings(family: &Family) -> Result<(), Failed> {
    let program = family.program("pitfall_3_zero_blocks.c")?.display().to_string();
    let set = ["env", "COLLIE_ALLREDUCE=ring", "COLLIE_BCAST=linear", "COLLIE_ALLGATHER=ring"].map(str::to_owned);
    for rank_0_has_it in [true, false] {
        let path = report::fresh();
        let path_text = path.display().to_string();
        let with: Vec<_> = set.iter().cloned().chain([program.clone()]).collect();
        let without = vec![program.clone()];
        let (command, other) = if rank_0_has_it { (with, without) } else { (without, with) };
        let ranks = if rank_0_has_it { 1 } else { 2 };
        let variables = [("COLLIE_REPORT", path_text.as_str())];
        let others = vec![(2, other)];
        let launch = Launch { ranks, command, variables: &variables, preload: family.preload()?, others };
        let outcome = family.run(&launch)?.success()?;
        let report = Report::read(&path, &outcome)?;
        report.accounts_for(&outcome)?;
        for variable in ["COLLIE_ALLREDUCE", "COLLIE_BCAST", "COLLIE_ALLGATHER"] {
            let decided = report.calls(|row| row.decided_by.contains(variable));
            expect((decided > 0) == rank_0_has_it, &format!("{variable} decided {decided} calls"), &outcome)?;
        }
    }
    Ok(())
}

/// What is wrong with the settings of other ranks than rank 0 of the job is nobody's business, even where they are the
/// first of a communicator: files that rank 0 names may be on its node only.
fn wrong_settings_of_others(family: &Family) -> Result<(), Failed> {
    let program = family.program("pitfall_9_communicators.c")?.display().to_string();
    let path = report::fresh();
    let path_text = path.display().to_string();
    let with = |set: &str| ["env", set, program.as_str()].map(str::to_owned).to_vec();
    let others = vec![(1, with("COLLIE_BCAST=nonsense")), (1, with("COLLIE_RULES=/no/such.rules"))];
    let variables = [("COLLIE_REPORT", path_text.as_str())];
    let command = with("COLLIE_ALLREDUCE=ring");
    let launch = Launch { ranks: 1, command, variables: &variables, preload: family.preload()?, others };
    let outcome = family.run(&launch)?.success()?;
    let report = Report::read(&path, &outcome)?;
    report.accounts_for(&outcome)?;
    let here = report.calls(|row| row.decided_by.contains("COLLIE_ALLREDUCE"));
    let elsewhere = report.calls(|row| row.function == "MPI_Allreduce" && row.decided_by.contains("default "));
    expect(here > 0 && elsewhere == 0, &format!("{here} calls by COLLIE_ALLREDUCE, {elsewhere} not"), &outcome)
}

/// Preloaded into what is no MPI program, the library does and says nothing.
fn preload_leaks(family: &Family) -> Result<(), Failed> {
    let library = family.library()?;
    let folder = scratch().join(format!("leak-{}", family.name));
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let run = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&folder);
        // Such a value is refused by MPI programs; here nobody may even look.
        command.env("LD_PRELOAD", &library).env("COLLIE_BCAST", "nonsense").env("COLLIE_REPORT", "leaked.json");
        run_alone(command)
    };
    for (program, arguments, status, said) in [
        ("/bin/true", &[][..], 0, ""),
        ("/bin/sh", &["-c", "echo from sh; exec /bin/echo from echo"], 0, "from sh\nfrom echo\n"),
        ("/bin/sh", &["-c", "exit 3"], 3, ""),
        ("python3", &["-c", "import subprocess; subprocess.run(['/bin/echo', 'from python'])"], 0, "from python\n"),
    ] {
        let outcome = run(program, arguments)?;
        let silent = outcome.stderr.is_empty() && outcome.stdout == said;
        expect(outcome.status == Some(status) && silent, "a preloaded program was disturbed", &outcome)?;
    }
    let left: Vec<_> = std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    if !left.is_empty() {
        return Err(format!("files left behind: {left:?}").into());
    }
    // The launcher itself with the preload in its environment, as users do it.
    let program = family.program("reduce_sum.c")?;
    let mut command = family.launcher();
    command.env("LD_PRELOAD", &library);
    command.args(["-n", "4"]).arg(program);
    let outcome = run_alone(command)?;
    expect(outcome.status == Some(0) && outcome.stdout.trim() == "Sum result: 10", "preloaded into mpirun", &outcome)?;
    one_row_of_reduce(&outcome)
}

/// Runs a command that launches nothing by MPI, or does so by itself.
fn run_alone(command: Command) -> Result<Outcome, Failed> {
    Job::start(command, 1)?.finish(Duration::from_secs(60))
}

/// A forced algorithm whose needs are not met is replaced, and the report says by what and why.
fn forced_with_unmet_need(family: &Family) -> Result<(), Failed> {
    let variables = [("COLLIE_ALLGATHER", "recursive_doubling"), ("COLLIE_ALLREDUCE", "ring")];
    let (outcome, report) = accounted(family, "data_movement.c", &["allgather"], 3, &variables)?;
    let refused =
        report.calls(|row| row.decided_by.contains("recursive_doubling") && row.decided_by.contains("power-of-two"));
    let ran = report.calls(|row| row.algorithm == "recursive_doubling");
    expect(
        refused > 0 && ran == 0,
        &format!("{ran} calls ran it, {refused} say why not\n{:#?}", report.rows),
        &outcome,
    )?;
    let (outcome, report) = accounted(family, "pitfall_4_user_operations.c", &[], 4, &variables)?;
    let refused = report.calls(|row| row.decided_by.contains("rank order"));
    expect(refused > 0, &format!("nobody says that order was needed\n{:#?}", report.rows), &outcome)
}

/// The builds for other MPIs under a program of this one are refused with a clear word that names the right one, and do
/// not crash; nor does a Fortran program whose calls they would not see.
fn library_of_another_mpi(family: &Family) -> Result<(), Failed> {
    let mut sources = vec!["reduce_sum.c"];
    if family.has_fortran() {
        sources.extend(["reduce_sum_mpif.F", "reduce_sum_f08.f90"]);
    }
    for source in sources {
        for library in family.other_libraries()? {
            let command = vec![family.program(source)?.display().to_string()];
            let launch = Launch { ranks: 2, command, variables: &[], preload: vec![library], others: Vec::new() };
            let outcome = family.run(&launch)?;
            let told = format!("; preload or link {}", library_of(family.kind)?.display());
            expect(
                outcome.status == Some(78) && outcome.stderr.contains(&told),
                "there is no word of which MPI was met and which is needed, or another status than 78",
                &outcome,
            )?;
            let crashed = ["Segmentation", "signal 11", "Signal: "].iter().any(|word| outcome.stderr.contains(word));
            expect(!crashed, "it crashed", &outcome)?;
            let once = outcome.stderr.matches("this libcollie.so is the one for").count() == 1;
            expect(once, "more than one rank tells it", &outcome)?;
        }
    }
    // Beside the right one: behind it, it is idle, before it, it is what has to go.
    let right = library_of(family.kind)?;
    for other in family.other_libraries()? {
        let command = vec![family.program("reduce_sum.c")?.display().to_string()];
        let preload = vec![right.clone(), other.clone()];
        let launch = Launch { ranks: 2, command, variables: &[], preload, others: Vec::new() };
        let outcome = family.run(&launch)?.success()?;
        let told = format!("another Collie, {}, comes after this one", other.display());
        let idle = outcome.stderr.contains(&told) && !outcome.stderr.contains("sees no calls");
        expect(idle, &format!("nothing of '{told}'"), &outcome)?;
        let outcome = family.run(&Launch { preload: vec![other.clone(), right.clone()], ..launch })?;
        let told = format!("take {} out of LD_PRELOAD or what is linked: the right one", other.display());
        expect(
            outcome.status == Some(78) && outcome.stderr.contains(&told),
            &format!("nothing of '{told}'"),
            &outcome,
        )?;
    }
    Ok(())
}

/// Runs a program that is compiled with a library of its own, from one source, by itself: once without Collie, once
/// with it.
fn with_own_library(family: &Family, source: &str, library: &str) -> Result<[Outcome; 2], Failed> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let (source, program) = (root().join("c_tests").join(source), folder.path().join("program"));
    let library = folder.path().join(library);
    tool(Command::new("gcc").args(["-DLIBRARY", "-shared", "-fPIC", "-o"]).arg(&library).arg(&source))?;
    let rpath = format!("-Wl,-rpath,{}", folder.path().display());
    tool(Command::new("gcc").arg("-o").arg(&program).arg(&source).arg(&library).arg(rpath))?;
    let mut preloaded = Command::new(&program);
    preloaded.env("LD_PRELOAD", library_of(family.kind)?);
    Ok([run_alone(Command::new(&program))?, run_alone(preloaded)?])
}

/// A library that is of none of the known families is refused: its handles mean nothing to any build.
fn unknown_library(family: &Family) -> Result<(), Failed> {
    let [without, with] = with_own_library(family, "unknown_mpi.c", "libmpi.so.1")?;
    expect(without.status == Some(0) && without.stdout == "rank 0\n", "without Collie", &without)?;
    let told = "on an MPI library that Collie does not know";
    expect(with.status == Some(78) && with.stderr.contains(told), &format!("nothing of '{told}'"), &with)
}

/// Functions of a process without MPI that are named like procedures of MPI are called as ever.
fn namesake(family: &Family) -> Result<(), Failed> {
    let [without, with] = with_own_library(family, "namesake.c", "libnumbers.so")?;
    expect(without.status == Some(0) && without.stdout == "3 0, -1 1099511627776, 42\n", "without Collie", &without)?;
    expect((with.status, &with.stdout) == (Some(0), &without.stdout), "other functions were called", &with)
}

/// In a program with AddressSanitizer names of regions are read without its ending the program for the bytes behind
/// them.
fn sanitized(family: &Family) -> Result<(), Failed> {
    let sanitizer = tool(Command::new("gcc").arg("-print-file-name=libasan.so"))?;
    let sanitizer = PathBuf::from(sanitizer.trim());
    if !sanitizer.is_absolute() {
        eprintln!("gcc has no AddressSanitizer here, so nothing is tested");
        return Ok(());
    }
    let path = report::fresh();
    let path_text = path.display().to_string();
    let command = vec![family.compiled("sanitized.c", &["-fsanitize=address"])?.display().to_string()];
    let mut preload = vec![sanitizer];
    preload.extend(family.preload()?);
    // Where an OpenCL is installed, MPICH looks for devices by it, and its constructors throw where no sanitizer likes it.
    let variables =
        [("COLLIE_REPORT", path_text.as_str()), ("ASAN_OPTIONS", "detect_leaks=0"), ("HWLOC_COMPONENTS", "-opencl")];
    let launch = Launch { ranks: 2, command, variables: &variables, preload, others: Vec::new() };
    let outcome = family.run(&launch)?.success()?;
    let report = Report::read(&path, &outcome)?.whole;
    let mut names: Vec<_> = report["regions"].as_array().into_iter().flatten().map(|row| row["name"].clone()).collect();
    names.sort_by_key(ToString::to_string);
    expect(names == ["constant", "heap", "stack"], &format!("regions {names:?}"), &outcome)
}

/// Another tool that counts and passes calls on to the next library, before Collie in the preload: both see every call.
fn stacked_tools(family: &Family) -> Result<(), Failed> {
    let tool = family.compiled("stacked_tool.c", &["-shared", "-fPIC", "-ldl"])?;
    let path = report::fresh();
    let path_text = path.display().to_string();
    let command = vec![family.program("pitfall_4_user_operations.c")?.display().to_string()];
    let mut preload = vec![tool];
    preload.extend(family.preload()?);
    let variables = [("COLLIE_REPORT", path_text.as_str())];
    let launch = Launch { ranks: 3, command, variables: &variables, preload, others: Vec::new() };
    let outcome = family.run(&launch)?.success()?;
    let report = Report::read(&path, &outcome)?;
    report.accounts_for(&outcome)?;
    let made = report.calls(|row| row.function == "MPI_Allreduce");
    expect(
        outcome.stdout.contains(&format!("stacked: {} allreduce", made / 3)),
        "the other tool missed calls",
        &outcome,
    )?;
    expect(outcome.stderr.matches("stacked_tool").count() == 1, "the tool in front is not named once", &outcome)?;
    // Point-to-point calls, too, are seen by both.
    let command = vec![family.program("messages.c")?.display().to_string()];
    let launch = Launch { command, ranks: 2, ..launch };
    let outcome = family.run(&launch)?.success()?;
    let report = Report::read(&path, &outcome)?;
    let mut rows = report.whole["messages"].as_array().into_iter().flatten();
    let counted = rows.find(|row| row["function"] == "MPI_Send").and_then(|row| row["calls_all_ranks"].as_u64());
    expect(
        counted == Some(7) && outcome.stdout.contains("stacked: 5 sent by rank 1"),
        "one of both has missed messages",
        &outcome,
    )?;
    let named = |outcome: &Outcome, words: &str| {
        let mut lines = outcome.stderr.lines();
        lines.any(|line| line.contains("stacked_tool") && line.contains("MPI_Send") && line.contains(words))
    };
    expect(named(&outcome, "comes before Collie"), "messages that the tool takes first are not named", &outcome)?;
    // Behind Collie, which calls PMPI_X, it gets none.
    let command = vec![family.program("reduce_sum.c")?.display().to_string()];
    let mut preload = family.preload()?;
    preload.push(family.compiled("stacked_tool.c", &["-shared", "-fPIC", "-ldl"])?);
    let outcome = family.run(&Launch { ranks: 2, command, variables: &[], preload, others: Vec::new() })?.success()?;
    expect(named(&outcome, "it sees no calls"), "the tool behind is not named, with all that it misses", &outcome)
}

/// A misspelt algorithm stops the job in MPI_Init and says what is accepted.
fn unknown_algorithm(family: &Family) -> Result<(), Failed> {
    let command = vec![family.program("reduce_sum.c")?.display().to_string()];
    for (variable, value, named) in [
        ("COLLIE_BCAST", "bionmial", "binomial"),
        ("COLLIE_REDUCE", "binomial:radix=x", "radix"),
        ("COLLIE_ALLREDUCE", "nonsense", "recursive_doubling"),
        ("COLLIE_BACST", "binomial", "COLLIE_BCAST"),
    ] {
        let variables = [(variable, value)];
        let preload = family.preload()?;
        let launch = Launch { ranks: 2, command: command.clone(), variables: &variables, preload, others: Vec::new() };
        let outcome = family.run(&launch)?;
        let stopped = outcome.status != Some(0) && !outcome.stdout.contains("Sum result");
        expect(stopped, &format!("{variable}={value} did not stop the job"), &outcome)?;
        let told = outcome.stderr.contains(variable) && outcome.stderr.contains(named);
        expect(told, &format!("{variable}={value}: no word of it and of '{named}'"), &outcome)?;
    }
    Ok(())
}

/// COLLIE_MODE=native observes and leaves every call to the MPI library.
fn native_mode(family: &Family) -> Result<(), Failed> {
    let (outcome, report) = accounted(family, "pitfall_4_user_operations.c", &[], 3, &[("COLLIE_MODE", "native")])?;
    let ours = report.calls(|row| row.algorithm != "native");
    expect(ours == 0 && !report.rows.is_empty(), &format!("{ours} calls were replaced\n{:#?}", report.rows), &outcome)?;
    expect(report.whole["mode"] == "native", "the report names another mode", &outcome)
}

/// COLLIE_LOG=collie=trace prints one line a call on standard error, with the rank; standard output stays the
/// program's.
fn trace_log(family: &Family) -> Result<(), Failed> {
    let command = vec![family.program("reduce_sum.c")?.display().to_string()];
    let variables = [("COLLIE_LOG", "collie=trace"), ("COLLIE_REPORT", "off"), ("COLLIE_REDUCE", "binomial")];
    let launch = Launch { ranks: 3, command, variables: &variables, preload: family.preload()?, others: Vec::new() };
    let outcome = family.run(&launch)?.success()?;
    expect(outcome.stdout.trim() == "Sum result: 6", "standard output is not the program's own", &outcome)?;
    let lines: Vec<_> = outcome.stderr.lines().filter(|line| line.contains("MPI_Reduce")).collect();
    expect(lines.len() == 3, "there should be one line for each of three ranks", &outcome)?;
    for word in ["binomial", "COLLIE_REDUCE", "communicator=world"] {
        expect(lines.iter().all(|line| line.contains(word)), &format!("'{word}' is not in every line"), &outcome)?;
    }
    Ok(())
}

/// A fitted network has sane numbers, and the other commands take it.
fn fitted_network(family: &Family) -> Result<(), Failed> {
    let bench = family.library()?.with_file_name("../bin/collie-bench").display().to_string();
    let run = |ranks, seconds: &str| {
        let command = [&bench, "fit", "--seconds", seconds, "--most", "256K"].map(str::to_owned).into();
        let preload = family.patience()?.into_iter().collect();
        family.run(&Launch { ranks, command, variables: &[], preload, others: Vec::new() })
    };
    let alone = run(1, "0.01")?;
    expect(alone.status != Some(0) && alone.stderr.contains("at least 2 ranks"), "one rank is no network", &alone)?;
    let mut outcome = run(3, "0.01")?;
    for _ in 0..4 {
        // As it says on a machine that is busy with other things.
        if outcome.status != Some(0) && outcome.stderr.contains("something disturbed the measurement") {
            outcome = run(3, "0.2")?;
        }
    }
    let outcome = outcome.success()?;
    let line = outcome.stdout.lines().find(|line| line.starts_with('{')).ok_or("no network was told")?;
    let path = scratch().join(format!("network-{}.json", family.name));
    std::fs::write(&path, line).map_err(|error| format!("{}: {error}", path.display()))?;
    let name = path.display().to_string();
    let network = Network::find(&name).map_err(|error| format!("{error}\n{}", outcome.told()))?;
    let link = network.on_node;
    // Wide bounds: busy machines are slow, but none moves a terabyte a second or takes a second for a byte.
    let empty = 2.0 * link.overhead + link.latency + link.gap;
    let sane = (1e-8..1.0).contains(&empty) && (1e-12..1e-5).contains(&link.per_byte) && link.overhead > 0.0;
    let memory = [network.per_folded_byte, network.per_copied_byte];
    expect(sane && memory.iter().all(|time| (1e-13..1e-6).contains(time)), "no such machine", &outcome)?;
    let mut simulate = Command::new(env!("CARGO_BIN_EXE_collie"));
    simulate.args(["simulate", "bcast", "--algorithm", "binomial", "--ranks", "4", "--network", &name]);
    let told = run_alone(simulate)?.success()?;
    expect(told.stdout.contains("binomial"), "simulate did not take it", &told)
}
