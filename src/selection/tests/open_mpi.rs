//! Open MPI's rules files: which rule a call finds, as Open MPI would, and what is refused and where.

use crate::algorithm::{Call, Operation};
use crate::selection::{Format, Purpose, Rules, Situation, for_open_mpi, never_used, parse_rules};
use proptest::prelude::*;

fn read(text: &str) -> Rules {
    parse_rules("f", text).unwrap_or_else(|errors| panic!("{errors}"))
}

fn refused(text: &str) -> String {
    parse_rules("f", text).expect_err(text).to_string()
}

/// What the rules ask for; empty if none speaks about the call.
fn asked(rules: &Rules, operation: Operation, ranks: usize, bytes: usize) -> String {
    let situation = Situation::plain(ranks);
    let call = Call::plain(operation, bytes, 1);
    rules.first(&situation, &call).map_or_else(String::new, |rule| rule.wanted.to_string())
}

const CLASSIC: &str = "\
2            # collectives
2            # allreduce
3            # communicator sizes
4 2          # from 4 ranks on (and below)
0 3 0 0
1024 5 0 8192
8 1
0 6 0 0
16 0
0            # allgather
1
64 3
0 1 0 0
1000 2 0 0   # bytes of all ranks together
8000 4 0 0
";

#[test]
fn classic_blocks_hold_up_to_the_next() {
    let rules = read(CLASSIC);
    let allreduce = |ranks, bytes| asked(&rules, Operation::Allreduce, ranks, bytes);
    for ranks in [1, 3, 4, 7] {
        assert_eq!(allreduce(ranks, 1023), "recursive_doubling");
        assert_eq!(allreduce(ranks, 1024), "segmented_ring:segment=8K");
    }
    for ranks in [8, 15] {
        assert_eq!(allreduce(ranks, 1 << 30), "rabenseifner");
    }
    assert_eq!(allreduce(16, 8), "auto", "an empty block leaves it to the tables");
    assert_eq!(asked(&rules, Operation::Bcast, 4, 8), "");
}

#[test]
fn classic_sizes_of_allgather_are_those_of_all_ranks() {
    let rules = read(CLASSIC);
    let allgather = |ranks, bytes| asked(&rules, Operation::Allgather, ranks, bytes);
    assert!(allgather(4, 249).starts_with("linear"));
    assert_eq!(allgather(4, 250), "bruck");
    assert_eq!(allgather(100, 9), "linear:gather=linear,bcast=binomial(segment=none)");
    assert_eq!(allgather(100, 10), "bruck");
    assert_eq!(allgather(2, 4000), "ring");
    assert_eq!(allgather(2, 3999), "bruck");
}

/// Open MPI 4.1's search, written as it does it: the last block, and in it the last rule, before the first too large.
fn found_by_open_mpi(blocks: &[(usize, Vec<(usize, usize)>)], ranks: usize, bytes: usize) -> usize {
    let reached = 1 + blocks.iter().skip(1).take_while(|(size, _)| *size <= ranks).count();
    let reached = if blocks[0].0 > ranks { 1 } else { reached };
    let rules = &blocks[reached - 1].1;
    let rules_reached = rules.iter().take_while(|(size, _)| *size <= bytes).count();
    rules_reached.checked_sub(1).map_or(0, |place| rules[place].1)
}

proptest! {
    #[test]
    fn classic_search_finds_what_open_mpi_finds(
        sizes in proptest::collection::vec((0..20usize, proptest::collection::vec((0..50usize, 0..7usize), 0..5)), 1..5),
        ranks in 1..24usize,
        bytes in 0..60usize,
    ) {
        let names = ["auto", "linear", "reduce_bcast", "recursive_doubling", "ring", "segmented_ring", "rabenseifner"];
        let mut blocks = sizes;
        for (_, rules) in &mut blocks {
            if let Some(first) = rules.first_mut() {
                first.0 = 0;
            }
        }
        let mut text = format!("1 2 {}\n", blocks.len());
        for (size, rules) in &blocks {
            text.push_str(&format!("{size} {}\n", rules.len()));
            for (bytes, algorithm) in rules {
                text.push_str(&format!("{bytes} {algorithm} 0 0\n"));
            }
        }
        let rules = parse_rules("f", &text).map_err(|errors| TestCaseError::fail(errors.to_string()))?;
        let found = asked(&rules, Operation::Allreduce, ranks, bytes);
        let expected = names[found_by_open_mpi(&blocks, ranks, bytes)];
        prop_assert_eq!(found.split(':').next().unwrap(), expected, "{}", text);
    }

    #[test]
    fn no_text_makes_the_readers_panic(text in "[0-9a-fx# \n-]{0,80}", json in "[\\[\\]{}:,\"a-z_0-9 \n]{0,80}") {
        let _ = parse_rules("f", &text);
        let _ = parse_rules("f", &format!("{{{json}"));
    }
}

