//! Who is heard first, what happens when needs are not met, and that the default tables have an answer for every call.

use crate::algorithm::{Call, Operation, SharedMemory};
use crate::schedule::limits::{Limit, ProtocolLimits, Way};
use crate::selection::defaults::{BEST, TABLES};
use crate::selection::{
    Configuration, Decided, Mpi, RawConfiguration, Situation, Wanted, decide, decide_with, parse_rules,
};

const HERE: Situation = Situation::plain(8);

fn configuration(variables: &[(&str, &str)], rules: &str) -> Configuration {
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let mut configuration = RawConfiguration::new(variables).parse().unwrap();
    configuration.rules = parse_rules("my.rules", rules).unwrap();
    configuration
}

fn call(operation: Operation, count: usize, commutative: bool) -> Call<'static> {
    Call { commutative, ..Call::plain(operation, count, 8) }
}

/// What an allreduce of `count` doubles gets, and why.
fn decision(configuration: &Configuration, count: usize, commutative: bool) -> String {
    match decide(configuration, &HERE, &call(Operation::Allreduce, count, commutative)) {
        Decided::Ours { choice, by } => format!("{} by {by}", choice.algorithm.name),
        Decided::Native { by } => format!("native by {by}"),
    }
}

#[test]
fn the_variable_goes_before_the_rules_and_these_before_the_tables() {
    let rules = "allreduce * 0-1K native\nallreduce * * ring\n";
    assert_eq!(decision(&configuration(&[("COLLIE_ALLREDUCE", "ring")], rules), 100, true), "ring by COLLIE_ALLREDUCE");
    assert_eq!(decision(&configuration(&[("COLLIE_ALLREDUCE", "auto")], rules), 100, true), "native by my.rules:1");
    assert_eq!(decision(&configuration(&[], rules), 1000, true), "ring by my.rules:2");
    assert!(decision(&configuration(&[], ""), 100, true).contains(" by default one_node:"));
    assert!(
        decision(&configuration(&[], "allreduce * * auto\nallreduce * * ring"), 1, true)
            .contains(" by default one_node:")
    );
}

#[test]
fn best_takes_what_was_measured_in_shared_memory() {
    let decision = |library: &str, ranks, operation, bytes: usize, shared| {
        let situation = Situation { ranks, mpi: Mpi::of(library), ..HERE };
        let call = Call { shared, ..Call::plain(operation, bytes, 8) };
        match decide(&configuration(&[("COLLIE_MODE", "best")], ""), &situation, &call) {
            Decided::Ours { choice, by } => format!("{} by {by}", choice.algorithm.name),
            Decided::Native { by } => format!("native by {by}"),
        }
    };
    let (open_mpi, intel) = ("Open MPI v4.1.4", "Intel(R) MPI Library 2021.18.1 for Linux* OS");
    let shared = Some(SharedMemory::PLAIN);
    let short = |ranks, shared| decision(open_mpi, ranks, Operation::Allreduce, 1, shared);
    assert!(short(8, shared).starts_with("shared_slices by default shared_memory:"), "{}", short(8, shared));
    assert!(short(2, None).starts_with("native by best one_node:"), "{}", short(2, None));
    assert!(short(17, shared).starts_with("native by best: not measured"), "{}", short(17, shared));
    let long = decision(intel, 8, Operation::Reduce, 1 << 18, shared);
    assert!(long.starts_with("native by best shared_memory:"), "{long}");
    let other = decision(open_mpi, 8, Operation::Alltoall, 1 << 10, shared);
    assert!(other.contains(" by default one_node:"), "{other}");
}

