//! `COLLIE_NETWORK=measure`: links measured in MPI_Init, the same for all ranks, and said in the report.

use crate::mpi::{Family, Launch};
use crate::programs::accounted;
use crate::report::{self, Report};
use libtest_mimic::{Failed, Trial};
use serde_json::Value;

const MEASURE: (&str, &str) = ("COLLIE_NETWORK", "measure");
/// Where the segments rest on what was measured.
const SEGMENTS: [(&str, &str); 3] =
    [MEASURE, ("COLLIE_BCAST", "binomial:segment=auto"), ("COLLIE_REDUCE", "chain:segment=auto")];

pub fn trials(family: &'static Family) -> Vec<Trial> {
    let name = |what: &str| format!("{}::network::{what}", family.name);
    let mut trials: Vec<_> = [2, 4]
        .into_iter()
        .map(|ranks| Trial::test(name(&format!("measured::ranks_{ranks}")), move || measured(family, ranks)))
        .collect();
    trials.extend([
        Trial::test(name("of_threads"), move || of_threads(family)),
        Trial::test(name("of_nodes"), move || of_nodes(family)),
        Trial::test(name("not_measured"), move || not_measured(family)),
        Trial::test(name("refused"), move || refused(family)),
    ]);
    trials
}

/// A link that somebody has measured with that rank: slower than light, and faster than a modem, on a machine that
/// others load.
fn is_link(found: &Value, rank: usize) -> bool {
    let within = |name: &str, [least, most]: [f64; 2]| match &found[name] {
        // Where others load the machine, time may be too short.
        Value::Null => true,
        value => value.as_f64().is_some_and(|seconds| (least..most).contains(&seconds)),
    };
    found["rank"] == rank
        && within("start_up_seconds", [1e-8, 1e-2])
        && within("seconds_per_byte", [1e-13, 1e-5])
        && found["start_up_seconds"].is_null() == found["seconds_per_byte"].is_null()
}

/// What was measured, with those ranks of the first node and of another.
fn links(report: &Report, peers: [Option<usize>; 2]) -> Result<(), Failed> {
    let network = &report.whole["network"];
    let fits = ["within_node", "between_nodes"].into_iter().zip(peers).all(|(place, peer)| match peer {
        Some(rank) => is_link(&network[place], rank),
        None => network[place].is_null(),
    });
    // Nothing is begun after 50 ms; what was begun then may have to wait for a core.
    let took = network["measured_seconds"].as_f64().unwrap_or(f64::NAN);
    if fits && took > 0.0 && took < 2.0 { Ok(()) } else { Err(format!("with {peers:?}: {network:#}").into()) }
}

fn measured(family: &Family, ranks: usize) -> Result<(), Failed> {
    for mode in ["replace", "best", "learn", "verify"] {
        let mut variables = SEGMENTS.to_vec();
        variables.push(("COLLIE_MODE", mode));
        let (_, report) = accounted(family, "rounds.c", &[], ranks, &variables)?;
        links(&report, [Some(1), None])?;
    }
    Ok(())
}

/// The same where MPI is started by MPI_Init_thread.
fn of_threads(family: &Family) -> Result<(), Failed> {
    let (outcome, report) = accounted(family, "pitfall_12_threads.c", &[], 3, &SEGMENTS)?;
    if outcome.stdout.contains("check: this MPI has no MPI_THREAD_MULTIPLE") {
        return Ok(());
    }
    links(&report, [Some(1), None])
}

/// Of ranks 0 to 3, 0 and 3 are on the first of three nodes.
fn of_nodes(family: &Family) -> Result<(), Failed> {
    for (ranks, peers) in [(4, [Some(3), Some(1)]), (3, [None, Some(1)])] {
        let path = report::fresh();
        let path_text = path.display().to_string();
        let mut variables = vec![("COLLIE_REPORT", path_text.as_str())];
        variables.extend(SEGMENTS);
        let mut preload = family.preload()?;
        preload.push(family.compiled("several_nodes.c", &["-shared", "-fPIC", "-ldl"])?);
        let command = vec![family.program("rounds.c")?.display().to_string()];
        let launch = Launch { ranks, command, variables: &variables, preload, others: Vec::new() };
        let outcome = family.run(&launch)?.success()?;
        let report = Report::read(&path, &outcome)?;
        report.accounts_for(&outcome)?;
        links(&report, peers)?;
        limits(&report, peers[0])?;
    }
    Ok(())
}

/// Limits within a node are measured with a rank of rank 0's, if it has one and there is time.
fn limits(report: &Report, near: Option<usize>) -> Result<(), Failed> {
    let limits = &report.whole["protocol_limits"];
    let fits = limits["measured_seconds"].is_null() || limits["measured_with"].as_u64() == near.map(|rank| rank as u64);
    if fits { Ok(()) } else { Err(format!("with {near:?}: {limits:#}").into()) }
}

/// Nothing, and no word of it, where there is one rank, where nobody would use it, and where nobody asks.
fn not_measured(family: &Family) -> Result<(), Failed> {
    let native = [MEASURE, ("COLLIE_MODE", "native")];
    for (ranks, variables) in [(1, &SEGMENTS[..]), (2, &native[..]), (2, &SEGMENTS[1..])] {
        let (outcome, report) = accounted(family, "rounds.c", &[], ranks, variables)?;
        if !report.whole["network"].is_null() {
            return Err(format!("{variables:?}: {:#}\n{}", report.whole["network"], outcome.told()).into());
        }
    }
    Ok(())
}

/// With results that are to be the same from run to run.
fn refused(family: &Family) -> Result<(), Failed> {
    let variables = [MEASURE, ("COLLIE_REPRODUCIBLE", "on"), ("COLLIE_REPORT", "off")];
    let command = vec![family.program("rounds.c")?.display().to_string()];
    let launch = Launch { ranks: 2, command, variables: &variables, preload: family.preload()?, others: Vec::new() };
    let outcome = family.run(&launch)?;
    let told = outcome.stderr.contains("COLLIE_NETWORK: with measure, algorithms and segments depend on times");
    if told && outcome.status != Some(0) { Ok(()) } else { Err(outcome.told().into()) }
}