/// Rules of ours that can be said in both formats: overlapping, so that it matters which is first.
fn exportable() -> impl Strategy<Value = String> {
    let choices = proptest::sample::select(vec![
        ("allreduce", "", "ring"),
        ("allreduce", "", "segmented_ring:segment=4K"),
        ("allreduce", "", "native"),
        ("bcast", "", "chain:chains=3,segment=none"),
        ("bcast", "", "knomial:radix=4,segment=8K"),
        ("bcast", "", "auto"),
        ("reduce", "", "binomial:segment=1K,max_requests=3"),
        ("reduce", "", "linear"),
        ("allgather", "total=", "k_bruck:radix=4"),
        ("allgather", "total=", "bruck"),
    ]);
    let span = |most: usize| {
        prop_oneof![
            Just("*".to_owned()),
            (0..most, 0..most).prop_map(|(one, two)| format!("{}-{}", one.min(two), one.max(two)))
        ]
    };
    let rule = (choices, span(12), span(40)).prop_map(|((operation, total, choice), ranks, bytes)| {
        format!("{operation} {ranks} {total}{bytes} {choice}\n")
    });
    proptest::collection::vec(rule, 0..8).prop_map(|rules| rules.concat())
}

proptest! {
    #[test]
    fn exported_rules_mean_the_same(text in exportable(), ranks in 1..15usize, bytes in 0..50usize) {
        let rules = parse_rules("f", &text).map_err(|errors| TestCaseError::fail(errors.to_string()))?;
        for format in [Format::Classic, Format::Json] {
            let exported = for_open_mpi(&rules, format).map_err(|errors| TestCaseError::fail(errors.to_string()))?;
            let read = parse_rules("g", &exported).map_err(|errors| TestCaseError::fail(errors.to_string()))?;
            for operation in Operation::ALL {
                let meaning = |rules: &Rules| match asked(rules, operation, ranks, bytes) {
                    left if ["", "native", "auto"].contains(&left.as_str()) => "Open MPI's own".to_owned(),
                    algorithm => algorithm,
                };
                prop_assert_eq!(meaning(&rules), meaning(&read), "{} {}\n{}", operation, text, exported);
            }
        }
    }
}

#[test]
fn what_cannot_be_exported_is_told() {
    let text =
        "reduce * * linear if non_commutative\ngather 2-4 0-1K linear\nbcast * * fibonacci\ngather 4 0-1K linear\n";
    let rules = read(text);
    let words = for_open_mpi(&rules, Format::Json).unwrap_err().to_string();
    let lines: Vec<_> = words.lines().collect();
    assert_eq!(
        lines[0],
        "f:1:1: Open MPI's JSON format cannot express 'non_commutative'; accepted there: one_node or one_per_node, one of them per \
         rule; power_of_two, not_power_of_two and mpi="
    );
    assert_eq!(
        lines[1],
        "f:2:1: Open MPI counts the bytes of all ranks together for gather: write total=, or one communicator size"
    );
    assert!(lines[2].starts_with("f:3:1: Open MPI has no bcast fibonacci"), "{words}");
    assert_eq!(lines.len(), 3);
    let conditions = for_open_mpi(&read("bcast * * linear if one_node"), Format::Classic).unwrap_err().to_string();
    assert_eq!(
        conditions,
        "f:1:1: Open MPI's classic format cannot express 'one_node'; accepted there: power_of_two, not_power_of_two and mpi="
    );
    let both = "bcast * * linear if one_node and ranks_per_node=2-8";
    let words = for_open_mpi(&read(both), Format::Json).unwrap_err().to_string();
    assert!(words.contains(" cannot express 'one_node and ranks_per_node=2-8'; "), "{words}");
}