#[test]
fn where_ranks_share_memory_its_table_comes_first_and_otherwise_what_needs_it_gives_way() {
    let decision = |variables: &[(&str, &str)], operation, shared| {
        let call = Call { shared, ..call(operation, 8, true) };
        match decide(&configuration(variables, ""), &HERE, &call) {
            Decided::Ours { choice, by } => format!("{} by {by}", choice.algorithm.name),
            Decided::Native { by } => format!("native by {by}"),
        }
    };
    let shared = Some(SharedMemory::PLAIN);
    assert!(decision(&[], Operation::Allreduce, shared).starts_with("recursive_doubling by default shared_memory:"));
    assert!(decision(&[], Operation::Alltoall, shared).contains(" by default one_node:"));
    // Nobody has measured an MPI library that is not known.
    assert!(!decision(&[("COLLIE_MODE", "best")], Operation::Allreduce, shared).contains("shared"));
    assert_eq!(decision(&[("COLLIE_BARRIER", "mcs")], Operation::Barrier, shared), "mcs by COLLIE_BARRIER");
    let nodes = [0, 0, 0, 1, 1, 1];
    let inside = |operation, shared| {
        let there = Situation { ranks: 6, one_node: false, ..HERE };
        let call = Call { shared, nodes: &nodes, ..Call::plain(operation, 1024, 8) };
        match decide(&configuration(&[], ""), &there, &call) {
            Decided::Ours { choice, by } => format!("{choice} by {by}"),
            Decided::Native { by } => format!("native by {by}"),
        }
    };
    let (with, without) = (inside(Operation::Allreduce, shared), inside(Operation::Allreduce, None));
    assert!(with.starts_with("hierarchical:node=shared_slices,"), "{with}");
    assert!(with.contains(" by default shared_memory_inside:"), "{with}");
    assert!(without.contains(" by default across_nodes:") && !without.contains("shared"), "{without}");
    assert!(inside(Operation::Alltoall, shared).contains(" by default across_nodes:"));
    let refused = decision(&[("COLLIE_BARRIER", "mcs")], Operation::Barrier, None);
    let why = "(mcs of COLLIE_BARRIER needs memory that all ranks share, which there is on one node with \
               COLLIE_TRANSPORT=shared)";
    assert!(refused.contains(" by default one_node:") && refused.ends_with(why), "{refused}");
}

#[test]
fn the_program_goes_before_the_variables_but_not_before_needs() {
    let configuration = configuration(&[("COLLIE_ALLGATHER", "ring")], "");
    let with = |program: &str, ranks| {
        let program = Wanted::parse(Operation::Allgather, program).unwrap();
        let situation = Situation { ranks, ..HERE };
        match decide_with(Some(&program), &configuration, &situation, &call(Operation::Allgather, 8, true)) {
            Decided::Ours { choice, by } => format!("{} by {by}", choice.algorithm.name),
            Decided::Native { by } => format!("native by {by}"),
        }
    };
    assert_eq!(with("recursive_doubling", 8), "recursive_doubling by program");
    assert_eq!(with("native", 8), "native by program");
    assert_eq!(with("auto", 8), "ring by COLLIE_ALLGATHER");
    let words = with("recursive_doubling", 7);
    let end = "(recursive_doubling of program needs a power-of-two number of ranks, not 7)";
    assert!(words.contains(" by default one_node:") && words.ends_with(end), "{words}");
}

#[test]
fn the_users_tables_go_before_the_own_ones_and_rows_that_may_not_be_used_give_way() {
    let mut configuration = configuration(&[], "allreduce * 0-7 native");
    configuration.tables =
        parse_rules("my.tables", "allreduce 7 * ring\nallreduce * 8-1K ring\nallreduce * 8-1K linear").unwrap();
    assert_eq!(decision(&configuration, 0, true), "native by my.rules:1");
    assert_eq!(decision(&configuration, 100, true), "ring by table my.tables:2");
    assert!(decision(&configuration, 1000, true).contains(" by default one_node:"));
    let words = decision(&configuration, 100, false);
    assert!(!words.starts_with("ring") && !words.contains('('), "the next row is as meant: {words}");
    let best = Configuration { mode: crate::selection::Mode::Best, ..configuration };
    assert_eq!(decision(&best, 100, true), "ring by table my.tables:2");
}

