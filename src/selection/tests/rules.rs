//! Our own rules format: what matches, what is refused and where, and that what is written is read back.

use crate::algorithm::{Call, Choice, Operation, SharedMemory, all};
use crate::selection::{
    BytesOf, Condition, Mpi, Purpose, Rule, Rules, Situation, Span, Wanted, never_used, parse_rules,
};
use proptest::prelude::*;

fn refused(text: &str) -> String {
    parse_rules("f", text).expect_err(text).to_string()
}

fn call(operation: Operation, count: usize) -> Call<'static> {
    Call::plain(operation, count, 1)
}

#[test]
fn first_match_wins_and_both_ends_count() {
    let text =
        "# comment\n\nallreduce 2-8 0-2K recursive_doubling # here\nallreduce * 2K-inf native\nallreduce 9 * auto\n";
    let rules = parse_rules("f", text).unwrap();
    let line = |ranks, bytes| {
        let situation = Situation::plain(ranks);
        rules.first(&situation, &call(Operation::Allreduce, bytes)).map(|rule| rule.line)
    };
    assert_eq!(line(2, 0), Some(3));
    assert_eq!(line(8, 2048), Some(3));
    assert_eq!(line(8, 2049), Some(4));
    assert_eq!(line(9, 2048), Some(4));
    assert_eq!(line(9, 2047), Some(5));
    assert_eq!(line(10, 2047), None);
}

#[test]
fn bytes_of_all_ranks_together() {
    let rules = parse_rules("f", "allgather * total=0-1K ring").unwrap();
    let matches = |ranks, bytes| {
        let situation = Situation::plain(ranks);
        rules.first(&situation, &call(Operation::Allgather, bytes)).is_some()
    };
    assert!(matches(4, 256));
    assert!(!matches(4, 257));
    assert!(matches(1, 1024));
    assert!(!matches(3, usize::MAX));
}

#[test]
fn conditions_hold_all_together() {
    let rules =
        parse_rules("f", "allreduce * * native if non_commutative and one_node and not_oversubscribed").unwrap();
    for bits in 0..8 {
        let (commutative, one_node, oversubscribed) = (bits & 1 == 0, bits & 2 == 0, bits & 4 == 0);
        let situation = Situation { one_node, oversubscribed, ..Situation::plain(4) };
        let call = Call { commutative, ..call(Operation::Allreduce, 8) };
        assert_eq!(rules.first(&situation, &call).is_some(), !commutative && one_node && !oversubscribed);
    }
}

#[test]
fn the_mpi_library_and_its_release() {
    let rules =
        parse_rules("f", "bcast * * native if mpi=openmpi and mpi_version=4.1-5\nbcast * * linear if mpi=mpich")
            .unwrap();
    let line = |text| {
        let situation = Situation { mpi: Mpi::of(text), ..Situation::plain(4) };
        rules.first(&situation, &call(Operation::Bcast, 8)).map(|rule| rule.line)
    };
    assert_eq!(line("Open MPI v4.1.4, package: x"), Some(1));
    assert_eq!(line("Open MPI v5.0.11"), Some(1));
    assert_eq!(line("Open MPI v4.0.3"), None);
    assert_eq!(line("MPICH Version:      4.1.2"), Some(2));
    assert_eq!(line("Intel(R) MPI Library 2021.18 for Linux* OS"), None);
}

#[test]
fn one_rank_per_node() {
    let rules = parse_rules("f", "bcast * * native if one_per_node").unwrap();
    let matches = |ranks, nodes: &[u32]| {
        let situation = Situation::plain(ranks).on(nodes);
        rules.first(&situation, &Call { nodes, ..call(Operation::Bcast, 8) }).is_some()
    };
    assert!(matches(1, &[]));
    assert!(matches(3, &[0, 1, 2]));
    assert!(!matches(3, &[]));
    assert!(!matches(3, &[0, 0, 1]));
    assert!(!matches(3, &[0, 1, 0]));
}

