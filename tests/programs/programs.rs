//! The programs with the choices that Collie makes itself.

use crate::job::Outcome;
use crate::mpi::{Family, Launch, root, tool};
use crate::report::{self, Report};
use libtest_mimic::{Failed, Trial};
use std::path::Path;
use std::process::Command;

/// Programs whose calls the report must account for, with their arguments and the numbers of ranks they run on. One job
/// of eight ranks covers communicators of 1, 2, 3, 4, 5, 7 and 8 ranks, where the programs part MPI_COMM_WORLD.
const PROGRAMS: &[(&str, &[&str], &[usize])] = &[
    ("data_movement.c", &[], &[1, 2, 3, 8]),
    ("reductions.c", &[], &[1, 2, 3, 8]),
    ("predefined.c", &[], &[1, 2, 3, 4, 8]),
    ("alltoallv.c", &[], &[1, 2, 3, 8]),
    ("repeated.c", &[], &[2, 3]),
    ("made_alike.c", &[], &[2, 8]),
    ("types_by_precision.c", &[], &[2]),
    ("aliased_buffers.c", &[], &[2, 8]),
    ("barrier.c", &[], &[1, 2, 3, 8]),
    ("bottom.c", &[], &[8]),
    ("large_count_forms.c", &[], &[8]),
    ("large_count_types.c", &[], &[2, 8]),
    ("observed.c", &[], &[1, 2, 8]),
    ("observed_mpif.F", &[], &[1, 3]),
    ("observed_f08.f90", &[], &[1, 3]),
    ("waits.c", &[], &[1, 3]),
    ("waits_mpif.F", &[], &[3]),
    ("waits_f08.f90", &[], &[3]),
    ("pcontrol.c", &[], &[2]),
    ("pitfall_1_signatures.c", &[], &[8]),
    ("pitfall_2_insignificant_arguments.c", &[], &[8]),
    ("pitfall_3_zero_blocks.c", &[], &[4]),
    ("pitfall_4_user_operations.c", &[], &[8]),
    ("pitfall_5_identical_results.c", &[], &[8]),
    ("pitfall_6_gaps.c", &[], &[8]),
    ("pitfall_7_large_counts.c", &[], &[2]),
    ("pitfall_8_zero_counts.c", &[], &[8]),
    ("pitfall_9_wildcards.c", &[], &[8]),
    ("pitfall_9_communicators.c", &[], &[1, 2, 4, 7]),
    ("pitfall_9_many_communicators.c", &[], &[2]),
    ("pitfall_9_teardown.c", &[], &[3]),
    ("duplicates_in_other_orders.c", &[], &[2, 3]),
    ("duplicates_under_way.c", &[], &[4]),
    ("makers_between_threads.c", &[], &[2, 3]),
    ("handler_set_in_copy.c", &[], &[2]),
    ("contexts_run_out.c", &[], &[3]),
    ("freed_by_handler.c", &[], &[2]),
    ("pitfall_10_fortran_mpif.F", &[], &[1, 2, 5, 8]),
    ("pitfall_10_fortran_mpi.f90", &[], &[1, 2, 5, 8]),
    ("pitfall_10_fortran_f08.f90", &[], &[1, 2, 5, 8]),
    ("pitfall_12_threads.c", &[], &[3]),
];

/// The example of the README, in every language.
const EXAMPLES: &[&str] = &["reduce_sum.c", "reduce_sum_mpif.F", "reduce_sum_mpi.f90", "reduce_sum_f08.f90"];

