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
    let mut trials: Vec<_> = OPERATIONS.into_iter().map(trial).collect();
    trials.push(Trial::test(format!("{}::nodes::repeated", family.name), move || repeated(family)));
    trials
}

/// `hierarchical` with unequal nodes; messages between them in pieces of at most 1000 bytes, those of 65 to 128 bytes
/// within them as two.
fn by_nodes(family: &Family, operation: Operation, source: &str) -> Result<(), Failed> {
    let report =
        on_nodes(family, RANKS, &[source, operation.name(), "thin"], (variables::of(operation), "hierarchical"))?;
    match report.calls(|row| row.algorithm.starts_with("hierarchical")) {
        0 => Err("hierarchical never ran".into()),
        _ => Ok(()),
    }
}

/// Calls that are carried out from what was written down, in pieces of both kinds.
fn repeated(family: &Family) -> Result<(), Failed> {
    on_nodes(family, 5, &["repeated.c"], ("COLLIE_ALLGATHER", "direct")).map(drop)
}

/// Runs a program with its arguments on nodes that alternate; a variable besides those for pieces.
fn on_nodes(family: &Family, ranks: usize, program: &[&str], variable: (&str, &str)) -> Result<Report, Failed> {
    let path = report::fresh();
    let path_text = path.display().to_string();
    let variables =
        [("COLLIE_REPORT", path_text.as_str()), ("COLLIE_PIECE", "1000"), ("COLLIE_INLINE", "64"), variable];
    let mut preload = family.preload()?;
    preload.push(family.compiled("several_nodes.c", &["-shared", "-fPIC", "-ldl"])?);
    let mut command = vec![family.program(program[0])?.display().to_string()];
    command.extend(program[1..].iter().map(|argument| (*argument).to_owned()));
    let launch = Launch { ranks, command, variables: &variables, preload, others: Vec::new() };
    let outcome = family.run(&launch)?.success()?;
    let report = Report::read(&path, &outcome)?;
    report.accounts_for(&outcome)?;
    Ok(report)
}
