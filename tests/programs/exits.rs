//! Programs that leave MPI, or one of its calls, by an unusual way.

use crate::job::{Job, Outcome};
use crate::mpi::{Family, LIMIT, Launch};
use crate::report::{self, Report};
use libtest_mimic::{Failed, Trial};
use std::process::Command;
use std::time::Duration;

type Test = fn(&Family) -> Result<(), Failed>;

const TESTS: &[(&str, Test)] = &[
    ("at_exit", at_exit),
    ("jumps", jumps),
    ("throws", throws),
    ("jumping_operation", jumping_operation),
    ("dying_communicator", dying_communicator),
    ("fatal_error", fatal_error),
    ("not_preloaded", not_preloaded),
    ("past_collie", past_collie),
    ("init_past_collie", init_past_collie),
    ("abort_in_handler", abort_in_handler),
    ("two_aborts", two_aborts),
    ("leaves", leaves),
    ("ends_in_library", ends_in_library),
    ("handler_calls", handler_calls),
    ("refused_calls", refused_calls),
    ("handled_errors", handled_errors),
    ("garbage_communicator", garbage_communicator),
    ("arguments_of_any_bytes", arguments_of_any_bytes),
    ("unread_standard_error", unread_standard_error),
];

/// None of them has the machine alone: most of their time is spent waiting for a launcher that ends the other ranks.
pub fn trials(family: &'static Family) -> Vec<Trial> {
    let trial = |(name, test): &(&str, Test)| {
        let test = *test;
        Trial::test(format!("{}::{name}", family.name), move || test(family))
    };
    // The launchers of MPICH and Open MPI 5 end the others by SIGKILL before they have written anything.
    let leaves_time = family.is_open_mpi() && !family.is_open_mpi_5().unwrap_or(false);
    let dies = || Trial::test(format!("{}::dies", family.name), move || dies(family));
    let survives = family.is_open_mpi() && family.is_open_mpi_5().unwrap_or(false);
    let survivors = || Trial::test(format!("{}::survivors", family.name), move || survivors(family));
    // MPICH keeps its own lock when an error handler jumps, and its next call on any thread breaks off or waits for it.
    let between = || Trial::test(format!("{}::jumps_between_threads", family.name), || jumps_between_threads(family));
    // By itself: launchers end what is left of a rank that exits.
    let stalled = || Trial::test(format!("{}::stalled_standard_error", family.name), || stalled_standard_error(family));
    let stalled = (!family.is_open_mpi()).then(stalled);
    let others = survives.then(survivors).into_iter().chain(family.is_open_mpi().then(between));
    TESTS.iter().map(trial).chain(leaves_time.then(dies)).chain(others).chain(stalled).collect()
}

/// A library of the program's that ends MPI in a function that the loader calls, when Collie's own has run: the report is
/// that of all ranks, and nothing else is left.
fn ends_in_library(family: &Family) -> Result<(), Failed> {
    let library = family.compiled("ends_in_library.c", &["-DLIBRARY", "-shared", "-fPIC"])?.display().to_string();
    let command = vec![family.compiled("ends_in_library.c", &[&library])?.display().to_string()];
    let folder = report::fresh();
    std::fs::create_dir(&folder)?;
    let path = folder.join("run.json");
    let files = format!("{},stderr", path.display());
    let variables = [("COLLIE_REPORT", files.as_str())];
    let launch = Launch { ranks: 3, command, variables: &variables, preload: family.preload()?, others: Vec::new() };
    let outcome = family.run(&launch)?.success()?;
    // Reading takes it away.
    let calls = Report::read(&path, &outcome)?.calls(|row| row.function == "MPI_Allreduce");
    let left = std::fs::read_dir(&folder)?.count();
    if calls != 3 * 11 || left != 0 || outcome.stderr.contains("PARTIAL") {
        return Err(format!("{calls} calls, {left} files\n{}", outcome.told()).into());
    }
    Ok(std::fs::remove_dir_all(&folder)?)
}