#[test]
fn native() {
    assert_eq!(
        decision(&configuration(&[("COLLIE_ALLREDUCE", "native")], ""), 100, true),
        "native by COLLIE_ALLREDUCE"
    );
    let mode = configuration(&[("COLLIE_MODE", "native"), ("COLLIE_ALLREDUCE", "ring")], "");
    assert_eq!(decision(&mode, 100, true), "native by COLLIE_MODE=native");
}

#[test]
fn an_unmet_need_is_told() {
    let forced = configuration(&[("COLLIE_ALLREDUCE", "ring")], "");
    let words = decision(&forced, 100, false);
    assert!(words.starts_with("recursive_doubling by default one_node:"), "{words}");
    let end = "(ring of COLLIE_ALLREDUCE does not keep rank order, which a non-commutative operation needs)";
    assert!(words.ends_with(end), "{words}");
    let ruled = configuration(&[], "allreduce * * ring");
    let words = decision(&ruled, 100, false);
    assert!(words.contains("(ring of my.rules:1 does not keep rank order"), "{words}");
    let plain = decision(&configuration(&[], ""), 100, false);
    assert!(!plain.contains('('), "a default row that gives way is as meant: {plain}");
}

#[test]
fn every_table_is_in_the_rules_format() {
    for (name, text) in TABLES.into_iter().chain(BEST) {
        parse_rules(name, text).unwrap();
    }
}

#[test]
fn every_call_gets_an_algorithm_whose_needs_are_met() {
    let configuration = configuration(&[], "");
    let counts = [1, 2, 3, 7, 64, 1 << 7, 1 << 10, 1 << 13, 1 << 15, 1 << 17, 1 << 20, 1 << 24];
    for operation in Operation::ALL {
        for ranks in 1..=64 {
            for (one_node, oversubscribed) in [(true, false), (true, true), (false, false), (false, true)] {
                let situation = Situation { one_node, oversubscribed, ..Situation::plain(ranks) };
                for (count, commutative) in counts.iter().flat_map(|count| [(*count, true), (*count, false)]) {
                    let commutative = commutative || !operation.reduces();
                    let call = Call { root: ranks / 2, ..call(operation, count, commutative) };
                    match decide(&configuration, &situation, &call) {
                        Decided::Ours { choice, by } => {
                            choice.accepts(&call, ranks).unwrap();
                            assert_eq!(choice.algorithm.operation, operation);
                            assert_eq!(by.refused, None);
                        }
                        Decided::Native { by } => panic!("{operation} among {ranks} of {count}: {by}"),
                    }
                }
            }
        }
    }
}

/// What an operation of `bytes` bytes among `ranks` ranks of a node gets in mode `best`.
fn best(rules: &str, mpi: &str, operation: Operation, ranks: usize, bytes: usize) -> String {
    let configuration = configuration(&[("COLLIE_MODE", "best")], rules);
    let situation = Situation { ranks, mpi: Mpi::of(mpi), ..HERE };
    match decide(&configuration, &situation, &Call::plain(operation, bytes / 8, 8)) {
        Decided::Ours { choice, by } => format!("{} by {by}", choice.algorithm.name),
        Decided::Native { by } => format!("native by {by}"),
    }
}

#[test]
fn best_takes_what_was_measured_and_leaves_the_rest() {
    for (mpi, operation, bytes, native) in [
        ("Open MPI v4.1.4", Operation::Reduce, 64 << 10, false),
        ("Open MPI v4.1.4", Operation::Bcast, 8, true),
        ("MPICH Version: 4.0.2", Operation::Reduce, 64 << 10, false),
        ("MPICH Version: 4.0.2", Operation::Bcast, 8, false),
    ] {
        let told = best("", mpi, operation, 2, bytes);
        assert!(told.contains(" by best one_node:") && told.starts_with("native") == native, "{mpi}: {told}");
    }
    // Another number of ranks, another release, an unknown library.
    for (mpi, operation, ranks) in [
        ("Open MPI v4.1.4", Operation::Reduce, 3),
        ("Open MPI v4.1.4", Operation::Alltoall, 3),
        ("Open MPI v6.0.0", Operation::Reduce, 2),
        ("An MPI 1.0", Operation::Reduce, 2),
    ] {
        assert_eq!(best("", mpi, operation, ranks, 64 << 10), "native by best: not measured");
    }
}

