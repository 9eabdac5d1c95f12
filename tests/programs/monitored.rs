//! Open MPI's own count of messages, where it is switched on, beside Collie's.

use crate::mpi::Family;
use crate::programs::accounted;
use crate::report::Report;
use libtest_mimic::{Failed, Trial};

pub fn trials(family: &'static Family) -> Vec<Trial> {
    if !family.is_open_mpi() {
        return Vec::new();
    }
    let name = |of: &str| format!("{}::monitored::{of}", family.name);
    vec![
        Trial::test(name("fortran"), move || of_fortran(family)),
        Trial::test(name("init_thread"), move || of_threads(family)),
        Trial::test(name("messages"), move || of_messages(family)),
    ]
}

fn run(family: &Family, program: &str, ranks: usize, mode: &str) -> Result<Report, Failed> {
    let settings = [
        ("OMPI_MCA_pml_monitoring_enable", "2"),
        ("COLLIE_MODE", mode),
        ("COLLIE_BCAST", "linear"),
        ("COLLIE_ALLREDUCE", "recursive_doubling"),
    ];
    Ok(accounted(family, program, &[], ranks, &settings)?.1)
}

/// Messages and bytes from one rank to another.
fn sent(report: &Report, table: &str, from: u64, to: u64) -> (u64, u64) {
    let rows = report.whole[table].as_array().into_iter().flatten();
    let row = rows.filter(|row| row["from"] == from && row["to"] == to);
    row.fold((0, 0), |sum, row| {
        (sum.0 + row["messages"].as_u64().unwrap_or(0), sum.1 + row["bytes"].as_u64().unwrap_or(0))
    })
}

/// What is no longer native is no longer in the native count, and Collie's own needs never are: between a native run
/// and a replaced one lie the program's collectives and nothing else.
fn of_fortran(family: &Family) -> Result<(), Failed> {
    let native = run(family, "records_f08.f90", 2, "native")?;
    let replaced = run(family, "records_f08.f90", 2, "replace")?;
    // Five sums of 48 bytes both ways, and three broadcasts of four bytes from world rank 0.
    for (from, to, messages, bytes) in [(0, 1, 8, 252), (1, 0, 5, 240)] {
        let with = sent(&native, "native_collectives", from, to);
        let without = sent(&replaced, "native_collectives", from, to);
        if (with.0 - without.0, with.1 - without.1) != (messages, bytes) {
            return Err(format!("{from} to {to}: {with:?} natively, {without:?} replaced").into());
        }
        let ours = sent(&replaced, "traffic", from, to);
        if ours != (messages, bytes) || sent(&native, "traffic", from, to) != (0, 0) {
            return Err(format!("{from} to {to}: Collie sent {ours:?}").into());
        }
    }
    Ok(())
}

/// A program that starts MPI with threads is counted as well.
fn of_threads(family: &Family) -> Result<(), Failed> {
    let report = run(family, "pitfall_12_threads.c", 2, "native")?;
    let (messages, bytes) = sent(&report, "native_collectives", 0, 1);
    if messages > 0 && bytes > 0 { Ok(()) } else { Err("Open MPI counted nothing".into()) }
}

/// What point-to-point calls send from rank to rank, where the library offers it, as Open MPI 5 does; all but
/// persistent ones.
fn of_messages(family: &Family) -> Result<(), Failed> {
    let report = run(family, "messages.c", 2, "native")?;
    let library = report.whole["mpi_library"].as_str().unwrap_or_default();
    let found = [(0, 1), (1, 0)].map(|(from, to)| sent(&report, "native_traffic", from, to));
    let one_way = (1 + 1 + 101, 8 + 16 + 404);
    let expected = [one_way, (one_way.0 + 4, one_way.1 + 16 + 64 + 4 + 4)];
    let is_lacking = library.starts_with("Open MPI v4.") && found == [(0, 0); 2];
    if is_lacking || found == expected { Ok(()) } else { Err(format!("{library}: {found:?}, not {expected:?}").into()) }
}
