//! Who is heard first, what happens when needs are not met, and that the default tables have an answer for every call.

use crate::algorithm::{Call, Operation};
use crate::selection::defaults::TABLES;
use crate::selection::{Configuration, Decided, RawConfiguration, Situation, Wanted, decide, decide_with, parse_rules};

const HERE: Situation = Situation { ranks: 8, one_node: true, oversubscribed: false };

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
fn told(configuration: &Configuration, count: usize, commutative: bool) -> String {
    match decide(configuration, &HERE, &call(Operation::Allreduce, count, commutative)) {
        Decided::Ours { choice, by } => format!("{} by {by}", choice.algorithm.name),
        Decided::Native { by } => format!("native by {by}"),
    }
}

#[test]
fn the_variable_goes_before_the_rules_and_these_before_the_tables() {
    let rules = "allreduce * 0-1K native\nallreduce * * ring\n";
    assert_eq!(told(&configuration(&[("COLLIE_ALLREDUCE", "ring")], rules), 100, true), "ring by COLLIE_ALLREDUCE");
    assert_eq!(told(&configuration(&[("COLLIE_ALLREDUCE", "auto")], rules), 100, true), "native by my.rules:1");
    assert_eq!(told(&configuration(&[], rules), 1000, true), "ring by my.rules:2");
    assert!(told(&configuration(&[], ""), 100, true).contains(" by default one_node:"));
    assert!(
        told(&configuration(&[], "allreduce * * auto\nallreduce * * ring"), 1, true).contains(" by default one_node:")
    );
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
fn native() {
    assert_eq!(told(&configuration(&[("COLLIE_ALLREDUCE", "native")], ""), 100, true), "native by COLLIE_ALLREDUCE");
    let mode = configuration(&[("COLLIE_MODE", "native"), ("COLLIE_ALLREDUCE", "ring")], "");
    assert_eq!(told(&mode, 100, true), "native by COLLIE_MODE=native");
}

#[test]
fn an_unmet_need_is_told() {
    let forced = configuration(&[("COLLIE_ALLREDUCE", "ring")], "");
    let words = told(&forced, 100, false);
    assert!(words.starts_with("recursive_doubling by default one_node:"), "{words}");
    let end = "(ring of COLLIE_ALLREDUCE does not keep rank order, which a non-commutative operation needs)";
    assert!(words.ends_with(end), "{words}");
    let ruled = configuration(&[], "allreduce * * ring");
    let words = told(&ruled, 100, false);
    assert!(words.contains("(ring of my.rules:1 does not keep rank order"), "{words}");
    let plain = told(&configuration(&[], ""), 100, false);
    assert!(!plain.contains('('), "a default row that gives way is as meant: {plain}");
}

#[test]
fn every_table_is_in_the_rules_format() {
    for (name, text) in TABLES {
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
                let situation = Situation { ranks, one_node, oversubscribed };
                for (count, commutative) in counts.iter().flat_map(|count| [(*count, true), (*count, false)]) {
                    let commutative = commutative || !operation.reduces();
                    let call = Call { root: ranks / 2, ..call(operation, count, commutative) };
                    match decide(&configuration, &situation, &call) {
                        Decided::Ours { choice, by } => {
                            choice.accepts(&call, ranks).unwrap();
                            assert_eq!(choice.algorithm.operation, operation);
                            assert!(!by.is_fallback());
                        }
                        Decided::Native { by } => panic!("{operation} among {ranks} of {count}: {by}"),
                    }
                }
            }
        }
    }
}