/// A communicator that is revoked (ULFM): whoever waits in an algorithm of ours is woken, and all calls are in the report.
/// Where a process fails, Open MPI 5.0 itself may not come out of `MPI_Finalize`, so that this is not tested here.
fn survivors(family: &Family) -> Result<(), Failed> {
    ["messages", "shared"].into_iter().try_for_each(|transport| survivors_by(family, transport))?;
    ["messages", "shared"].into_iter().try_for_each(|transport| all_hear_of_a_failure(family, transport))
}

/// As in Open MPI's own collectives, the failure of a process ends the call on all ranks, also on those that wait for
/// one that has left.
fn all_hear_of_a_failure(family: &Family, transport: &str) -> Result<(), Failed> {
    let (program, library) = (family.program("survivors.c")?, family.library()?);
    let mut command = family.launcher();
    command.args(["--with-ft", "ulfm", "-n", "4", "-x", "COLLIE_AFTER=1", "-x", "COLLIE_ALLREDUCE=ring"]);
    command.args(["-x", &format!("COLLIE_TRANSPORT={transport}")]);
    command.args(["-x", &format!("LD_PRELOAD={}", library.display()), "-x", "COLLIE_REPORT=off"]);
    command.arg(&program).arg("leave");
    let outcome = Job::start(command, 4)?.finish(Duration::from_secs(100))?;
    let survived = |rank: usize| outcome.stdout.contains(&format!("rank {rank} survived"));
    if (0..3).all(survived) {
        Ok(())
    } else {
        Err(format!("{transport}: not all ranks survived\n{}", outcome.told()).into())
    }
}

fn survivors_by(family: &Family, transport: &str) -> Result<(), Failed> {
    let (program, library, path) = (family.program("survivors.c")?, family.library()?, report::fresh());
    let mut command = family.launcher();
    command.args(["-x", &format!("COLLIE_TRANSPORT={transport}")]);
    command.args(["--with-ft", "ulfm", "-n", "4", "-x", "COLLIE_AFTER=1", "-x", "COLLIE_ALLREDUCE=ring"]);
    command.args(["-x", &format!("LD_PRELOAD={}", library.display())]);
    command.args(["-x", &format!("COLLIE_REPORT={}", path.display())]);
    command.arg(&program).arg("revoke");
    let outcome = Job::start(command, 4)?.finish(LIMIT)?.success()?;
    let report = Report::read(&path, &outcome)?;
    if report.calls(|row| row.function == "MPI_Allreduce" && row.algorithm == "ring") < 4 * 40 {
        return Err(format!("not all calls are in the report\n{}", outcome.told()).into());
    }
    Ok(())
}

/// Collectives and the end of MPI from the destructor of a static object and from a function registered with `atexit`,
/// when the main thread's thread-local objects are gone: they work, and the report comes.
fn at_exit(family: &Family) -> Result<(), Failed> {
    let trace = report::fresh().display().to_string();
    let settings: &[(&str, &str, &str)] = &[
        ("object", "COLLIE_MODE", "replace"),
        ("atexit", "COLLIE_MODE", "replace"),
        ("object", "COLLIE_MODE", "verify"),
        ("object", "COLLIE_TRACE", &trace),
        ("atexit", "COLLIE_WATCHDOG", "60"),
        ("object", "COLLIE_SYNC", "clock"),
        ("atexit", "COLLIE_LOG", "collie=trace"),
    ];
    for (way, variable, value) in settings {
        let path = report::fresh();
        let path_text = path.display().to_string();
        let variables = [("COLLIE_REPORT", path_text.as_str()), ("COLLIE_ALLREDUCE", "ring"), (variable, value)];
        let program = family.program("at_exit.cpp")?.display().to_string();
        // What a thread keeps from calls before is lost in another way than what is first made then.
        let command = vec![program, (*way).to_owned(), "before".to_owned()];
        let launch =
            Launch { ranks: 3, command, variables: &variables, preload: family.preload()?, others: Vec::new() };
        let outcome = past_hydra(family, &launch, killed)?.success()?;
        // MPICH 4.2.1's launcher may lose what is printed after MPI_Finalize; the report below comes from there too.
        if family.is_open_mpi() && !outcome.stdout.contains("ended after main") {
            return Err(format!("{way}, {variable}={value}: not ended\n{}", outcome.told()).into());
        }
        let report = Report::read(&path, &outcome)?;
        let by = |row: &report::Row| {
            row.decided_by.contains("COLLIE_ALLREDUCE") || row.decided_by == "mode verify, beside ring"
        };
        let calls = report.calls(|row| row.function == "MPI_Allreduce" && by(row));
        if calls != 2 * 2 * 5 * 3 {
            return Err(format!("{way}, {variable}={value}: {calls} calls\n{}", outcome.told()).into());
        }
    }
    Ok(())
}

