//! Where the report says that communicators come from.

use crate::job::Outcome;
use crate::mpi::{Family, Launch};
use crate::programs::accounted;
use crate::report::{self, Report};
use libtest_mimic::{Failed, Trial};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub fn trials(family: &'static Family) -> Vec<Trial> {
    let name = |program: &str| format!("{}::{program}", family.name);
    let mut trials = vec![
        Trial::test(name("communicators"), move || made(family, "communicators.c", &OF_C, "replace")),
        Trial::test(name("communicators::native"), move || made(family, "communicators.c", &OF_C, "native")),
        Trial::test(name("short_lived"), move || first_calls(family)),
        Trial::test(name("communicators_mpif"), move || made(family, "communicators_mpif.F", &OF_FORTRAN, "replace")),
        Trial::test(name("many_live_communicators"), move || many_live(family)),
        Trial::test(name("agreed_before"), move || agreed_before(family)),
    ];
    if !family.is_open_mpi() {
        trials.push(Trial::test(name("idle_communicators"), move || idle_longest(family)));
        trials.push(Trial::test(name("many_live_communicators::most"), move || as_many_as_natively(family)));
    }
    for sync in ["clock", "barrier"] {
        trials.push(Trial::test(name(&format!("spawned::{sync}")), move || spawned(family, sync, "replace")));
    }
    trials.push(Trial::test(name("spawned::native"), move || spawned(family, "barrier", "native")));
    trials
}

