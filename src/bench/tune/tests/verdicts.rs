//! What rows come out of the verdicts of mode `compare`, which are of size classes.

use super::super::*;
use super::made_up::{SETTINGS, cell, lines};
use crate::algorithm::Operation;
use crate::bench::result::CellRow;
use crate::bench::result::tests::report;
use crate::monitor::{Comparison, Verdict};
use crate::selection::{Situation, parse_rules};

#[test]
fn verdicts_of_one_size_class_count_together() {
    let class = |bytes, ring| CellRow { size_class: Some((1024, 2047)), ..cell(bytes, 4, &[("ring", ring)]) };
    let native = Settings { native: true, ..SETTINGS };
    // Native takes 10: twice as fast on one communicator, and by far slower on another.
    let found = lines(&[report(vec![class(1104, 5.0), class(1904, 40.0)])], native);
    assert_eq!(found, ["allreduce 4 * native if one_node"].map(|rule| rule.replace(" if one_node", "")), "{found:?}");
}

/// Means of a class differ from communicator to communicator: its calls are one kind of call all the same.
#[test]
fn a_size_class_is_not_cut_whatever_its_means() {
    let class = |ranks, bytes, ring| CellRow { size_class: Some((64, 127)), ..cell(bytes, ranks, &[("ring", ring)]) };
    let tree = Settings { form: Form::Tree, native: true, ..SETTINGS };
    // Native takes 10.
    let found = lines(&[report(vec![class(2, 72, 5.0), class(4, 120, 30.0)])], tree);
    assert_eq!(found, ["allreduce 2 * ring", "allreduce 4 * native"]);
    let rules = |means: [usize; 2]| {
        let settings = Settings { extend: Extend::Estimated, ..SETTINGS };
        lines(&[report(vec![class(4, means[0], 5.0), class(16, means[1], 5.0)])], settings)
    };
    let alike = rules([72, 72]);
    assert!(alike.len() > 1, "{alike:?}");
    assert_eq!(rules([72, 120]), alike);
}

/// A comparison that is certain of this ratio, native over ours.
fn compared(ratio: f64) -> Comparison {
    Comparison {
        pairs: 20,
        native_median_seconds: 1e-5,
        collie_median_seconds: 1e-5 / ratio,
        ratio,
        ratio_low: Some(ratio * 0.98),
        ratio_high: Some(ratio * 1.02),
        native_p10_seconds: None,
        collie_p10_seconds: None,
        difference_seconds: None,
        difference_low_seconds: None,
        difference_high_seconds: None,
        p_value: 0.001,
        verdict: if ratio > 1.0 { Verdict::Faster } else { Verdict::Slower },
    }
}