#[test]
fn exported_conditions_and_sizes() {
    let [commutative, all] = ["commutative and ", ""]
        .map(|order| for_open_mpi(&read(&format!("reduce 4 0-8 linear if {order}one_node\n")), Format::Json).unwrap());
    assert_eq!(commutative, all);
    let rules = read("bcast 4 0-8 linear if one_node\nbcast * * pipeline:segment=64K\ngather 4 1K-2K binomial\n");
    let json = for_open_mpi(&rules, Format::Json).unwrap();
    let again = read(&json);
    assert_eq!(asked(&again, Operation::Bcast, 4, 8), "linear");
    assert_eq!(asked(&again, Operation::Bcast, 4, 9), "pipeline:segment=64K");
    assert_eq!(asked(&again, Operation::Bcast, 3, 8), "pipeline:segment=64K");
    assert_eq!(asked(&again, Operation::Gather, 4, 1024), "binomial");
    assert_eq!(asked(&again, Operation::Gather, 4, 1023), "auto");
}

#[test]
fn powers_of_two_are_exported_as_sizes_and_one_rank_a_node_as_a_place() {
    let text = "bcast 3-20 * linear if power_of_two\nbcast * 0-1K binomial if not_power_of_two\n\
                gather * 8 binomial if power_of_two\n";
    let rules = read(text);
    for format in [Format::Classic, Format::Json] {
        let again = read(&for_open_mpi(&rules, format).unwrap());
        for (ranks, bytes, wanted) in [
            (2, 8, "auto"),
            (4, 8, "linear"),
            (5, 8, "binomial:segment=none"),
            (5, 2048, "auto"),
            (16, 2048, "linear"),
            (32, 8, "auto"),
            (1_000_000, 8, "binomial:segment=none"),
        ] {
            let found = asked(&again, Operation::Bcast, ranks, bytes);
            let found = if found.is_empty() { "auto" } else { &found };
            assert_eq!(found, wanted, "{format:?}: {bytes} among {ranks}");
        }
        assert_eq!(asked(&again, Operation::Gather, 4, 8), "binomial", "of each size, bytes can be counted");
    }
    let rules = read("bcast * * linear if ranks_per_node=1");
    let json = for_open_mpi(&rules, Format::Json).unwrap();
    assert!(json.contains("one-per-node"), "{json}");
    assert!(for_open_mpi(&rules, Format::Classic).is_err());
}

#[test]
fn classic_numbers_as_c_reads_them_and_requests_of_version_2() {
    let rules = read("rule-file-version-2\n1 11 1 0x2 2\n0 5 0 010 3\n020 2 4 0\n");
    assert_eq!(asked(&rules, Operation::Reduce, 2, 15), "binomial:segment=8,max_requests=3");
    assert!(asked(&rules, Operation::Reduce, 2, 16).starts_with("chain:chains=4,segment=none"));
}

#[test]
fn classic_parameters() {
    let rules = read("1 7 1 2 4\n0 2 3 1024\n10 7 3 0\n20 3 0 65536\n30 0 0 0\n");
    let bcast = |bytes| asked(&rules, Operation::Bcast, 2, bytes);
    assert_eq!(bcast(0), "chain:chains=3,segment=1K");
    assert_eq!(bcast(10), "knomial:radix=4,segment=none");
    assert_eq!(bcast(20), "pipeline:segment=64K");
    assert_eq!(bcast(30), "auto");
}

#[test]
fn classic_collectives_that_are_not_ours_are_read_over() {
    let rules = read("2 5 1 2 1 0 99 0 0 7 1 2 1 0 6 0 0");
    assert_eq!(asked(&rules, Operation::Bcast, 2, 8), "binomial:segment=none");
}