/// Collective calls from an error handler meet those that other ranks make elsewhere, whether the ranks have agreed on
/// anything before or not, and whatever looks on.
fn handler_calls(family: &Family) -> Result<(), Failed> {
    let program = family.program("handler_calls.c")?.display().to_string();
    let settings: &[(&str, &str, &[&str])] = &[
        ("COLLIE_MODE", "replace", &[]),
        ("COLLIE_MODE", "replace", &["warm"]),
        ("COLLIE_MODE", "learn", &["warm"]),
        ("COLLIE_MODE", "verify", &[]),
        ("COLLIE_SYNC", "clock", &[]),
        ("COLLIE_WATCHDOG", "60", &["warm"]),
        ("COLLIE_TRANSPORT", "shared", &["warm"]),
    ];
    for (variable, value, arguments) in settings {
        let variables = [(*variable, *value), ("COLLIE_REPORT", "off")];
        let command = [&program].into_iter().cloned().chain(arguments.iter().map(ToString::to_string)).collect();
        let launch =
            Launch { ranks: 3, command, variables: &variables, preload: family.preload()?, others: Vec::new() };
        family.run(&launch)?.success()?;
    }
    // The call that goes on after the handler has begun before the numbers were taken back: it is none of them.
    for sync in ["off", "clock"] {
        let (command, variables) = (vec![program.clone(), "report".to_owned()], [("COLLIE_SYNC", sync)]);
        let launch =
            Launch { ranks: 3, command, variables: &variables, preload: family.preload()?, others: Vec::new() };
        let output = family.run(&launch)?.success()?;
        let [reports, empty] =
            ["run time ", "; no collective was recorded"].map(|words| output.stderr.matches(words).count());
        if [reports, empty] != [6, 6] {
            return Err(format!("{empty} of {reports} reports are empty:\n{}", output.stderr).into());
        }
    }
    Ok(())
}

/// Calls that one rank alone makes, and that the MPI library refuses, bring the ranks out of step in nothing, whatever the
/// error handler does.
fn refused_calls(family: &Family) -> Result<(), Failed> {
    let program = family.program("refused_calls.c")?.display().to_string();
    for after in ["1", "2", "4"] {
        for arguments in [&[][..], &["jump"]] {
            in_step(family, &program, arguments, &[("COLLIE_AFTER", after)])?;
        }
    }
    // Nor where the ranks meet before each call, or tell each other of GPUs before some.
    for setting in [("COLLIE_SYNC", "barrier"), ("COLLIE_SYNC", "clock"), ("COLLIE_DEVICE", "ask")] {
        for arguments in [&[][..], &["jump"]] {
            in_step(family, &program, arguments, &[setting])?;
        }
    }
    in_step(family, &program, &[], &[("COLLIE_DEVICE", "ask"), ("COLLIE_MODE", "verify")])
}

/// Handlers of the program's hear of errors as they do natively, also where ranks meet before each call.
fn handled_errors(family: &Family) -> Result<(), Failed> {
    let command = vec![family.program("handled_errors.c")?.display().to_string()];
    for preload in [Vec::new(), family.preload()?] {
        for sync in ["off", "barrier", "clock"] {
            let variables = [("COLLIE_REPORT", "off"), ("COLLIE_SYNC", sync)];
            let (command, preload) = (command.clone(), preload.clone());
            let launch = Launch { ranks: 2, command, variables: &variables, preload, others: Vec::new() };
            family.run(&launch)?.success()?;
        }
    }
    Ok(())
}