#[test]
fn best_sends_in_pieces_what_was_measured_whole() {
    let configuration = configuration(&[("COLLIE_MODE", "best")], "");
    let decision = |limits: ProtocolLimits, bytes| {
        let situation = Situation { ranks: 2, mpi: Mpi::of("Open MPI v4.1.4"), limits, ..HERE };
        match decide(&configuration, &situation, &Call::plain(Operation::Gather, bytes, 1)) {
            Decided::Ours { choice, .. } => choice.algorithm.name,
            Decided::Native { .. } => "native",
        }
    };
    let limits = ProtocolLimits::of(["4040x8".parse::<Limit>().unwrap()]).unwrap();
    assert_eq!([300, 16 << 10, 64 << 10].map(|bytes| decision(limits, bytes)), ["native", "binomial", "native"]);
    assert_eq!(decision(ProtocolLimits::of([256]).unwrap(), 300), "binomial");
    let exchanges = ProtocolLimits::of([Limit::of_two(8192, Way::Exchange)]).unwrap();
    assert_eq!(
        [exchanges, ProtocolLimits::NONE].map(|limits| decision(limits, 16 << 10)),
        ["native"; 2],
        "a gather has a root"
    );
}

#[test]
fn what_a_run_measures_decides_no_reproducible_reduction() {
    let decided = |variables: &[(&str, &str)], operation, limits| {
        let configuration = configuration(&[&[("COLLIE_MODE", "best")], variables].concat(), "");
        let limits_vary = configuration.limits_vary();
        let situation = Situation { ranks: 2, mpi: Mpi::of("Open MPI v4.1.4"), limits, limits_vary, ..HERE };
        match decide(&configuration, &situation, &Call::plain(operation, 64, 8)) {
            Decided::Ours { choice, .. } => choice.algorithm.name,
            Decided::Native { .. } => "native",
        }
    };
    let both = |variables: &[(&str, &str)], operation| {
        [ProtocolLimits::of([256]).unwrap(), ProtocolLimits::NONE].map(|limits| decided(variables, operation, limits))
    };
    let reproducible = ("COLLIE_REPRODUCIBLE", "on");
    assert_eq!(both(&[], Operation::Allreduce), ["recursive_doubling", "native"]);
    assert_eq!(both(&[reproducible], Operation::Allreduce), ["native"; 2]);
    assert_eq!(both(&[reproducible], Operation::Gather), both(&[], Operation::Gather), "it reduces nothing");
    assert_eq!(both(&[reproducible, ("COLLIE_LIMITS", "256")], Operation::Allreduce), ["recursive_doubling", "native"]);
}

#[test]
fn rules_go_before_the_tables_of_best() {
    let rules = "reduce * 0-1K native\nreduce * 1K-2K auto\nreduce 3 * binomial\nallgather * * recursive_doubling";
    let decision = |operation, ranks, bytes| best(rules, "Open MPI v4.1.4", operation, ranks, bytes);
    assert_eq!(decision(Operation::Reduce, 3, 64), "native by my.rules:1");
    assert_eq!(decision(Operation::Reduce, 3, 2048), "native by best: not measured");
    assert_eq!(decision(Operation::Reduce, 3, 64 << 10), "binomial by my.rules:3");
    let refused = decision(Operation::Allgather, 3, 64);
    assert!(refused.starts_with("native by best: not measured (recursive_doubling of my.rules:4 needs"), "{refused}");
}