#[test]
fn classic_refusals_say_where_and_what() {
    for (text, words) in [
        ("1 2 1\n 4 x", "f:2:4: 'x' is not a number of rules; accepted: a whole number"),
        (
            "4 8 bcast linear",
            "f:1:5: 'bcast' is not a number of communicator sizes; accepted: a whole number, since the file begins with one and is therefore read as one of Open MPI's",
        ),
        ("1 2 1\n 4 -1", "f:2:4: '-1' is not a number of rules; accepted: a whole number"),
        ("1 2 1\n4 1\n0 3 0", "f:3:6: the file ends where a segment size is expected"),
        ("1 22", "f:1:3: there is no collective 22; accepted: 0 to 21"),
        ("2 2 0 2 0", "f:1:7: collective 2 (allreduce) is given twice"),
        ("1 2 1 4 1\n8 3 0 0", "f:2:1: the first rule of a communicator size starts at 8 bytes; accepted: 0"),
        ("1 2 1 4 1\n0 9 0 0", "f:2:3: Open MPI has no allreduce algorithm 9; accepted: 0 to 7"),
        ("1 2 1 4 1\n0 3 0 0\n8 3 0 0", "f:3:1: '8' is left over: by the counts before it there are no more rules"),
        (
            "rule-file-version-3\n0",
            "f:1:1: version '3' is not known; accepted: rule-file-version-1, rule-file-version-2",
        ),
    ] {
        assert_eq!(refused(text), words);
    }
    assert_eq!(refused("1 2 1 4 2\n0 9 0 0\n1 8 0 0").lines().count(), 2, "algorithms are told all at once");
}

#[test]
fn of_alltoallv_the_rule_for_no_bytes_counts() {
    let rules = read("1 4 2 2 2 0 2 0 0 64 1 0 0 8 1 0 1 0 0");
    let alltoallv = |ranks, bytes| asked(&rules, Operation::Alltoallv, ranks, bytes);
    for bytes in [0, 64, 1 << 20] {
        assert_eq!(alltoallv(4, bytes), "pairwise");
        assert_eq!(alltoallv(8, bytes), "linear:max_requests=32");
    }
    let text = r#"{"collectives": {"alltoallv": [{"rules": [{"alg": 1, "msg_size_min": 1}, {"alg": "pairwise"}]}]}}"#;
    assert_eq!(asked(&read(text), Operation::Alltoallv, 4, 64), "pairwise");
    let again = for_open_mpi(&rules, Format::Json).unwrap();
    assert_eq!(asked(&read(&again), Operation::Alltoallv, 4, 64), "pairwise", "{again}");
    assert!(refused("1 4 1 2 1 0 3 0 0").contains("no alltoallv algorithm 3; accepted: 0 to 2"));
}

const JSON: &str = r#"{
  "rule_file_version": 3, "module": "tuned",
  "collectives": {
    "alltoallw": [{"rules": [{"alg": 99}]}],
    "allreduce": [
      {"comm_size_min": 4, "comm_size_max": 8, "rules": [
        {"msg_size_max": 511, "alg": 3},
        {"msg_size_min": 512, "msg_size_max": 1023, "alg": "segmented_ring", "seg_size": 256},
        {"msg_size_min": 2048, "msg_size_max": "inf", "alg": "ring"}]},
      {"comm_rank_distribution": "single-node", "rules": [{"alg": "rabenseifner"}]}],
    "allgather": [{"rules": [{"alg": "bruck-k-fanout", "faninout": 4, "msg_size_min": 100}]}]
  }
}"#;

#[test]
fn json_first_match_wins_at_both_levels() {
    let rules = read(JSON);
    let allreduce = |ranks, bytes| asked(&rules, Operation::Allreduce, ranks, bytes);
    assert_eq!(allreduce(4, 511), "recursive_doubling");
    assert_eq!(allreduce(8, 512), "segmented_ring:segment=256");
    assert_eq!(allreduce(8, 1024), "auto", "the first entry that fits is the only one");
    assert_eq!(allreduce(8, 2048), "ring");
    assert_eq!(allreduce(9, 8), "rabenseifner");
    assert_eq!(asked(&rules, Operation::Allgather, 10, 10), "k_bruck:radix=4");
    assert_eq!(asked(&rules, Operation::Allgather, 10, 9), "auto");
    assert_eq!(rules.of(Operation::Allreduce)[1].line, 8);
}

