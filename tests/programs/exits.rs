//! Programs that leave MPI, or one of its calls, by an unusual way.

use crate::mpi::{Family, Launch};
use crate::report::{self, Report};
use libtest_mimic::{Failed, Trial};

type Test = fn(&Family) -> Result<(), Failed>;

const TESTS: &[(&str, Test)] = &[("at_exit", at_exit)];

pub fn trials(family: &'static Family) -> Vec<Trial> {
    let trial = |(name, test): &(&str, Test)| {
        let test = *test;
        Trial::test(format!("{}::{name}", family.name), move || test(family))
    };
    TESTS.iter().map(trial).collect()
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
        let outcome = family.run(&launch)?.success()?;
        if !outcome.stdout.contains("ended after main") {
            return Err(format!("{way}, {variable}={value}: not ended\n{}", outcome.told()).into());
        }
        let report = Report::read(&path, &outcome)?;
        let calls = report.calls(|row| row.function == "MPI_Allreduce" && row.decided_by.contains("COLLIE_ALLREDUCE"));
        if calls != 2 * 2 * 5 * 3 {
            return Err(format!("{way}, {variable}={value}: {calls} calls\n{}", outcome.told()).into());
        }
    }
    Ok(())
}