/// A call on what is no communicator is told to the error handler once, which may make calls and jump.
fn garbage_communicator(family: &Family) -> Result<(), Failed> {
    let program = family.program("garbage_communicator.c")?.display().to_string();
    for arguments in [&[][..], &["jump"]] {
        in_step(family, &program, arguments, &[("COLLIE_AFTER", "1")])?;
    }
    Ok(())
}

/// Runs a program that finds out itself whether its ranks are in step.
fn in_step(family: &Family, program: &str, arguments: &[&str], settings: &[(&str, &str)]) -> Result<(), Failed> {
    let variables = [settings, &[("COLLIE_REPORT", "off")]].concat();
    let command = std::iter::once(program).chain(arguments.iter().copied()).map(str::to_owned).collect();
    let launch = Launch { ranks: 2, command, variables: &variables, preload: family.preload()?, others: Vec::new() };
    family.run(&launch)?.success()?;
    Ok(())
}

/// A program may be given names of files that are not UTF-8.
fn arguments_of_any_bytes(family: &Family) -> Result<(), Failed> {
    let path = report::fresh();
    let path_text = path.display().to_string();
    let variables = [("COLLIE_REPORT", path_text.as_str())];
    let script = r#"exec "$0" "$(printf 'caf\351')""#;
    let program = family.program("rounds.c")?.display().to_string();
    let command = ["sh", "-c", script, &program].map(str::to_owned).to_vec();
    let launch = Launch { ranks: 2, command, variables: &variables, preload: family.preload()?, others: Vec::new() };
    let outcome = family.run(&launch)?.success()?;
    let report = Report::read(&path, &outcome)?.whole;
    match report["command"].as_str() {
        Some(command) if command.ends_with("caf\u{fffd}") => Ok(()),
        command => Err(format!("the report is of {command:?}\n{}", outcome.told()).into()),
    }
}

/// Warnings and the report that nobody reads any more end nothing.
fn unread_standard_error(family: &Family) -> Result<(), Failed> {
    let program = family.program("rounds.c")?.display().to_string();
    // The reader is gone before the program starts, and what is wrong with the file is told in MPI_Init.
    let script = r#"exec 3>&1; { sleep 0.2; "$0" 100; echo "ended with $?" >&3; } 2>&1 >/dev/null | sleep 0"#;
    let command = ["sh", "-c", script, &program].map(str::to_owned).to_vec();
    let variables = [("COLLIE_REPORT", "stderr,/nowhere/at/all.json"), ("COLLIE_WATCHDOG", "60")];
    let launch = Launch { ranks: 1, command, variables: &variables, preload: family.preload()?, others: Vec::new() };
    let outcome = family.run(&launch)?.success()?;
    match outcome.stdout.contains("ended with 0") {
        true => Ok(()),
        false => Err(outcome.told().into()),
    }
}

/// A report that cannot be written at `exit`, since standard error is a pipe that is full and that nobody reads, costs a
/// while, and neither what the program has printed nor its status.
fn stalled_standard_error(family: &Family) -> Result<(), Failed> {
    let script =
        r#"mkfifo "$1"; exec 8<>"$1"; head -c 65536 /dev/zero >&8; "$0" alone 2>"$1" 8>&-; echo "ended with $?""#;
    let preload = family.preload()?.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(":");
    let pipe = report::fresh().with_extension("pipe").display().to_string();
    let mut command = Command::new("env");
    command.args([format!("LD_PRELOAD={preload}"), "COLLIE_REPORT=stderr".to_owned()]);
    command.args(["sh", "-c", script]).arg(family.program("leaves.c")?).arg(&pipe);
    let outcome = Job::start(command, 1)?.finish(Duration::from_secs(60))?.success()?;
    std::fs::remove_file(pipe)?;
    if outcome.stdout == "a result\nended with 3\n" { Ok(()) } else { Err(outcome.told().into()) }
}

