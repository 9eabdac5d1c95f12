//! Ranks on several nodes, as far as Collie can tell: algorithms that go by nodes, and messages in pieces.

use crate::mpi::{Family, Launch};
use crate::report::{self, Report};
use collie::algorithm::Operation;
use collie::selection::variables;
use libtest_mimic::{Failed, Trial};

/// Each with the program that calls it; barrier has no buffers to compare.
const OPERATIONS: [(Operation, &str); 6] = [
    (Operation::Bcast, "data_movement.c"),
    (Operation::Gather, "data_movement.c"),
    (Operation::Scatter, "data_movement.c"),
    (Operation::Allgather, "data_movement.c"),
    (Operation::Reduce, "reductions.c"),
    (Operation::Allreduce, "reductions.c"),
];

/// On nodes of three, three and two ranks that alternate.
const RANKS: usize = 8;

pub fn trials(family: &'static Family) -> Vec<Trial> {
    let trial = |(operation, source): (Operation, &'static str)| {
        Trial::test(format!("{}::nodes::{operation}", family.name), move || by_nodes(family, operation, source))
    };
    OPERATIONS.into_iter().map(trial).collect()
}

/// `hierarchical` with unequal nodes, every message between them in pieces of at most 1000 bytes.
fn by_nodes(family: &Family, operation: Operation, source: &str) -> Result<(), Failed> {
    let path = report::fresh();
    let path_text = path.display().to_string();
    let variables =
        [("COLLIE_REPORT", path_text.as_str()), ("COLLIE_PIECE", "1000"), (variables::of(operation), "hierarchical")];
    let mut preload = family.preload()?;
    preload.push(family.compiled("several_nodes.c", &["-shared", "-fPIC", "-ldl"])?);
    let mut command = vec![family.program(source)?.display().to_string()];
    command.extend([operation.name(), "thin"].map(str::to_owned));
    let launch = Launch { ranks: RANKS, command, variables: &variables, preload, others: Vec::new() };
    let outcome = family.run(&launch)?.success()?;
    let report = Report::read(&path, &outcome)?;
    report.accounts_for(&outcome)?;
    let ran = report.calls(|row| row.algorithm.starts_with("hierarchical"));
    if ran == 0 {
        return Err(format!("hierarchical never ran\n{}", outcome.told()).into());
    }
    Ok(())
}