#[test]
fn verdicts_of_a_run_are_a_data_set() {
    use crate::monitor::{CommunicatorRow, ComparisonRow, RankRow, Row, Summary};
    let comparison = |bytes_from: u64, ratio: f64| ComparisonRow {
        function: "MPI_Bcast".to_owned(),
        communicator: 0,
        bytes_from,
        bytes_to: 2 * bytes_from - 1,
        commutative: true,
        reduce_local: false,
        calls: 100,
        result: compared(ratio),
        saved_seconds: None,
    };
    let ran = |bytes_from: u64| -> Row {
        let text = format!(
            r#"{{"function": "MPI_Bcast", "communicator": 0, "bytes_from": {bytes_from}, "bytes_to": {}, "algorithm": "binomial:segment=none",
            "decided_by": "x", "ranks": 2, "calls": 50, "calls_all_ranks": 100, "bytes": 0,
            "total_seconds": {}, "mean_seconds": 0, "min_seconds": 0, "p50_seconds": 0, "p90_seconds": 0, "p99_seconds": 0,
            "max_seconds": 0, "share": 0, "durations": []}}"#,
            2 * bytes_from - 1,
            serde_json::to_string(&crate::monitor::Spread::default()).unwrap()
        );
        serde_json::from_str(&text).unwrap()
    };
    let host = |rank| RankRow { rank, host: "here".to_owned(), ..RankRow::default() };
    let summary = Summary {
        mpi_library: "Open MPI v4.1.4".to_owned(),
        comparisons: vec![comparison(64, 0.5), comparison(4096, 2.0)],
        rows: vec![ran(64), ran(4096)],
        communicators: vec![CommunicatorRow { size: 2, members: vec![0, 1], ..CommunicatorRow::default() }],
        per_rank: vec![host(0), host(1)],
        ..Summary::default()
    };
    let native = Settings { native: true, by_mpi: true, extend: Extend::Exact, ..SETTINGS };
    let end = "if mpi=openmpi and mpi_version=4.1";
    let expected = [format!("bcast 2 0-721 native {end}"), format!("bcast 2 722-inf binomial:segment=none {end}")];
    assert_eq!(lines(&[of_comparisons(&summary)], native), expected);
    let evidence = &tune(&[of_comparisons(&summary)], native).unwrap()[0].evidence;
    assert!(evidence.ends_with("native over this: 64-127 0.50 native, 4096-8191 2.00"), "{evidence}");
    // What the fastest epochs took, and the size that all calls had.
    let mut timed = summary.clone();
    timed.comparisons[1].result.collie_p10_seconds = Some(4e-6);
    timed.rows[1].bytes = 100 * 6000;
    let cell = &of_comparisons(&timed).cells[1];
    assert_eq!((cell.cell.bytes, cell.variants[1].seconds.median), (6000, 4e-6));
    assert!((cell.variants[0].seconds.median - 8e-6).abs() < 1e-12, "{cell:?}");
    let cut = crate::monitor::LimitsRecord {
        bytes: vec![256, 4040],
        longest: vec![512, 32320],
        ways: vec!["both".into(), "exchange".into()],
        measured_seconds: None,
        measured_with: None,
    };
    let limits = of_comparisons(&Summary { protocol_limits: Some(cut), ..summary.clone() }).limits();
    let words: Vec<_> = limits.limits().map(|limit| limit.to_string()).collect();
    assert_eq!(words, ["256", "4040x8:exchange"]);
    // More ranks than cores, as a rank says, or as a table does in an older report.
    let crowded = |summary: &Summary| of_comparisons(summary).cells.iter().all(|cell| cell.oversubscribed);
    assert!(!crowded(&summary));
    let mut of_rank = summary.clone();
    of_rank.per_rank[1].oversubscribed = true;
    let mut of_table = summary.clone();
    of_table.rows[1].decided_by = "default one_node_oversubscribed:11".into();
    assert!(crowded(&of_rank) && crowded(&of_table));
    // Calls of the size class that several of ours carried out.
    let mut several = summary.clone();
    several.rows.push(Row { algorithm: "linear".to_owned(), ..ran(4096) });
    several.rows.push(Row { decided_by: "y".to_owned(), ..ran(64) });
    several.rows.push(Row { algorithm: "native".to_owned(), ..ran(64) });
    let found = of_comparisons(&several);
    assert_eq!(lines(std::slice::from_ref(&found), native), [format!("bcast 2 * native {end}")]);
    let [doubt] = &found.in_doubt[..] else { panic!("{found:?}") };
    let both = crate::bench::result::Doubt::Several(["binomial:segment=none", "linear"].map(String::from).to_vec());
    assert_eq!((doubt.size_class, &doubt.why), (Some((4096, 8191)), &both));
    // The same run over shared memory, and where this could not be had.
    let sent = crate::monitor::TrafficRow { from: 0, to: 1, messages: 1, bytes: 8, on_node: true };
    let mut over_memory = Summary { shared_traffic: vec![sent], ..summary };
    let beside_memory = |end: &str, word: &str| end.replace("if mpi", &format!("if {word} and mpi"));
    let expected_there = expected.each_ref().map(|rule| beside_memory(rule, "shared_memory"));
    assert_eq!(lines(&[of_comparisons(&over_memory)], native), expected_there);
    over_memory.communicators[0].no_shared_memory = Some("no room in /dev/shm".into());
    assert_eq!(lines(&[of_comparisons(&over_memory)], native), expected);
}