/// `COLLIE_TEST_LARGE=1` adds what needs some 13 GiB of memory.
pub fn trials(family: &'static Family) -> Vec<Trial> {
    let mut trials = Vec::new();
    for (source, arguments, sizes) in PROGRAMS {
        let stem = source.split('.').next().unwrap_or(source);
        for &ranks in *sizes {
            let name = format!("{}::{stem}::ranks_{ranks}", family.name);
            trials.push(Trial::test(name, move || accounted(family, source, arguments, ranks, &[]).map(drop)));
        }
    }
    for mode in ["replace", "best", "learn", "verify", "compare"] {
        let name = format!("{}::floating_point::{mode}", family.name);
        let settings = [("COLLIE_MODE", mode)];
        trials.push(Trial::test(name, move || accounted(family, "floating_point.c", &[], 3, &settings).map(drop)));
    }
    for mode in ["replace", "native", "best"] {
        let name = format!("{}::errors_of_null_operations::{mode}", family.name);
        trials.push(Trial::test(name, move || null_operations(family, mode)));
    }
    // Elsewhere each communicator has a handler of its own.
    for arguments in [&[][..], &["used"]].into_iter().filter(|_| !family.is_open_mpi()) {
        let name = format!("{}::errors_of_duplicates::{}", family.name, arguments.first().unwrap_or(&"unused"));
        let test = move || accounted(family, "errors_of_duplicates.c", arguments, 2, &[]).map(drop);
        trials.push(Trial::test(name, test));
    }
    if std::env::var("COLLIE_TEST_LARGE").is_ok_and(|value| value == "1") {
        let name = format!("{}::pitfall_7_large_counts::every_operation", family.name);
        let test = move || accounted(family, "pitfall_7_large_counts.c", &["large"], 2, &[]).map(drop);
        trials.push(Trial::test(name, test));
    }
    trials.push(Trial::test(format!("{}::aliased_buffers::partial", family.name), move || overlaps(family)));
    for ranks in [1, 2, 3] {
        trials.push(Trial::test(format!("{}::errors::ranks_{ranks}", family.name), move || errors(family, ranks)));
    }
    let cores = Trial::test(format!("{}::cores", family.name), move || cores(family));
    trials.push(cores.with_ignored_flag(two_cores().is_none()));
    let threads = move || accounted(family, "short_lived_threads.c", &[], 2, &[("COLLIE_AFTER", "")]).map(drop);
    trials.push(Trial::test(format!("{}::short_lived_threads", family.name), threads));
    for algorithm in ["scatter_allgather", "scatter_ring_allgather"] {
        let test = move || accounted(family, "read_only.c", &[], 3, &[("COLLIE_BCAST", algorithm)]).map(drop);
        trials.push(Trial::test(format!("{}::read_only::{algorithm}", family.name), test));
    }
    for ranks in [2, 3] {
        for (setting, variables) in TRUNCATED {
            let test = move || truncated(family, ranks, variables);
            trials.push(Trial::test(format!("{}::truncated::{setting}::ranks_{ranks}", family.name), test));
        }
    }
    for source in EXAMPLES {
        let stem = source.split('.').next().unwrap_or(source);
        trials.push(Trial::test(format!("{}::{stem}::preloaded", family.name), move || example(family, source)));
    }
    trials.push(Trial::test(format!("{}::reduce_sum::linked", family.name), move || linked(family)));
    let module = move |source| move || of_module(family, source);
    trials.push(Trial::test(format!("{}::weak_names", family.name), module("weak_names.c")));
    for source in ["fortran_module.f90", "fortran_module_f08.f90"] {
        let stem = source.split('.').next().unwrap_or(source);
        trials.push(Trial::test(format!("{}::{stem}", family.name), module(source)));
    }
    if let Some(python) = family.python() {
        trials.push(Trial::test(format!("{}::python", family.name), move || of_python(family, &python)));
    }
    trials.push(Trial::test(format!("{}::control::linked", family.name), move || control(family)));
    trials.push(Trial::test(format!("{}::exit_code", family.name), move || exit_codes(family)));
    trials
}

/// The first two processors that this process may run on.
fn two_cores() -> Option<[String; 2]> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?.trim();
    let range = |item: &str| {
        let (first, last) = item.split_once('-').unwrap_or((item, item));
        Some(first.parse::<u32>().ok()?..=last.parse().ok()?)
    };
    let mut all = list.split(',').filter_map(range).flatten().map(|number| number.to_string());
    Some([all.next()?, all.next()?])
}

/// Two ranks outnumber the cores where both may run on one only, but not where each has its own.
fn cores(family: &Family) -> Result<(), Failed> {
    let [one, other] = two_cores().ok_or("this process may run on one core only")?;
    let program = family.program("reductions.c")?.display().to_string();
    for (second, outnumber) in [(&one, true), (&other, false)] {
        let path = report::fresh();
        let path_text = path.display().to_string();
        let bound = |core: &str| ["taskset", "-c", core, &program].map(str::to_owned).to_vec();
        let variables = [("COLLIE_REPORT", path_text.as_str())];
        let (preload, others) = (family.preload()?, vec![(1, bound(second))]);
        let outcome = family
            .run(&Launch { ranks: 1, command: bound(&one), variables: &variables, preload, others })?
            .success()?;
        let report = Report::read(&path, &outcome)?;
        let rows = report.whole["per_rank"].as_array().map_or(&[][..], Vec::as_slice);
        if rows.len() != 2 || rows.iter().any(|row| row["oversubscribed"].as_bool().unwrap_or(false) != outnumber) {
            return Err(format!("on cores {one} and {second}: {rows:?}\n{}", outcome.told()).into());
        }
    }
    Ok(())
}

