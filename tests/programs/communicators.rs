//! Where the report says that communicators come from.

use crate::mpi::{Family, Launch};
use crate::programs::accounted;
use crate::report::{self, Report};
use libtest_mimic::{Failed, Trial};
use serde_json::Value;
use std::collections::BTreeSet;

pub fn trials(family: &'static Family) -> Vec<Trial> {
    let name = |program: &str| format!("{}::{program}", family.name);
    vec![
        Trial::test(name("communicators"), move || made(family, "communicators.c", &OF_C)),
        Trial::test(name("short_lived"), move || first_calls(family)),
        Trial::test(name("communicators_mpif"), move || made(family, "communicators_mpif.F", &OF_FORTRAN)),
    ]
}

/// Name, size and members of a communicator, and the name of the one it was made from. The name begins with the
/// function.
type Made = (&'static str, u64, &'static [u64], &'static str);

const WORLD: &str = "MPI_COMM_WORLD";

const OF_C: [Made; 16] = [
    ("MPI_Comm_dup", 4, &[0, 1, 2, 3], WORLD),
    ("MPI_Comm_dup_with_info", 4, &[0, 1, 2, 3], "MPI_Comm_dup"),
    ("MPI_Comm_idup", 4, &[0, 1, 2, 3], "MPI_Comm_dup_with_info"),
    ("MPI_Comm_split_type", 4, &[0, 1, 2, 3], WORLD),
    ("MPI_Comm_split", 2, &[1, 0], "MPI_Comm_split_type"),
    ("MPI_Comm_split of the second", 2, &[3, 2], "MPI_Comm_split_type"),
    ("MPI_Intercomm_create", 2, &[1, 0], "MPI_Comm_split"),
    ("MPI_Intercomm_merge", 4, &[1, 0, 3, 2], "MPI_Intercomm_create"),
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

fn made(family: &Family, program: &str, expected: &[Made]) -> Result<(), Failed> {
    let (outcome, report) = accounted(family, program, &[], 4, &[])?;
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

/// The first calls on a communicator are native, up to the one that COLLIE_AFTER of rank 0 names; those on MPI_COMM_WORLD never.
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