/// Runs a job, again while the launcher of MPICH 4.2.1 or Intel MPI got its end wrong, as they do without Collie too
/// (docs/native-defects.md).
fn past_hydra(family: &Family, launch: &Launch, wrong: impl Fn(&Outcome) -> bool) -> Result<Outcome, Failed> {
    let mut outcome = family.run(launch)?;
    for _ in 0..8 {
        if family.is_open_mpi() || !wrong(&outcome) {
            break;
        }
        outcome = family.run(launch)?;
    }
    Ok(outcome)
}

/// Whether it killed a job whose processes ended MPI after `main`.
fn killed(outcome: &Outcome) -> bool {
    outcome.status == Some(9)
        && [&outcome.stdout, &outcome.stderr].iter().any(|text| text.contains("EXIT STRING: Killed (signal 9)"))
}

/// Whether it says that all went well, or wrote to a closed pipe itself and died of it, as Intel MPI's sometimes does
/// when its ranks are gone.
fn well(outcome: &Outcome) -> bool {
    matches!(outcome.status, Some(0 | 141))
}

/// Error handlers that jump out of a call: the calls after it run as they did on all ranks.
fn jumps(family: &Family) -> Result<(), Failed> {
    for mode in ["replace", "compare", "verify"] {
        left_by_error(family, "jumps.c", mode)?;
    }
    Ok(())
}

/// What a jump left held on one thread is let go by the thread's next call, so that another one may call there.
fn jumps_between_threads(family: &Family) -> Result<(), Failed> {
    left_by_error(family, "jumps_between_threads.c", "replace")
}

/// The same with exceptions.
fn throws(family: &Family) -> Result<(), Failed> {
    for mode in ["replace", "verify"] {
        left_by_error(family, "throws.cpp", mode)?;
    }
    Ok(())
}

fn left_by_error(family: &Family, source: &str, mode: &str) -> Result<(), Failed> {
    let command = vec![family.program(source)?.display().to_string()];
    let variables = [("COLLIE_REPORT", "off"), ("COLLIE_MODE", mode), ("COLLIE_BCAST", "binomial")];
    // Two ranks also have a message of ours that fails; in other modes the native call fails as well.
    let ranks = if mode == "replace" { 2 } else { 3 };
    let launch = Launch { ranks, command, variables: &variables, preload: family.preload()?, others: Vec::new() };
    family.run(&launch)?.success().map(drop)
}

/// A reduction function that jumps or throws out of an algorithm of ours, in its first call and in one that goes the
/// short way: the next call on that rank, whatever and however deep it is, ends the job and says why; none goes on.
fn jumping_operation(family: &Family) -> Result<(), Failed> {
    const SETTINGS: &[(&str, &str, &str, &str, &str)] = &[
        ("1", "jump", "collective", "single", "replace"),
        ("6", "jump", "collective", "single", "replace"),
        ("6", "jump", "deeper", "multiple", "replace"),
        ("6", "jump", "observed", "single", "replace"),
        ("6", "jump", "finalize", "single", "replace"),
        ("1", "jump", "observed", "multiple", "verify"),
        ("1", "throw", "collective", "multiple", "replace"),
        ("6", "throw", "finalize", "single", "replace"),
        ("6", "throw", "collective", "single", "verify"),
    ];
    let program = family.program("jumping_operation.cpp")?.display().to_string();
    for (call, way, next, threads, mode) in SETTINGS {
        let words = [*call, *way, *next, *threads].map(str::to_owned);
        let command = std::iter::once(program.clone()).chain(words).collect();
        let variables = [("COLLIE_REPORT", "off"), ("COLLIE_ALLREDUCE", "recursive_doubling"), ("COLLIE_MODE", *mode)];
        let launch =
            Launch { ranks: 4, command, variables: &variables, preload: family.preload()?, others: Vec::new() };
        let outcome = family.run(&launch)?;
        let how = if *way == "jump" { "a jump" } else { "an exception" };
        let words = format!(
            "collie: rank 1: {how} out of the program's reduction function has interrupted one of Collie's algorithms \
             in MPI_Allreduce"
        );
        if outcome.status != Some(70) || !outcome.stderr.contains(&words) || outcome.stderr.contains("returned") {
            return Err(format!("{way} out of call {call}, mode {mode}: not ended for it\n{}", outcome.told()).into());
        }
    }
    Ok(())
}

