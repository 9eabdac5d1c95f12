//! Programs that use MPI by sessions, beside `MPI_Init` and without it, on the MPIs that have them.

use crate::job::Outcome;
use crate::mpi::{Family, Launch};
use crate::report::{self, Report};
use libtest_mimic::{Failed, Trial};

const RANKS: usize = 3;

/// What is said of collectives that stay native for want of `MPI_Init`.
const TOLD: &str = "calls collectives in an MPI session without having called MPI_Init";

pub fn trials(family: &'static Family) -> Vec<Trial> {
    let name = |way: &str| format!("{}::sessions::{way}", family.name);
    vec![
        Trial::test(name("alone"), move || alone(family)),
        Trial::test(name("before"), move || beside(family, "before")),
        Trial::test(name("after"), move || beside(family, "after")),
    ]
}

/// Runs the program; nothing where the MPI has no sessions, as Open MPI 4 and MPICH 3 have none.
fn run(family: &Family, way: &str, report: &str) -> Result<Option<Outcome>, Failed> {
    let command = vec![family.program("sessions.c")?.display().to_string(), way.to_owned()];
    let variables = [("COLLIE_REPORT", report), ("COLLIE_NETWORK", "measure")];
    let launch =
        Launch { ranks: RANKS, command, variables: &variables, preload: family.preload()?, others: Vec::new() };
    let outcome = family.run(&launch)?;
    if outcome.status != Some(0) {
        // MPICH 4.2.1 ends so itself when a session was begun before MPI_Init (docs/native-defects.md).
        let natively =
            family.run(&Launch { variables: &[], preload: family.patience()?.into_iter().collect(), ..launch })?;
        if natively.status != Some(0) && natively.status == outcome.status {
            eprintln!("{}: its own sessions end with status {:?}, so nothing is compared", family.name, outcome.status);
            return Ok(None);
        }
    }
    let outcome = outcome.success()?;
    let has_none = outcome.stdout.contains("no sessions");
    let may_have_none = if family.is_open_mpi() { !family.is_open_mpi_5()? } else { family.name == "mpich3" };
    if has_none && !may_have_none {
        return Err(format!("{} has sessions\n{}", family.name, outcome.told()).into());
    }
    Ok((!has_none).then_some(outcome))
}

/// Without `MPI_Init` all is native, which is said once, and there is no report.
fn alone(family: &Family) -> Result<(), Failed> {
    let path = report::fresh();
    let Some(outcome) = run(family, "alone", &path.display().to_string())? else { return Ok(()) };
    let told = outcome.stderr.matches(TOLD).count();
    if told != 1 || path.exists() {
        return Err(format!("told {told} times; a report: {}\n{}", path.exists(), outcome.told()).into());
    }
    Ok(())
}

/// Beside `MPI_Init`, communicators of sessions are as all others.
fn beside(family: &Family, way: &str) -> Result<(), Failed> {
    let path = report::fresh();
    let Some(outcome) = run(family, way, &path.display().to_string())? else { return Ok(()) };
    let report = Report::read(&path, &outcome)?;
    report.accounts_for(&outcome)?;
    let made = report.whole["communicators"].as_array().into_iter().flatten();
    let of_groups = made.filter(|row| row["made_by"] == "MPI_Comm_create_from_group" && row["size"] == RANKS).count();
    let replaced = report.calls(|row| row.algorithm != "native");
    let told = outcome.stderr.matches(TOLD).count();
    // In MPI_Init, whatever sessions there are.
    let measured = report.whole["network"]["within_node"]["rank"] == 1;
    // Calls before MPI_Init are native.
    if !measured || of_groups != 1 || replaced == 0 || told != usize::from(way == "before") {
        let found = format!(
            "{of_groups} communicators of groups, {replaced} calls replaced, told {told} times, measured: {measured}"
        );
        return Err(format!("{found}\n{}", outcome.told()).into());
    }
    Ok(())
}