#[test]
fn powers_of_two_and_ranks_on_a_node() {
    let text = "bcast * * linear if ranks_per_node=2-3 and power_of_two\nbcast * * ring if ranks_per_node=3-inf\n\
                bcast * * binomial if not_power_of_two";
    let rules = parse_rules("f", text).unwrap();
    let line = |ranks, nodes: &[u32]| {
        let situation = Situation::plain(ranks).on(nodes);
        rules.first(&situation, &Call { nodes, ..call(Operation::Bcast, 8) }).map(|rule| rule.line)
    };
    assert_eq!(line(2, &[]), Some(1));
    assert_eq!(line(4, &[0, 0, 1, 1]), Some(1));
    assert_eq!(line(4, &[0, 1, 0, 0]), Some(1), "the fullest node counts");
    assert_eq!(line(4, &[]), Some(2), "all on one node");
    assert_eq!(line(6, &[0, 0, 0, 1, 1, 1]), Some(2));
    assert_eq!(line(3, &[0, 1, 1]), Some(3));
    assert_eq!(line(4, &[0, 1, 2, 3]), None);
}

#[test]
fn a_byte_order_mark_and_other_ends_of_lines_are_no_words() {
    for text in
        ["bcast 4 8 linear\r\nbcast 5 8 ring\r\n", "1\r\n7 1\r\n4 2\r\n0 1 0 0\r\n8 1 0 0", "{\"collectives\": {}}"]
    {
        let plain = parse_rules("f", text).unwrap();
        assert_eq!(parse_rules("f", &format!("\u{feff}{text}")).unwrap(), plain);
    }
}

#[test]
fn refusals_say_where_and_what() {
    let names = Operation::ALL.map(Operation::name).join(", ");
    let of_blocks = Operation::names("and", |operation| operation.has_blocks() && !operation.has_own_counts());
    let conditions = "commutative, non_commutative, reduce_local, no_reduce_local, one_node, several_nodes, one_per_node, \
                      power_of_two, not_power_of_two, oversubscribed, not_oversubscribed, shared_memory, no_shared_memory, in_pieces, ranks_per_node=RANKS, \
                      mpi=LIBRARY, mpi_version=VERSIONS";
    for (text, words) in [
        ("brodcast * * linear", format!("f:1:1: unknown operation 'brodcast'; accepted: {names}; did you mean 'bcast'?")),
        ("allreduec * * linear", format!("f:1:1: unknown operation 'allreduec'; accepted: {names}; did you mean 'allreduce'?")),
        ("\n  bcast 8", "f:2:10: the line ends early; missing: bytes, algorithm (operation, communicator size, bytes, algorithm)".to_owned()),
        ("bcast 2..8 * binomial", "f:1:7: '2..8' is not a range; accepted: *, a number, or a range such as 2-8 or 9-inf".to_owned()),
        ("bcast 99999999999999999999-inf * binomial", "f:1:7: '99999999999999999999-inf': numbers go up to 18446744073709551615; inf stands for no limit; accepted: *, a number, or a range such as 2-8 or 9-inf".to_owned()),
        ("bcast * 99999999999G binomial", "f:1:9: '99999999999G': numbers go up to 18446744073709551615; inf stands for no limit; accepted: *, bytes, or a range such as 0-2K or 2K-inf (K, M, G are powers of 1024)".to_owned()),
        ("bcast * * pipeline:segment=0", "f:1:11: '0' is not a value for segment of pipeline; accepted: bytes (K, M, G are powers of 1024), none, or auto".to_owned()),
        ("bcast * * pipeline:segment=atuo", "f:1:11: 'atuo' is not a value for segment of pipeline; accepted: bytes (K, M, G are powers of 1024), none, or auto; did you mean 'auto'?".to_owned()),
        ("MPI_Bcast * * linear", format!("f:1:1: unknown operation 'MPI_Bcast'; accepted: {names}; did you mean 'bcast'?")),
        ("bcast 2K * binomial", "f:1:7: '2K' is not a range; accepted: *, a number, or a range such as 2-8 or 9-inf".to_owned()),
        ("bcast 8-2 * binomial", "f:1:7: '8-2' is empty: its end is below its start".to_owned()),
        ("bcast *\t1KB binomial", "f:1:9: '1KB' is not a range; accepted: *, bytes, or a range such as 0-2K or 2K-inf (K, M, G are powers of 1024)".to_owned()),
        ("bcast * total=1-2 binomial", format!("f:1:9: total= is for {of_blocks} only; for other operations there is only one number of bytes")),
        ("alltoallv * 0-2K linear", "f:1:13: '0-2K' is not accepted: no rank knows the bytes of the others' alltoallv; accepted: *".to_owned()),
        ("alltoallv 4 total=1 linear", "f:1:13: 'total=1' is not accepted: no rank knows the bytes of the others' alltoallv; accepted: *".to_owned()),
        ("bcast * * binomial when one_node", "f:1:20: unexpected 'when'; accepted here: if, or the end of the line".to_owned()),
        ("bcast * * binomial if", format!("f:1:22: the line ends after 'if'; accepted: {conditions}")),
        ("bcast * * binomial if one_nod", format!("f:1:23: unknown condition 'one_nod'; accepted: {conditions}; did you mean 'one_node'?")),
        ("bcast * * binomial if one_node or commutative", "f:1:32: unexpected 'or'; accepted here: and, or the end of the line".to_owned()),
        ("bcast * * binomial if one_node and one_node", "f:1:36: 'one_node' is given twice".to_owned()),
        ("bcast * * binomial if one_node and several_nodes", "f:1:36: 'several_nodes' contradicts 'one_node'".to_owned()),
        ("bcast * * binomial if power_of_two and not_power_of_two", "f:1:40: 'not_power_of_two' contradicts 'power_of_two'".to_owned()),
        ("bcast * * binomial if ranks_per_node=4 and ranks_per_node=5-inf", "f:1:44: 'ranks_per_node=5-inf' contradicts 'ranks_per_node=4'".to_owned()),
        ("bcast * * binomial if one_per_node and ranks_per_node=2-8", "f:1:40: 'ranks_per_node=2-8' contradicts 'one_per_node'".to_owned()),
        ("bcast * * binomial if ranks_per_node=two", "f:1:23: 'two' is not a range; accepted: *, a number, or a range such as 2-8 or 9-inf".to_owned()),
        ("bcast * * binomial if mpi=openmp", "f:1:23: 'openmp' is not an MPI library; accepted: openmpi, mpich, intel, cray, mvapich; did you mean 'openmpi'?".to_owned()),
        ("bcast * * binomial if mpi=mpich and mpi=intel", "f:1:37: 'mpi=intel' contradicts 'mpi=mpich'".to_owned()),
        ("bcast * * binomial if mpi=mpich and mpi_version=4 and mpi_version=5", "f:1:55: 'mpi_version=5' contradicts 'mpi_version=4'".to_owned()),
        ("bcast * * binomial if mpi=mpich and mpi_version=new", "f:1:37: 'new' is not a range of versions; accepted: a version such as 4.1, or a range such as 4.1-5 or 5-inf".to_owned()),
        ("bcast * * binomial if mpi_version=4", "f:1:20: mpi_version= needs mpi= beside it: libraries number their releases differently".to_owned()),
        ("bcast * * binomial if non_commutative", "f:1:23: 'non_commutative' never holds for bcast, which reduces nothing".to_owned()),
    ] {
        assert_eq!(refused(text), words);
    }
}