/// Delete callbacks that communicate on the dying communicator leave nothing behind that the end would trip over.
fn dying_communicator(family: &Family) -> Result<(), Failed> {
    let path = report::fresh();
    let path_text = path.display().to_string();
    let command = vec![family.program("dying_communicator.c")?.display().to_string()];
    let variables = [("COLLIE_REPORT", path_text.as_str())];
    let launch = Launch { ranks: 3, command, variables: &variables, preload: family.preload()?, others: Vec::new() };
    let outcome = family.run(&launch)?.success()?;
    Report::read(&path, &outcome).map(drop)
}

/// An error that ends the job is told with the collective that the program called, whatever MPI names.
fn fatal_error(family: &Family) -> Result<(), Failed> {
    let command = vec![family.program("too_long.c")?.display().to_string()];
    let launch = Launch {
        ranks: 2,
        command,
        variables: &[("COLLIE_BCAST", "linear"), ("COLLIE_REPORT", "off")],
        preload: family.preload()?,
        others: Vec::new(),
    };
    let outcome = family.run(&launch)?;
    match outcome.stderr.contains("collie: rank 1: an error in MPI_Bcast on MPI_COMM_WORLD (")
        && outcome.status != Some(0)
    {
        true => Ok(()),
        false => Err(format!("the call is not told\n{}", outcome.told()).into()),
    }
}

/// Ranks that Collie is not preloaded on do not answer the others, which is told.
fn not_preloaded(family: &Family) -> Result<(), Failed> {
    let program = family.program("not_preloaded.c")?.display().to_string();
    for arguments in [&[][..], &["allreduce"]] {
        let with = |words: &[&str]| words.iter().chain(arguments).map(ToString::to_string).collect::<Vec<_>>();
        let launch = Launch {
            ranks: 1,
            command: with(&[&program]),
            variables: &[("COLLIE_WATCHDOG", "1"), ("COLLIE_REPORT", "off")],
            preload: family.preload()?,
            others: vec![(1, with(&["env", "-u", "LD_PRELOAD", &program]))],
        };
        let outcome = family.run(&launch)?;
        let says = |words: &str| outcome.stderr.contains(words);
        if !says("collie: rank 0 has waited in MPI_Init for 1 s") || says("MPI_ERR_TRUNCATE") {
            return Err(format!("{arguments:?}: that a rank is without Collie is not told\n{}", outcome.told()).into());
        }
    }
    Ok(())
}

/// A program that looks MPI's functions up in the MPI library has no report, and is told so once for all its ranks; one that
/// never initialises MPI is told nothing.
fn past_collie(family: &Family) -> Result<(), Failed> {
    let program = family.program("past_collie.c")?.display().to_string();
    for (arguments, expected) in [(&[][..], 1), (&["never"], 0)] {
        let launch = Launch {
            ranks: 2,
            command: std::iter::once(program.as_str()).chain(arguments.iter().copied()).map(str::to_owned).collect(),
            variables: &[],
            preload: family.preload()?,
            others: Vec::new(),
        };
        let outcome = family.run(&launch)?;
        let told = outcome.stderr.matches("past libcollie.so, which saw no MPI_Init").count();
        if told != expected || outcome.status != Some(0) || outcome.stderr.contains("collective") {
            return Err(format!("{arguments:?}: told {told} times\n{}", outcome.told()).into());
        }
    }
    Ok(())
}