/// Runs a program and holds its report against the calls it says it made.
pub fn accounted(
    family: &Family,
    source: &str,
    arguments: &[&str],
    ranks: usize,
    variables: &[(&str, &str)],
) -> Result<(Outcome, Report), Failed> {
    let path = report::fresh();
    let path_text = path.display().to_string();
    let mut variables = variables.to_vec();
    variables.push(("COLLIE_REPORT", &path_text));
    let mut command = vec![family.program(source)?.display().to_string()];
    command.extend(arguments.iter().map(ToString::to_string));
    let launch = Launch { ranks, command, variables: &variables, preload: family.preload()?, others: Vec::new() };
    let outcome = family.run(&launch)?.success()?;
    let report = Report::read(&path, &outcome)?;
    report.accounts_for(&outcome)?;
    Ok((outcome, report))
}

/// Overlaps that native libraries compute at most by chance: with algorithms of ours only.
fn overlaps(family: &Family) -> Result<(), Failed> {
    let forced = [
        ("COLLIE_ALLREDUCE", "recursive_doubling"),
        ("COLLIE_REDUCE", "binomial"),
        ("COLLIE_GATHER", "binomial"),
        ("COLLIE_SCATTER", "binomial"),
        ("COLLIE_ALLGATHER", "ring"),
        ("COLLIE_ALLTOALLV", "pairwise"),
    ];
    accounted(family, "aliased_buffers.c", &["partial"], 8, &forced).map(drop)
}

/// Null operations are errors of the call, and of no other communicator.
fn null_operations(family: &Family, mode: &str) -> Result<(), Failed> {
    let command = vec![family.program("errors_of_null_operations.c")?.display().to_string()];
    let variables = [("COLLIE_MODE", mode), ("COLLIE_REPORT", "off")];
    let launch = Launch { ranks: 2, command, variables: &variables, preload: family.preload()?, others: Vec::new() };
    family.run(&launch)?.success().map(drop)
}

/// Calls that fail need not be in the report.
fn errors(family: &Family, ranks: usize) -> Result<(), Failed> {
    let program = family.program("errors.c")?.display().to_string();
    let variables = [("COLLIE_REPORT", "off")];
    for command in [vec![program.clone()], vec![program, "fatal".to_owned()]] {
        let launch = Launch { ranks, command, variables: &variables, preload: family.preload()?, others: Vec::new() };
        family.run(&launch)?.success()?;
    }
    Ok(())
}

/// Choices under which messages are waited for singly and several at once, as they come back and each for itself.
pub const TRUNCATED: [(&str, &[(&str, &str)]); 4] = [
    ("chosen", &[]),
    ("several_at_once", &[("COLLIE_ALLREDUCE", "recursive_doubling"), ("COLLIE_SCATTER", "linear_nonblocking")]),
    ("lengths_learned_first", &[("COLLIE_ALLTOALLV", "two_phase_bruck")]),
    ("watched", &[("COLLIE_WATCHDOG", "60"), ("COLLIE_GATHER", "linear"), ("COLLIE_SCATTER", "binomial")]),
];

/// Calls that fail need not be in the report.
pub fn truncated(family: &Family, ranks: usize, variables: &[(&str, &str)]) -> Result<(), Failed> {
    let command = vec![family.program("truncated.c")?.display().to_string()];
    let variables: Vec<_> = variables.iter().copied().chain([("COLLIE_REPORT", "off")]).collect();
    let launch = Launch { ranks, command, variables: &variables, preload: family.preload()?, others: Vec::new() };
    family.run(&launch)?.success().map(drop)
}

/// Without anything else preloaded, so that the library's own waiting is what eight ranks have on few cores.
fn example(family: &Family, source: &str) -> Result<(), Failed> {
    let command = vec![family.program(source)?.display().to_string()];
    let preload = vec![family.library()?];
    let launch = Launch { ranks: 8, command, variables: &[], preload, others: Vec::new() };
    let outcome = family.run(&launch)?.success()?;
    expect_sum(&outcome)?;
    one_row_of_reduce(&outcome)
}

fn expect_sum(outcome: &Outcome) -> Result<(), Failed> {
    if outcome.stdout.trim() == "Sum result: 36" {
        Ok(())
    } else {
        Err(format!("standard output is not the program's own\n{}", outcome.told()).into())
    }
}