#[test]
fn columns_count_characters() {
    let words = refused("bcäst * * x y");
    assert!(words.starts_with("f:1:1: unknown operation 'bcäst'"), "{words}");
    assert!(words.contains("f:1:13: unexpected 'y'"), "{words}");
}

fn span() -> impl Strategy<Value = Span> {
    let number = || prop_oneof![0..70usize, (0..22u32).prop_map(|shift| 1 << shift), Just(usize::MAX)];
    (number(), number()).prop_filter_map("a number alone is not without end", |(one, two)| {
        let span = Span { least: one.min(two), most: one.max(two) };
        (span.least != usize::MAX).then_some(span)
    })
}

fn rule() -> impl Strategy<Value = Rule> {
    let algorithms: Vec<_> = all().collect();
    let wanted = prop_oneof![
        (0..Operation::ALL.len()).prop_map(|place| (Operation::ALL[place], Wanted::Auto)),
        (0..Operation::ALL.len()).prop_map(|place| (Operation::ALL[place], Wanted::Native)),
        proptest::sample::select(algorithms).prop_map(|row| (row.operation, Wanted::Algorithm(Choice::new(row)))),
    ];
    let mut conditions = Condition::WORDS.to_vec();
    let named = [
        "ranks_per_node=1",
        "ranks_per_node=2-8",
        "ranks_per_node=5-inf",
        "mpi=openmpi",
        "mpi=intel",
        "mpi_version=4.1",
        "mpi_version=4-5.0.7",
        "mpi_version=2021.18-inf",
    ];
    conditions.extend(named.map(|text| Condition::parse(text).unwrap()));
    let conditions = proptest::sample::subsequence(conditions.clone(), 0..=conditions.len());
    (wanted, span(), span(), any::<bool>(), conditions).prop_map(|((operation, wanted), ranks, bytes, total, drawn)| {
        let mut conditions = Vec::<Condition>::new();
        for condition in drawn {
            let fits = !condition.is_of_reductions() || operation.reduces();
            if fits && !conditions.iter().any(|other| condition.contradicts(*other)) {
                conditions.push(condition);
            }
        }
        let has_mpi = conditions.iter().any(|known| matches!(known, Condition::Mpi(_)));
        conditions.retain(|known| has_mpi || !matches!(known, Condition::MpiVersion(_)));
        let (bytes, total) = if operation.has_own_counts() { (Span::ALL, false) } else { (bytes, total) };
        let bytes_of = if total && operation.has_blocks() { BytesOf::All } else { BytesOf::Rank };
        Rule { operation, ranks, bytes, bytes_of, wanted, conditions, line: 0 }
    })
}