/// Where neither MPI_Init nor MPI_Finalize comes to Collie, only ranks that have met in a collective wait for each other at
/// the end: others may never have come to Collie, and would not answer.
fn init_past_collie(family: &Family) -> Result<(), Failed> {
    let host = family.compiled("host.c", &["-Wl,--as-needed", "-ldl"])?;
    let module = family.compiled("init_past_collie.c", &["-shared", "-fPIC", "-ldl"])?;
    for (introduced, expected) in [(&[][..], "rank 0 of 2 alone"), (&[("INTRODUCED", "1")], "Allreduce")] {
        let launch = Launch {
            ranks: 2,
            command: [&host, &module].map(|path| path.display().to_string()).to_vec(),
            variables: introduced,
            preload: family.preload()?,
            others: Vec::new(),
        };
        let outcome = family.run(&launch)?.success()?;
        if !outcome.stderr.contains(expected) || outcome.stderr.contains("Allreduce") == introduced.is_empty() {
            return Err(format!("{introduced:?}: no '{expected}'\n{}", outcome.told()).into());
        }
    }
    Ok(())
}

/// MPI_Abort from a signal handler ends the job with the program's code, whatever the handler interrupted.
fn abort_in_handler(family: &Family) -> Result<(), Failed> {
    let program = family.program("abort_in_handler.c")?.display().to_string();
    for what in ["malloc", "collective", "crash"] {
        let path_text = report::fresh().display().to_string();
        let command = vec![program.clone(), what.to_owned()];
        let variables = [("COLLIE_REPORT", path_text.as_str())];
        let launch =
            Launch { ranks: 2, command, variables: &variables, preload: family.preload()?, others: Vec::new() };
        let outcome = past_hydra(family, &launch, well)?;
        if outcome.status != Some(9) {
            return Err(format!("{what}: not status 9\n{}", outcome.told()).into());
        }
    }
    Ok(())
}

/// Of two threads that abort at once one writes the report, and the other one waits for it.
fn two_aborts(family: &Family) -> Result<(), Failed> {
    let path = report::fresh();
    let path_text = path.display().to_string();
    let command = vec![family.program("two_aborts.c")?.display().to_string()];
    let variables = [("COLLIE_REPORT", path_text.as_str())];
    let launch = Launch { ranks: 2, command, variables: &variables, preload: family.preload()?, others: Vec::new() };
    let outcome = past_hydra(family, &launch, well)?;
    let report = Report::read(&path.with_extension("rank1.json"), &outcome)?;
    // The launcher may end rank 0 by SIGTERM.
    drop(std::fs::remove_file(path.with_extension("rank0.json")));
    let calls = report.calls(|row| row.function == "MPI_Allreduce");
    if report.whole["partial"] != "rank 1 of 2 alone, before MPI_Abort with code 9" || calls != 50 * 20 {
        return Err(format!("{:#}\n{}", report.whole, outcome.told()).into());
    }
    Ok(())
}

/// A rank that ends without MPI_Finalize, by `exit` or SIGTERM, writes what it knows first; a process that it forks
/// does not, nor one whose program has a handler of its own: these come to MPI_Finalize.
fn leaves(family: &Family) -> Result<(), Failed> {
    let program = family.program("leaves.c")?.display().to_string();
    for (how, words) in [
        ("exit", Some("rank 1 of 2 alone, at exit without MPI_Finalize")),
        ("term", Some("rank 1 of 2 alone, at SIGTERM")),
        // Where it is in MPI when the signal comes is a matter of chance.
        ("waiting", Some("rank 1 of 2 alone, at SIGTERM")),
        ("waiting", Some("rank 1 of 2 alone, at SIGTERM")),
        ("waiting", Some("rank 1 of 2 alone, at SIGTERM")),
        ("handled", None),
        ("child", None),
    ] {
        let path = report::fresh();
        let path_text = path.display().to_string();
        let command = vec![program.clone(), how.to_owned()];
        let variables = [("COLLIE_REPORT", path_text.as_str())];
        let launch =
            Launch { ranks: 2, command, variables: &variables, preload: family.preload()?, others: Vec::new() };
        let outcome = match words {
            Some(_) => past_hydra(family, &launch, well)?,
            None => family.run(&launch)?,
        };
        let alone = path.with_extension("rank1.json");
        let wrong = |what: &str| Failed::from(format!("{how}: {what}\n{}", outcome.told()));
        if (outcome.status == Some(0)) != words.is_none() {
            return Err(wrong("the status"));
        }
        let Some(words) = words else {
            if alone.exists() {
                return Err(wrong("a report of rank 1 alone"));
            }
            Report::read(&path, &outcome)?.accounts_for(&outcome)?;
            continue;
        };
        if path.exists() {
            return Err(wrong("a report of all ranks"));
        }
        let report = Report::read(&alone, &outcome)?;
        // The launcher may end rank 0 by SIGTERM.
        drop(std::fs::remove_file(path.with_extension("rank0.json")));
        let name = &report.whole["communicators"][0]["name"];
        let calls = report.calls(|row| row.function == "MPI_Allreduce");
        if report.whole["partial"] != words || calls != 3 || name != "MPI_COMM_WORLD" {
            return Err(wrong(&format!("{:#}", report.whole)));
        }
    }
    Ok(())
}