#[test]
fn json_whose_rules_are_for_all_sizes_has_no_row_for_the_rest() {
    let text =
        |rules: &str| format!("{{\"collectives\": {{\"bcast\": [{{\"comm_size_max\": 9, \"rules\": [{rules}]}}]}}}}");
    let all = ["{\"alg\": 1}", "{\"msg_size_min\": 8, \"alg\": 1}, {\"msg_size_max\": 7, \"alg\": 2}"];
    for (rules, rows) in
        [(all[0], 1), (all[1], 2), ("{\"msg_size_min\": 8, \"alg\": 1}, {\"msg_size_max\": 6, \"alg\": 2}", 3)]
    {
        let rules = read(&text(rules));
        assert_eq!((rules.iter().count(), never_used(&rules, Purpose::Rules)), (rows, vec![]));
    }
    assert_eq!(refused(&text("{\"alg\": 1, \"alg\": 2}")), "f:1:77: the key 'alg' is given twice");
}

#[test]
fn the_schema_of_a_json_file_may_be_named() {
    let rules = parse_rules("f", "{\"$schema\": \"x.json\", \"collectives\": {\"bcast\": []}}").unwrap();
    assert_eq!(rules.iter().count(), 0);
}

#[test]
fn json_refusals_say_where_and_what() {
    let rule = |rule: &str| format!("{{\"collectives\": {{\"bcast\": [{{\"rules\": [\n{rule}]}}]}}}}");
    for (text, words) in [
        ("{\"collectives\": [}".to_owned(), "f:1:18: no JSON: expected value"),
        ("{\n}".to_owned(), "f:1:1: the key 'collectives' is missing, which a JSON file of rules for Open MPI has"),
        (
            "{\"colectives\": {}, \"collectives\": {}}".to_owned(),
            "f:1:16: unknown key 'colectives'; accepted: $schema, rule_file_version, module, collectives; did you mean 'collectives'?",
        ),
        (
            "{\"rule_file_version\": 2, \"collectives\": {}}".to_owned(),
            "f:1:23: rule_file_version 2 is not known; accepted: 3",
        ),
        (
            "{\"module\": \"han\", \"collectives\": {}}".to_owned(),
            "f:1:12: module \"han\" is not known; accepted: \"tuned\"",
        ),
        (rule("{\"alg\": 12}"), "f:2:9: Open MPI has no bcast algorithm 12; accepted: 0 to 9"),
        (rule("{}"), "f:2:1: the key 'alg' is missing"),
        (
            rule("{\"alg\": 1, \"msg_size_min\": \"x\"}"),
            "f:2:28: '\"x\"' is not accepted; accepted: for msg_size_min a whole number, or \"inf\"",
        ),
        (
            rule("{\"alg\": 1, \"msg_size_min\": 9, \"msg_size_max\": 8}"),
            "f:2:47: msg_size_max 8 is below msg_size_min 9",
        ),
        (
            rule("{\"alg\": 6, \"segsize\": 8}"),
            "f:2:23: unknown key 'segsize'; accepted: msg_size_min, msg_size_max, alg, faninout, seg_size, reqs; did you mean 'seg_size'?",
        ),
    ] {
        assert_eq!(refused(&text), words, "{text}");
    }
    let words = refused(&rule("{\"alg\": \"binomail\"}"));
    assert!(words.starts_with("f:2:9: Open MPI has no bcast algorithm 'binomail'; accepted: ignore, basic_linear, "));
    assert!(words.ends_with("; did you mean 'binomial'?"), "{words}");
    let words = refused("{\"collectives\": {\"broadcast\": [], \"bcast\": 1}}");
    assert!(words.starts_with("f:1:31: unknown collective 'broadcast'; accepted: allgather, "), "{words}");
    assert!(words.lines().nth(1).unwrap().starts_with("f:1:44: '1' is not accepted"), "{words}");
}