/// Name, size and members of a communicator, and the name of the one it was made from. The name begins with the
/// function.
type Made = (&'static str, u64, &'static [u64], &'static str);

const WORLD: &str = "MPI_COMM_WORLD";

const OF_C: [Made; 18] = [
    ("MPI_Comm_dup", 4, &[0, 1, 2, 3], WORLD),
    ("MPI_Comm_dup_with_info", 4, &[0, 1, 2, 3], "MPI_Comm_dup"),
    ("MPI_Comm_idup", 4, &[0, 1, 2, 3], "MPI_Comm_dup_with_info"),
    ("MPI_Comm_split_type", 4, &[0, 1, 2, 3], WORLD),
    ("MPI_Comm_split", 2, &[1, 0], "MPI_Comm_split_type"),
    ("MPI_Comm_split of the second", 2, &[3, 2], "MPI_Comm_split_type"),
    ("MPI_Intercomm_create", 4, &[1, 0, 3, 2], "MPI_Comm_split"),
    ("MPI_Comm_dup of both groups", 4, &[1, 0, 3, 2], "MPI_Intercomm_create"),
    ("MPI_Intercomm_merge", 4, &[1, 0, 3, 2], "MPI_Intercomm_create"),
    ("MPI_Intercomm_merge of the duplicate", 4, &[1, 0, 3, 2], "MPI_Comm_dup of both groups"),
    ("MPI_Comm_create", 2, &[1, 3], WORLD),
    ("MPI_Comm_create_group", 2, &[1, 3], WORLD),
    ("MPI_Comm_create_group again", 2, &[1, 3], WORLD),
    ("MPI_Cart_create", 4, &[0, 1, 2, 3], WORLD),
    ("MPI_Cart_sub", 2, &[0, 2], "MPI_Cart_create"),
    ("MPI_Cart_sub of the second", 2, &[1, 3], "MPI_Cart_create"),
    ("MPI_Graph_create", 4, &[0, 1, 2, 3], WORLD),
    ("MPI_Dist_graph_create", 4, &[0, 1, 2, 3], WORLD),
];

const OF_FORTRAN: [Made; 5] = [
    ("MPI_Comm_dup", 4, &[0, 1, 2, 3], WORLD),
    ("MPI_Comm_idup", 4, &[0, 1, 2, 3], "MPI_Comm_dup"),
    ("MPI_Cart_create", 4, &[0, 1, 2, 3], "MPI_Comm_dup"),
    ("MPI_Comm_create_group", 2, &[0, 2], "MPI_Comm_dup"),
    ("MPI_Comm_split", 4, &[3, 2, 1, 0], "MPI_Comm_dup"),
];

fn made(family: &Family, program: &str, expected: &[Made], mode: &str) -> Result<(), Failed> {
    let (outcome, report) = accounted(family, program, &[], 4, &[("COLLIE_MODE", mode)])?;
    let rows = report.whole["communicators"].as_array().ok_or("no communicators")?;
    let identities: BTreeSet<_> = rows.iter().filter_map(|row| row["identity"].as_str()).collect();
    if identities.len() != rows.len() {
        return Err(format!("identities are not different: {identities:?}").into());
    }
    for (name, size, members, parent) in expected {
        let of_that_name: Vec<_> = rows.iter().filter(|row| row["name"] == *name).collect();
        let [row] = of_that_name.as_slice() else {
            return Err(format!("{name}: {} communicators\n{rows:#?}\n{}", of_that_name.len(), outcome.told()).into());
        };
        let known = |identity: &Value| rows.iter().find(|row| row["identity"] == *identity);
        // World itself may have had no calls.
        let found = match known(&row["parent"]) {
            Some(row) => row["name"].as_str(),
            None => Some(WORLD).filter(|_| row["parent"] == "world"),
        };
        let function = name.split(' ').next().unwrap_or_default();
        let fits = row["made_by"] == function
            && row["size"] == *size
            && found == Some(*parent)
            && row["members"].as_array().is_some_and(|found| found.iter().eq(members.iter()));
        if !fits {
            return Err(format!("{name}: expected {members:?} made from {parent}\n{row:#}\n{}", outcome.told()).into());
        }
    }
    Ok(())
}

/// Of `short_lived.c`: communicators other than MPI_COMM_WORLD, and calls on each.
const SHORT_LIVED: u64 = 18;
const CALLS: u64 = 6;

/// The first calls on a communicator are native, up to the one that COLLIE_AFTER of rank 0 names; those on
/// MPI_COMM_WORLD never.
fn first_calls(family: &Family) -> Result<(), Failed> {
    const RANKS: u64 = 3;
    let program = family.program("short_lived.c")?.display().to_string();
    // What is set for rank 0, and for the others.
    for (set, elsewhere, native) in [("", "", 3), ("1", "", 0), ("2", "6", 1), ("7", "1", 6)] {
        let path = report::fresh();
        let path_text = path.display().to_string();
        let command = |after: &str| vec!["env".to_owned(), format!("COLLIE_AFTER={after}"), program.clone()];
        let variables = [("COLLIE_REPORT", path_text.as_str()), ("COLLIE_AFTER", "")];
        let others = vec![(RANKS as usize - 1, command(elsewhere))];
        let preload = family.preload()?;
        let launch = Launch { ranks: 1, command: command(set), variables: &variables, preload, others };
        let outcome = family.run(&launch)?.success()?;
        let report = Report::read(&path, &outcome)?;
        report.accounts_for(&outcome)?;
        let first = report.calls(|row| row.decided_by.contains("COLLIE_AFTER"));
        let replaced = report.calls(|row| row.algorithm != "native");
        let (expected, all) = (SHORT_LIVED * native * RANKS, SHORT_LIVED * CALLS * RANKS);
        if first != expected || replaced != all - expected + RANKS {
            return Err(
                format!("COLLIE_AFTER={set}: {first} first calls, {replaced} replaced\n{}", outcome.told()).into()
            );
        }
    }
    Ok(())
}

/// The budget holds when private communicators are made, however long before that the ranks have agreed.
fn agreed_before(family: &Family) -> Result<(), Failed> {
    let variables = [("COLLIE_BARRIER", "native"), ("COLLIE_BCAST", "linear"), ("COLLIE_MAX_COMMUNICATORS", "2")];
    let (outcome, report) = accounted(family, "agreed_before.c", &[], 2, &variables)?;
    match report.calls(|row| row.function == "MPI_Bcast" && row.algorithm == "linear") {
        4 => Ok(()),
        calls => Err(format!("{calls} calls on two ranks, and not two on each\n{}", outcome.told()).into()),
    }
}

const MANY_LIVE: &str = "many_live_communicators.c";

/// A program that needs nearly all the ids that MPICH has for communicators gets them.
fn many_live(family: &Family) -> Result<(), Failed> {
    let (outcome, report) = accounted(family, MANY_LIVE, &["2030"], 2, &[("COLLIE_AFTER", "")])?;
    if report.calls(|row| row.algorithm != "native") == 0 {
        return Err(format!("nothing was replaced\n{}", outcome.told()).into());
    }
    Ok(())
}

/// How many communicators `MANY_LIVE` says that it could make.
fn most(outcome: &Outcome) -> Result<u64, Failed> {
    let number = outcome.stdout.lines().find_map(|line| line.strip_prefix("most: ")?.parse().ok());
    number.ok_or_else(|| Failed::from(outcome.told()))
}

/// The same without Collie.
fn most_natively(family: &Family, ranks: usize) -> Result<u64, Failed> {
    let command = vec![family.program(MANY_LIVE)?.display().to_string()];
    let preload = family.patience()?.into_iter().collect();
    let launch = Launch { ranks, command, variables: &[], preload, others: Vec::new() };
    most(&family.run(&launch)?.success()?)
}

/// Of the private communicators those go back to the program that have been idle longest, on all ranks alike, and not
/// more than it needs.
fn idle_longest(family: &Family) -> Result<(), Failed> {
    const RANKS: usize = 4;
    let number = most_natively(family, 2)? - 12;
    let (outcome, report) =
        accounted(family, "idle_communicators.c", &[&number.to_string()], RANKS, &[("COLLIE_AFTER", "1")])?;
    let communicators = report.whole["communicators"].as_array().ok_or("no communicators")?;
    let mut given_back: Vec<u64> = report.whole["rows"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|row| {
            row["decided_by"].as_str().filter(|by| by.contains("given back"))?;
            let name = communicators[row["communicator"].as_u64()? as usize]["name"].as_str()?;
            name.strip_prefix("used ")?.parse().ok()
        })
        .collect();
    given_back.sort_unstable();
    given_back.dedup();
    // Those from 10 on have been idle since before the others' last calls.
    let first_idle: Vec<u64> = (10..10 + given_back.len() as u64).collect();
    if given_back.len() < 3 || given_back.len() > 10 || given_back != first_idle {
        return Err(format!("of {number} communicators, given back: {given_back:?}\n{}", outcome.told()).into());
    }
    Ok(())
}

/// As many communicators as without Collie, whatever it holds itself; what it gave back is in the report.
fn as_many_as_natively(family: &Family) -> Result<(), Failed> {
    let natively = most_natively(family, 2)?;
    let greedy = [("COLLIE_AFTER", "1"), ("COLLIE_MAX_COMMUNICATORS", "1000")];
    let (outcome, report) = accounted(family, MANY_LIVE, &[], 2, &greedy)?;
    let number = most(&outcome)?;
    if number + 2 < natively || report.calls(|row| row.decided_by.contains("given back")) == 0 {
        return Err(format!("{number} communicators, natively {natively}\n{}", outcome.told()).into());
    }
    Ok(())
}

/// Processes that others spawn, and collectives of both together, with `COLLIE_SPAWNED`. Each of the two worlds has a
/// report.
fn spawned(family: &Family, sync: &str, of_both: &str) -> Result<(), Failed> {
    // Open MPI 5 does not hand down what its launcher sets (open-mpi/ompi#13399): the spawned processes are without
    // Collie.
    let handed_down = !family.is_open_mpi_5()?;
    if of_both == "replace" && !handed_down {
        return Ok(());
    }
    let command = vec![family.program("spawned.c")?.display().to_string()];
    let preload = family.patience()?.into_iter().collect();
    let launch = Launch { ranks: 2, command: command.clone(), variables: &[], preload, others: Vec::new() };
    if !family.run_within(&launch, SPAWNING).is_ok_and(|natively| natively.status == Some(0)) {
        // Debian's MPICH 4.0.2 cannot spawn at all, and Open MPI 5.0.7 may hang where ranks outnumber cores.
        eprintln!("{}: its own MPI_Comm_spawn does not work here, so nothing is compared", family.name);
        return Ok(());
    }
    let path = report::fresh();
    let path_text = path.display().to_string();
    let variables = [
        ("COLLIE_REPORT", path_text.as_str()),
        ("COLLIE_SYNC", sync),
        ("COLLIE_ALLREDUCE", "recursive_doubling"),
        ("COLLIE_SPAWNED", of_both),
    ];
    let launch = Launch { ranks: 2, command, variables: &variables, preload: family.preload()?, others: Vec::new() };
    let outcome = family.run(&launch)?.success()?;
    let of_children = of_spawned(&path)?;
    if of_children.len() != usize::from(handed_down) {
        return Err(format!("reports of spawned processes: {of_children:?}\n{}", outcome.told()).into());
    }
    for path in of_children.iter().chain([&path]) {
        let report = Report::read(path, &outcome)?;
        let calls = |algorithm: &str| report.calls(|row| row.function == "MPI_Allreduce" && row.algorithm == algorithm);
        let (ours, native) = (calls("recursive_doubling"), calls("native"));
        // Of the calls of both worlds the first is native, or all are.
        let natively = if of_both == "replace" { 2 } else { SPAWNED_CALLS / 2 };
        if (ours, native) != (SPAWNED_CALLS - natively, natively) || report.whole["sync"] != sync {
            return Err(format!("{}: {ours} calls\n{:#}\n{}", path.display(), report.whole, outcome.told()).into());
        }
    }
    Ok(())
}

/// How long the MPI library may take to spawn two processes and end.
const SPAWNING: Duration = Duration::from_secs(30);

/// Calls of MPI_Allreduce that the two ranks of a world make in `spawned.c`.
const SPAWNED_CALLS: u64 = 24;

/// The reports of spawned processes beside `path`.
fn of_spawned(path: &Path) -> Result<Vec<PathBuf>, Failed> {
    let begin = format!("{}.spawned-", path.with_extension("").display());
    let folder = path.parent().ok_or("a report lies in a folder")?;
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let paths = entries.flatten().map(|entry| entry.path());
    Ok(paths.filter(|path| path.display().to_string().starts_with(&begin)).collect())
}
