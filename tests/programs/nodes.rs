//! Ranks on several nodes, as far as Collie can tell: algorithms that go by nodes, and messages in pieces.

use crate::algorithms::{PROGRAMS, thin};
use crate::mpi::{Family, Launch};
use crate::programs::accounted;
use crate::report::{self, Report, Row};
use collie::algorithm::{Operation, of};
use collie::selection::variables;
use libtest_mimic::{Failed, Trial};

/// On nodes of three, three and two ranks that alternate.
const RANKS: usize = 8;

pub fn trials(family: &'static Family) -> Vec<Trial> {
    // Without data there are no buffers to compare.
    let has_data = |(_, operations): &(_, &[Operation])| operations.iter().all(|operation| operation.has_data());
    let programs = PROGRAMS.into_iter().filter(has_data);
    let trial = |(source, operations): (&'static str, &'static [Operation])| {
        let stem = source.split('.').next().unwrap_or(source);
        Trial::test(format!("{}::nodes::{stem}", family.name), move || {
            by_nodes(family, source, operations, &[]).map(drop)
        })
    };
    let mut trials: Vec<_> = programs.map(trial).collect();
    trials.push(Trial::test(format!("{}::nodes::pieces", family.name), move || pieces(family)));
    trials.push(Trial::test(format!("{}::nodes::one_time_line", family.name), move || one_time_line(family)));
    trials.push(Trial::test(format!("{}::nodes::pieces_hold_up", family.name), move || pieces_hold_up(family)));
    trials
}

/// The first algorithm of each operation that knows of nodes, with unequal ones; messages between them in pieces of at
/// most 200 bytes, more than are under way at once, those of 65 to 128 bytes within them in pieces.
pub fn by_nodes(
    family: &Family,
    source: &str,
    operations: &[Operation],
    more: &[(&str, &str)],
) -> Result<Report, Failed> {
    let among_messages = |operation: &Operation| {
        of(*operation)
            .iter()
            .find(|row| row.knows_nodes() && !row.needs.shared_memory)
            .map(|row| (*operation, row.name))
    };
    let by_nodes: Vec<_> = operations.iter().filter_map(among_messages).collect();
    let chosen = by_nodes.iter().map(|(operation, name)| (variables::of(*operation), *name));
    let variables: Vec<_> = chosen.chain(more.iter().copied()).collect();
    let [names, thin] = thin(operations.iter().copied());
    let report = on_nodes(family, RANKS, &[source, &names, &thin], &variables)?;
    for (operation, name) in by_nodes {
        let function = format!("mpi_{operation}");
        let is_chosen = |row: &Row| row.algorithm.split(':').next() == Some(name);
        if report.calls(|row| row.function.eq_ignore_ascii_case(&function) && is_chosen(row)) == 0 {
            return Err(format!("{name} never ran for {operation}").into());
        }
    }
    Ok(report)
}

/// Calls that come back, in pieces of both kinds.
fn pieces(family: &Family) -> Result<(), Failed> {
    on_nodes(family, 5, &["repeated.c"], &[("COLLIE_ALLGATHER", "direct")]).map(drop)
}

/// Pieces that the MPI library takes at once do not fill the memory of ranks that wait for a late one.
fn pieces_hold_up(family: &Family) -> Result<(), Failed> {
    let linear = [Operation::Gather, Operation::Scatter, Operation::Bcast].map(|of| (variables::of(of), "linear"));
    let variables = [&linear[..], &[("COLLIE_LIMITS", "4040x32")]].concat();
    accounted(family, "run_ahead.c", &[], 3, &variables).map(drop)
}

/// Nodes whose clocks differ by seconds have one time line: no rank leaves a call of all of them before the last has
/// come.
fn one_time_line(family: &Family) -> Result<(), Failed> {
    for sync in ["off", "clock"] {
        let (path, trace) = (report::fresh(), report::fresh().with_extension("trace"));
        let [path_text, trace_text] = [&path, &trace].map(|path| path.display().to_string());
        let variables = [
            ("COLLIE_REPORT", path_text.as_str()),
            ("COLLIE_TRACE", &trace_text),
            ("COLLIE_SYNC", sync),
            ("SEVERAL_NODES", "0011"),
        ];
        let mut preload = family.preload()?;
        for shim in ["several_nodes.c", "clocks_of_nodes.c"] {
            preload.push(family.compiled(shim, &["-shared", "-fPIC", "-ldl"])?);
        }
        let command = vec![family.program("late_rank.c")?.display().to_string()];
        let launch = Launch { ranks: 4, command, variables: &variables, preload, others: Vec::new() };
        let outcome = family.run(&launch)?.success()?;
        let read: serde_json::Value = serde_json::from_slice(&std::fs::read(&trace)?)?;
        let calls = |rank: u64| {
            let all = read["traceEvents"].as_array().into_iter().flatten();
            let alltoall = all.filter(move |entry| entry["pid"] == rank && entry["name"] == "MPI_Alltoall");
            alltoall.filter_map(|call| Some((call["ts"].as_f64()?, call["dur"].as_f64()?))).collect::<Vec<_>>()
        };
        let of_ranks: Vec<_> = (0..4).map(calls).collect();
        let number = of_ranks[0].len();
        if number == 0 || of_ranks.iter().any(|calls| calls.len() != number) {
            return Err(format!("not the calls of all ranks\n{}", outcome.told()).into());
        }
        for call in 0..number {
            let last = of_ranks.iter().map(|calls| calls[call].0).fold(0.0, f64::max);
            let first_end = of_ranks.iter().map(|calls| calls[call].0 + calls[call].1).fold(f64::INFINITY, f64::min);
            // Microseconds. Half a ping-pong may be wrong, which is long where ranks share cores.
            if last > first_end + 200_000.0 {
                let told = outcome.told();
                return Err(
                    format!("{sync}: a rank left call {call} at {first_end}, one came at {last}\n{told}").into()
                );
            }
        }
        std::fs::remove_file(&trace)?;
    }
    Ok(())
}

/// Runs a program with its arguments on nodes that alternate, or as SEVERAL_NODES says; variables besides those for
/// pieces.
pub fn on_nodes(family: &Family, ranks: usize, program: &[&str], more: &[(&str, &str)]) -> Result<Report, Failed> {
    let path = report::fresh();
    let path_text = path.display().to_string();
    let mut variables = vec![("COLLIE_REPORT", path_text.as_str()), ("COLLIE_PIECE", "200"), ("COLLIE_LIMITS", "64")];
    variables.extend(more);
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
