//! Every algorithm of the catalogue, forced by the variable that users set, with its defaults and with other settings.

use crate::mpi::Family;
use crate::programs::accounted;
use collie::algorithm::{Algorithm, Call, Choice, HALF_BANDWIDTH, Operation, of};
use collie::schedule::cover;
use collie::selection::variables;
use libtest_mimic::{Failed, Trial};

/// The program of each operation.
const OPERATIONS: [(Operation, &str); 7] = [
    (Operation::Bcast, "data_movement.c"),
    (Operation::Gather, "data_movement.c"),
    (Operation::Scatter, "data_movement.c"),
    (Operation::Allgather, "data_movement.c"),
    (Operation::Reduce, "reductions.c"),
    (Operation::Allreduce, "reductions.c"),
    (Operation::Barrier, "barrier.c"),
];

/// Ranks of each job; the programs part it into communicators of 1, 2, 3, 4, 5, 7 and 8.
const RANKS: usize = 8;

pub fn trials(family: &'static Family) -> Vec<Trial> {
    let mut trials = Vec::new();
    for (operation, source) in OPERATIONS {
        for row in of(operation) {
            for choice in settings(row, family) {
                let name = format!("{}::{operation}::{choice}", family.name);
                trials.push(Trial::test(name, move || forced(family, operation, source, &choice)));
            }
        }
    }
    trials
}

/// One setting on each MPI: the defaults on Open MPI, and on MPICH, where there is a choice, one that changes several
/// parameters. `COLLIE_TEST_DEEP=1` takes every setting that covers the row, on each.
fn settings(row: &'static Algorithm, family: &Family) -> Vec<Choice> {
    let unit = if row.operation.reduces() { 4 } else { 1 };
    let nodes = &[];
    let count = if row.operation == Operation::Barrier { 0 } else { 1009 };
    let call = Call {
        operation: row.operation,
        root: 0,
        count,
        unit,
        commutative: true,
        nodes,
        half_bandwidth: HALF_BANDWIDTH,
    };
    let default = Choice::new(row);
    let mut others = cover::choices(row, &call, RANKS);
    others.retain(|choice| *choice != default);
    if std::env::var("COLLIE_TEST_DEEP").is_ok_and(|value| value == "1") {
        others.insert(0, default);
        return others;
    }
    let changed = if family.name == "openmpi" { None } else { others.pop() };
    vec![changed.unwrap_or(default)]
}

fn forced(family: &Family, operation: Operation, source: &str, choice: &Choice) -> Result<(), Failed> {
    let text = choice.to_string();
    let variables = [(variables::of(operation), text.as_str())];
    // Every root of every type and count is with the default choice, in the programs' own tests.
    let arguments = [operation.name(), "thin"];
    let (outcome, report) = accounted(family, source, &arguments, RANKS, &variables)?;
    let ran = report.calls(|row| row.algorithm == text);
    // What an algorithm needs may be more than one machine has; then the report says what refused it.
    let refused = report.calls(|row| row.decided_by.contains(choice.algorithm.name));
    if ran == 0 && (refused == 0 || !choice.algorithm.needs.several_nodes) {
        let rows: Vec<_> = report.rows.iter().map(|row| format!("{row:?}")).collect();
        return Err(format!("{text} ran no call\n{}\n{}", rows.join("\n"), outcome.told()).into());
    }
    Ok(())
}