#[test]
fn verdicts_on_reductions_whose_order_matters_make_rules_for_them() {
    use crate::monitor::{CommunicatorRow, ComparisonRow, RankRow, Row, Summary};
    let comparison = |commutative: bool, ratio: f64| ComparisonRow {
        function: "MPI_Reduce".to_owned(),
        communicator: 0,
        bytes_from: 64,
        bytes_to: 127,
        commutative,
        reduce_local: !commutative,
        calls: 100,
        result: compared(ratio),
        saved_seconds: None,
    };
    let ran = |algorithm: &str| Row {
        function: "MPI_Reduce".to_owned(),
        bytes_from: 64,
        bytes_to: 127,
        algorithm: algorithm.to_owned(),
        ..Row::default()
    };
    let summary = Summary {
        mpi_library: "Open MPI v4.1.4".to_owned(),
        comparisons: vec![comparison(true, 2.0), comparison(false, 1.5)],
        rows: vec![ran("linear"), ran("binary:segment=none,max_requests=8")],
        communicators: vec![CommunicatorRow { size: 2, members: vec![0, 1], ..CommunicatorRow::default() }],
        per_rank: [0, 1].map(|rank| RankRow { rank, host: "here".to_owned(), ..RankRow::default() }).to_vec(),
        ..Summary::default()
    };
    let settings = Settings { native: true, extend: Extend::Exact, ..SETTINGS };
    let both = ["reduce 2 * binary:segment=none,max_requests=8 if commutative", "reduce 2 * linear if non_commutative"];
    assert_eq!(lines(&[of_comparisons(&summary)], settings), both);
    // Of two that keep the order nobody knows which was compared with what.
    let several = |rows: [&str; 2]| Summary { rows: rows.map(ran).to_vec(), ..summary.clone() };
    assert!(lines(&[of_comparisons(&several(["linear", "fibonacci"]))], settings).is_empty());
    // What does not keep it carried out the others.
    let in_doubt = Summary { rows: ["linear", "fibonacci", "binary"].map(ran).to_vec(), ..summary.clone() };
    let written = lines(&[of_comparisons(&in_doubt)], settings);
    assert!(written.len() == 1 && written[0].starts_with("reduce 2 * binary"), "{written:?}");
    let same = lines(&[of_comparisons(&several(["linear", "linear"]))], settings);
    assert_eq!(same, ["reduce 2 * linear if commutative", "reduce 2 * linear if non_commutative"]);
    let in_order = Summary { comparisons: vec![comparison(false, 1.5)], ..summary };
    assert_eq!(lines(&[of_comparisons(&in_order)], settings), ["reduce 2 * linear if non_commutative"]);
}

#[test]
fn single_sizes_inside_a_class_are_in_order_with_it() {
    let of_class = |from: usize, bytes: usize| CellRow {
        size_class: Some((from, 2 * from - 1)),
        ..cell(bytes, 4, &[("ring", 1.0), ("recursive_doubling", 9.0)])
    };
    let single = cell(1536, 4, &[("ring", 9.0), ("recursive_doubling", 1.0)]);
    let settings = Settings { native: true, extend: Extend::Exact, ..SETTINGS };
    let rules = lines(&[report(vec![of_class(1024, 1100), of_class(2048, 2500), single])], settings);
    let spans: Vec<_> = rules.iter().map(|line| line.split_whitespace().take(4).collect::<Vec<_>>()).collect();
    assert_eq!(
        spans.iter().map(|span| span[3]).collect::<Vec<_>>(),
        ["ring", "recursive_doubling", "ring"],
        "{rules:?}"
    );
    let written = rules.join("\n");
    let read = parse_rules("x", &written).unwrap();
    for (bytes, best) in [(1100, "ring"), (1536, "recursive_doubling"), (2500, "ring")] {
        let call = super::super::losses::plain(Operation::Allreduce, bytes, &[]);
        let found = read.first(&Situation::plain(4), &call).map(|rule| rule.wanted.to_string());
        assert!(found.is_some_and(|found| found.starts_with(best)), "{bytes}: {written}");
    }
}