/// One rank is killed, or the launcher is told to end, while the other ranks are in a call: what they write holds all
/// calls before that one, and names it, whether it is native, ours or only observed, on the fast path or the slow one.
fn dies(family: &Family) -> Result<(), Failed> {
    const SETTINGS: &[(&str, &str, &str, &str, &str)] = &[
        ("allreduce", "kill", "2", "COLLIE_MODE", "native"),
        ("allreduce", "kill", "2", "COLLIE_ALLREDUCE", "recursive_doubling"),
        ("allreduce", "kill", "2", "COLLIE_SYNC", "barrier"),
        ("allreduce", "term", "2", "COLLIE_MODE", "replace"),
        ("allreduce", "term", "2", "COLLIE_MODE", "verify"),
        ("scan", "kill", "0", "COLLIE_MODE", "replace"),
    ];
    let program = family.program("dies.c")?.display().to_string();
    for (collective, how, one, variable, value) in SETTINGS {
        let path = report::fresh();
        let path_text = path.display().to_string();
        let command = [&program, *collective, *how, *one].map(str::to_owned).to_vec();
        let variables = [("COLLIE_REPORT", path_text.as_str()), (variable, value)];
        let launch =
            Launch { ranks: 3, command, variables: &variables, preload: family.preload()?, others: Vec::new() };
        let outcome = family.run(&launch)?;
        let wrong = |what: String| Failed::from(format!("{variable}={value}, {how}: {what}\n{}", outcome.told()));
        if outcome.status == Some(0) {
            return Err(wrong("it ended well".to_owned()));
        }
        let function = if *collective == "scan" { "MPI_Scan" } else { "MPI_Allreduce" };
        let others: Vec<u32> = (0..3).filter(|rank| rank.to_string() != *one).collect();
        let collie = option_env!("CARGO_BIN_EXE_collie").ok_or("tests are built with the feature cli")?;
        let files = others.iter().map(|rank| path.with_extension(format!("rank{rank}.json")));
        let told = Command::new(collie).args(["report", "--format", "json"]).args(files).output()?;
        let merged: serde_json::Value = serde_json::from_slice(&told.stdout)?;
        let rows = merged["under_way"].as_array().map(Vec::as_slice).unwrap_or_default();
        let row = |row: &serde_json::Value| (row["rank"].as_u64(), row["function"] == function);
        let expected = others.iter().map(|rank| (Some(u64::from(*rank)), true));
        if !rows.iter().map(row).eq(expected) {
            return Err(wrong(format!("merged: {rows:?}")));
        }
        for rank in others {
            let report = Report::read(&path.with_extension(format!("rank{rank}.json")), &outcome)?;
            let partial = report.whole["partial"].as_str().unwrap_or_default();
            let words = format!("rank {rank} of 3 alone, at SIGTERM; under way: {function} on MPI_COMM_WORLD for ");
            let calls = report.calls(|row| row.function == function);
            if !partial.starts_with(&words) || partial.contains("at work") || calls != 12 {
                return Err(wrong(format!("rank {rank}: {calls} calls; {partial}")));
            }
        }
        drop(std::fs::remove_file(path.with_extension(format!("rank{one}.json"))));
    }
    Ok(())
}