/// A line about the communicators that it is for.
fn about_communicators() -> impl Strategy<Value = String> {
    let ranks = proptest::sample::select(vec!["*", "2", "4", "2-4", "3-5", "5-9", "6-inf"]);
    let bytes = proptest::sample::select(vec!["*", "0-8"]);
    let words = ["one_node", "several_nodes", "one_per_node", "power_of_two", "not_power_of_two", "shared_memory"];
    let named = ["ranks_per_node=1", "ranks_per_node=2-3", "ranks_per_node=3-5", "ranks_per_node=4-inf"];
    let conditions = [&words[..], &named].concat();
    let conditions = proptest::sample::subsequence(conditions, 0..=3);
    (ranks, bytes, conditions).prop_map(|(ranks, bytes, conditions)| {
        let conditions = conditions.join(" and ");
        format!("bcast {ranks} {bytes} linear{}{conditions}\n", if conditions.is_empty() { "" } else { " if " })
    })
}

/// Whether any call gets the rule of a line, among up to 17 ranks wherever these lie: 16 is a power of two beyond where
/// any line ends.
fn is_reached(rules: &Rules, line: u32) -> bool {
    (2..=17usize).any(|ranks| {
        (1..=ranks).any(|on_node| {
            // The first node has that many, each other one.
            let nodes: Vec<_> = (0..ranks).map(|rank| (rank + 1).saturating_sub(on_node) as u32).collect();
            let nodes = if on_node == ranks { &[][..] } else { &nodes };
            let situation = Situation::plain(ranks).on(nodes);
            [None, Some(SharedMemory::PLAIN)].into_iter().filter(|shared| shared.is_none() || nodes.is_empty()).any(
                |shared| {
                    [8, 9].into_iter().any(|bytes| {
                        let call = Call { nodes, shared, ..call(Operation::Bcast, bytes) };
                        rules.first(&situation, &call).is_some_and(|rule| rule.line == line)
                    })
                },
            )
        })
    })
}

proptest! {
    #[test]
    fn no_call_gets_what_never_matches(lines in proptest::collection::vec(about_communicators(), 1..6)) {
        // Contradictions are errors.
        let good: String = lines.into_iter().filter(|line| parse_rules("f", line).is_ok()).collect();
        let rules = parse_rules("f", &good).unwrap();
        let never: Vec<u32> = never_used(&rules, Purpose::Rules).into_iter().map(|(line, _)| line).collect();
        for rule in rules.iter() {
            prop_assert_eq!(is_reached(&rules, rule.line), !never.contains(&rule.line), "line {} of\n{}", rule.line, good);
        }
    }

    #[test]
    fn what_is_written_is_read_back(rules in proptest::collection::vec(rule(), 0..20)) {
        let rules = Rules::new("f", rules);
        let text = rules.to_string();
        let read = parse_rules("f", &text).map_err(|errors| TestCaseError::fail(errors.to_string()))?;
        prop_assert_eq!(rules.iter().count(), read.iter().count());
        for (written, read) in rules.iter().zip(read.iter()) {
            prop_assert_eq!(Rule { line: read.line, ..written.clone() }, read.clone());
        }
        prop_assert_eq!(text, read.to_string());
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC{0,80}(\n\\PC{0,80}){0,3}") {
        let _ = parse_rules("f", &text);
    }
}