/// The report on standard error, printed once, with the example's only collective.
pub fn one_row_of_reduce(outcome: &Outcome) -> Result<(), Failed> {
    let rows = outcome.stderr.lines().filter(|line| line.starts_with("Reduce ")).count();
    if rows == 1 {
        Ok(())
    } else {
        Err(format!("{rows} rows of Reduce in the report on standard error\n{}", outcome.told()).into())
    }
}

/// A program of Python's, whose MPI library is loaded late and is nobody else's.
fn of_python(family: &Family, python: &Path) -> Result<(), Failed> {
    let path = report::fresh();
    let path_text = path.display().to_string();
    let script = root().join("c_tests/python_allreduce.py");
    let command = vec![python.display().to_string(), script.display().to_string()];
    let variables = [("COLLIE_REPORT", path_text.as_str())];
    let launch = Launch { ranks: 2, command, variables: &variables, preload: family.preload()?, others: Vec::new() };
    let outcome = family.run(&launch)?.success()?;
    Report::read(&path, &outcome)?.accounts_for(&outcome)
}

/// A module that keeps the MPI library to itself: one that looks which procedures it has, and ones whose constants are
/// objects of their own.
fn of_module(family: &Family, source: &str) -> Result<(), Failed> {
    let path = report::fresh();
    let path_text = path.display().to_string();
    let host = family.compiled("host.c", &["-Wl,--as-needed", "-ldl"])?;
    let module = family.compiled(source, &["-shared", "-fPIC", "-ldl"])?;
    let command = vec![host.display().to_string(), module.display().to_string()];
    let variables = [("COLLIE_REPORT", path_text.as_str())];
    let launch = Launch { ranks: 2, command, variables: &variables, preload: family.preload()?, others: Vec::new() };
    let outcome = family.run(&launch)?.success()?;
    Report::read(&path, &outcome)?.accounts_for(&outcome)
}

/// What users write: `mpicc app.c $(pkg-config --cflags --libs collie)`.
pub fn linked_program(family: &Family, source: &str) -> Result<Vec<String>, Failed> {
    let folder = family.library()?.with_file_name("pkgconfig");
    let mut command = Command::new("pkg-config");
    let flags = tool(command.env("PKG_CONFIG_PATH", folder).args(["--cflags", "--libs", "collie"]))?;
    let flags: Vec<_> = flags.split_whitespace().collect();
    Ok(vec![family.compiled(source, &flags)?.display().to_string()])
}

fn linked(family: &Family) -> Result<(), Failed> {
    let command = linked_program(family, "reduce_sum.c")?;
    let launch = Launch { ranks: 8, command, variables: &[], preload: Vec::new(), others: Vec::new() };
    let outcome = family.run(&launch)?.success()?;
    expect_sum(&outcome)?;
    one_row_of_reduce(&outcome)
}

fn control(family: &Family) -> Result<(), Failed> {
    let command = linked_program(family, "control.c")?;
    let path = report::fresh();
    let path_text = path.display().to_string();
    let variables = [("COLLIE_REPORT", path_text.as_str())];
    let launch = Launch { ranks: 3, command, variables: &variables, preload: Vec::new(), others: Vec::new() };
    let outcome = family.run(&launch)?.success()?;
    let report = Report::read(&path, &outcome)?;
    report.accounts_for(&outcome)?;
    for (function, algorithm, calls) in [("MPI_Allreduce", "ring", 9), ("MPI_Bcast", "linear", 3)] {
        let ran = report.calls(|row| row.function == function && row.algorithm.starts_with(algorithm));
        if ran != calls {
            return Err(format!("{algorithm} ran {ran} calls\n{:#?}\n{}", report.rows, outcome.told()).into());
        }
    }
    Ok(())
}

/// The program's own exit status, by return and by MPI_Abort, is mpirun's, as without Collie; also where the report
/// cannot be written.
fn exit_codes(family: &Family) -> Result<(), Failed> {
    let program = family.program("exit_code.c")?.display().to_string();
    for (arguments, status) in [(&["0"][..], 0), (&["7"], 7), (&["5", "abort"], 5)] {
        for target in ["off", "/proc/no/such/folder/report.json"] {
            let mut command = vec![program.clone()];
            command.extend(arguments.iter().map(ToString::to_string));
            // Nothing is to be left of the report that finds another place.
            let variables = [("COLLIE_REPORT", target), ("TMPDIR", "/proc/no/such/folder")];
            let launch =
                Launch { ranks: 2, command, variables: &variables, preload: family.preload()?, others: Vec::new() };
            let outcome = family.run(&launch)?;
            if outcome.status != Some(status) {
                return Err(format!("expected status {status}\n{}", outcome.told()).into());
            }
        }
    }
    Ok(())
}
