//! Every algorithm of the catalogue, forced by the variable that users set, with its defaults and with other settings.
//!
//! One job forces one algorithm of every operation that its program calls: starting jobs takes time. Each algorithm has
//! a test of its own that looks at its part of the job's report; the first of them that runs starts the job.

use crate::job::Outcome;
use crate::mpi::Family;
use crate::programs::accounted;
use crate::report::{Report, Row};
use crate::shared::SHARED;
use collie::algorithm::cover;
use collie::algorithm::{Algorithm, Call, Choice, Operation, of};
use collie::selection::variables;
use libtest_mimic::{Failed, Trial};
use std::sync::{Arc, OnceLock};

/// Each program with the operations that it calls: one that goes through types and counts, and one in which like calls
/// come back with other data, other roots and other communicators in between.
pub const PROGRAMS: [(&str, &[Operation]); 5] = [
    (
        "data_movement.c",
        &[Operation::Bcast, Operation::Gather, Operation::Scatter, Operation::Allgather, Operation::Alltoall],
    ),
    ("alltoallv.c", &[Operation::Alltoallv]),
    ("reductions.c", &[Operation::Reduce, Operation::Allreduce]),
    ("barrier.c", &[Operation::Barrier]),
    (
        "repeated.c",
        &[
            Operation::Bcast,
            Operation::Reduce,
            Operation::Allreduce,
            Operation::Gather,
            Operation::Scatter,
            Operation::Allgather,
            Operation::Alltoall,
            Operation::Alltoallv,
        ],
    ),
];

/// Ranks of each job; the programs part it into communicators of 1, 2, 3, 4, 5, 7 and 8.
const RANKS: usize = 8;

pub fn trials(family: &'static Family) -> Vec<Trial> {
    let is_called = |operation: &Operation| PROGRAMS.iter().any(|(_, called)| called.contains(operation));
    let mut trials = vec![Trial::test(format!("{}::every_operation_is_called", family.name), move || {
        match Operation::ALL.iter().find(|operation| !is_called(operation)) {
            Some(operation) => Err(format!("no program calls {operation}").into()),
            None => Ok(()),
        }
    })];
    for (_, forced) in forced_jobs(family, &[]) {
        for choice in &forced.choices {
            let program = forced.source.trim_end_matches(".c");
            let name = format!("{}::{}::{choice}::{program}", family.name, choice.algorithm.operation);
            let (forced, choice) = (Arc::clone(&forced), choice.clone());
            trials.push(Trial::test(name, move || forced.check(&choice)));
        }
    }
    trials
}

/// The jobs that force every algorithm, with more variables; each with a name.
pub fn forced_jobs(
    family: &'static Family,
    more: &'static [(&'static str, &'static str)],
) -> Vec<(String, Arc<Forced>)> {
    let mut all = Vec::new();
    for (source, operations) in PROGRAMS {
        let of_operations: Vec<Vec<Choice>> = operations
            .iter()
            .map(|operation| of(*operation).iter().flat_map(|row| settings(row, family)).collect())
            .collect();
        let jobs = of_operations.iter().map(Vec::len).max().unwrap_or(0);
        for job in 0..jobs {
            let choices = of_operations.iter().filter_map(|choices| choices.get(job).cloned()).collect();
            let forced = Forced { family, source, choices, more, ran: OnceLock::new() };
            all.push((format!("{}::{job}", source.trim_end_matches(".c")), Arc::new(forced)));
        }
    }
    all
}

/// What the programs take to run these operations only, and not with every type and count: those are with the default
/// choices, in the programs' own tests.
pub fn thin(operations: impl Iterator<Item = Operation>) -> [String; 2] {
    [operations.map(Operation::name).collect::<Vec<_>>().join(","), "thin".to_owned()]
}

/// One setting on each MPI: the defaults on Open MPI, and on MPICH, where there is a choice, one that changes several
/// parameters. `COLLIE_TEST_DEEP=1` takes every setting that covers the row, on each.
fn settings(row: &'static Algorithm, family: &Family) -> Vec<Choice> {
    let unit = if row.operation.reduces() { 4 } else { 1 };
    let count = if row.operation.has_data() { 1009 } else { 0 };
    let call = Call::plain(row.operation, count, unit);
    let default = Choice::new(row);
    let mut others = cover::choices(row, &call, RANKS);
    others.retain(|choice| *choice != default);
    if std::env::var("COLLIE_TEST_DEEP").is_ok_and(|value| value == "1") {
        others.insert(0, default);
        return others;
    }
    let changed = if family.is_open_mpi() { None } else { others.pop() };
    vec![changed.unwrap_or(default)]
}

/// A job with one choice for each of some operations.
pub struct Forced {
    family: &'static Family,
    source: &'static str,
    choices: Vec<Choice>,
    more: &'static [(&'static str, &'static str)],
    ran: OnceLock<Result<(Outcome, Report), String>>,
}

impl Forced {
    fn run(&self) -> Result<(Outcome, Report), Failed> {
        let texts: Vec<_> = self.choices.iter().map(ToString::to_string).collect();
        let operations = || self.choices.iter().map(|choice| choice.algorithm.operation);
        let forced = operations().map(variables::of).zip(texts.iter().map(String::as_str));
        let variables: Vec<_> = forced.chain(self.more.iter().copied()).collect();
        let arguments = thin(operations());
        accounted(self.family, self.source, &arguments.each_ref().map(String::as_str), RANKS, &variables)
    }

    /// Whether one of the choices lives in shared memory.
    pub fn shares_memory(&self) -> bool {
        self.choices.iter().any(|choice| choice.algorithm.needs.shared_memory)
    }

    /// The job ended well and ran calls by each choice; its report.
    pub fn check_all(&self) -> Result<&Report, Failed> {
        self.choices.iter().try_for_each(|choice| self.check(choice))?;
        let ran = self.ran.get().expect("it was run for the check");
        ran.as_ref().map(|(_, report)| report).map_err(Failed::from)
    }

    /// The job ended well and ran calls by this choice.
    fn check(&self, choice: &Choice) -> Result<(), Failed> {
        let ran = self.ran.get_or_init(|| self.run().map_err(|failed| failed.message().unwrap_or("").to_owned()));
        let (outcome, report) = ran.as_ref().map_err(Failed::from)?;
        let text = choice.to_string();
        let operation = format!("mpi_{}", choice.algorithm.operation);
        let calls = |wanted: &dyn Fn(&Row) -> bool| {
            report.calls(|row| row.function.eq_ignore_ascii_case(&operation) && wanted(row))
        };
        let ran = calls(&|row| row.algorithm == text);
        // What an algorithm needs may be more than one machine has; then the report says what refused it.
        let refused = calls(&|row| row.decided_by.contains(choice.algorithm.name));
        let needs = choice.algorithm.needs;
        let may_be_refused = needs.shared_memory && !self.more.contains(&SHARED);
        if ran == 0 && (refused == 0 || !may_be_refused) {
            let rows: Vec<_> = report.rows.iter().map(|row| format!("{row:?}")).collect();
            return Err(format!("{text} ran no call\n{}\n{}", rows.join("\n"), outcome.told()).into());
        }
        Ok(())
    }
}
