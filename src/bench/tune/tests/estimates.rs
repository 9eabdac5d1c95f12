//! What rows come out for numbers of ranks, and sizes, that were not measured.

use super::super::*;
use super::made_up::{SETTINGS, cell, lines};
use crate::algorithm::Operation;
use crate::bench::result::CellRow;
use crate::bench::result::tests::report;
use crate::selection::{Purpose, Situation, never_used, parse_rules};

#[test]
fn of_ranks_that_share_nodes_nothing_is_estimated_for_two() {
    let mut cell = cell_of_all(64, 4, &[("recursive_doubling", 5.0)]);
    cell.ranks_per_node = vec![2, 2];
    let found = |anywhere| {
        let settings = Settings { anywhere, extend: Extend::Estimated, ..SETTINGS };
        text(&tune(&[report(vec![cell.clone()])], settings).unwrap(), "")
    };
    let here = found(false);
    assert_eq!(never_used(&parse_rules("x", &here).unwrap(), Purpose::Rules), [], "{here}");
    assert!(here.contains("allreduce, 3 ranks, estimated"), "{here}");
    assert!(found(true).contains("allreduce, 2 to 3 ranks, estimated"), "{}", found(true));
}

#[test]
fn numbers_of_ranks_that_were_not_measured_follow_the_nearest() {
    // The best that the formulas know, so that it stays ahead wherever it is.
    let of = |ranks, name| {
        let mut cell = cell(8, ranks, &[(name, 1.0)]);
        cell.cell.operation = Operation::Barrier;
        cell
    };
    let cells = vec![of(4, "dissemination"), of(16, "dissemination")];
    let found = lines(&[report(cells.clone())], SETTINGS);
    assert_eq!(found, ["barrier 2-8 * dissemination", "barrier 9-32 * dissemination"]);
    let found = lines(&[report(cells)], Settings { extend: Extend::Exact, ..SETTINGS });
    assert_eq!(found, ["barrier 4 * dissemination", "barrier 16 * dissemination"]);
}

#[test]
fn what_is_the_same_among_two_ranks_holds_for_two_ranks() {
    let mut two = cell(64, 2, &[("ring", 1.0)]);
    two.cell.operation = Operation::Bcast;
    assert_eq!(lines(&[report(vec![two])], SETTINGS), ["bcast 2 * ring"]);
    // Among four, a tree is as good as any by its formula up to eight, and linear is not.
    let four = |name| {
        let mut four = cell(64, 4, &[(name, 1.0)]);
        four.cell.operation = Operation::Bcast;
        lines(&[report(vec![four])], SETTINGS)
    };
    assert_eq!(four("ring"), ["bcast 2-8 * ring"]);
    assert_eq!(four("linear"), ["bcast 2-4 * linear"]);
}

/// A cell in which every algorithm that works for any call takes twenty microseconds, but for those that are named.
fn cell_of_all(bytes: usize, ranks: u32, times: &[(&str, f64)]) -> CellRow {
    let work = crate::algorithm::of(Operation::Allreduce).iter().filter(|row| !row.needs.shared_memory);
    let all =
        work.map(|row| (row.name, times.iter().find(|(name, _)| *name == row.name).map_or(20.0, |(_, time)| *time)));
    cell(bytes, ranks, &all.collect::<Vec<_>>())
}

#[test]
fn between_two_numbers_of_ranks_what_is_good_at_both_is_taken() {
    let cells = |ours: f64| {
        [(4, ours, 9.0), (16, 9.0, ours)]
            .map(|(ranks, linear, ring)| cell_of_all(64, ranks, &[("linear", linear), ("ring", ring), ("swing", 6.0)]))
    };
    let settings = Settings { extend: Extend::Estimated, ..SETTINGS };
    let blocks = tune(&[report(cells(5.0).to_vec())], settings).unwrap();
    let written = text(&blocks, "");
    let found = lines(&[report(cells(5.0).to_vec())], settings);
    // Of what is measured, first; nothing twice.
    let expected = [
        "allreduce 2-5 * linear",
        "allreduce 9-16 * ring",
        "allreduce 5-6 * linear",
        "allreduce 7-11 * swing:variant=bandwidth",
        "allreduce 17-27 * ring",
        "allreduce 28-32 * swing:variant=bandwidth",
    ];
    assert_eq!(found, expected);
    assert!(
        written.contains("# allreduce, 7 to 11 ranks, estimated from what was measured among 4 and 16 ranks"),
        "{written}"
    );
    assert_eq!(blocks.iter().map(|block| block.sizes.0).sum::<usize>(), 2, "estimates are no measured cells");
    assert_eq!(never_used(&parse_rules("tuned.rules", &written).unwrap(), Purpose::Rules), []);
    // Native takes ten, the others more.
    let slow = cells(30.0).map(|mut cell| {
        cell.variants.retain(|row| !["linear", "ring", "swing"].contains(&row.variant.as_str()));
        cell
    });
    let native = lines(&[report(slow.to_vec())], Settings { native: true, ..settings });
    let of_native: Vec<_> = native.iter().filter(|line| line.ends_with("native")).collect();
    assert_eq!(of_native, ["allreduce 4 * native", "allreduce 16 * native", "allreduce 5-15 * native"], "{native:?}");
    let exact = Settings { extend: Extend::Exact, ..SETTINGS };
    assert_eq!(lines(&[report(cells(5.0).to_vec())], exact).len(), 2);
}

#[test]
fn beyond_the_measured_numbers_of_ranks_formulas_say_who_falls_back() {
    let settings = Settings { extend: Extend::Estimated, ..SETTINGS };
    let near = [("ring", 5.0), ("recursive_multiplying", 5.5)];
    let found = lines(&[report(vec![cell_of_all(8, 6, &near)])], settings);
    let multiplying = |ranks: &str| format!("allreduce {ranks} * recursive_multiplying:radix=4");
    assert_eq!(found, ["allreduce 5-6 * ring".to_owned(), multiplying("3-4"), multiplying("7-12")]);
    // Of two candidates nobody knows what they are worth among the others.
    assert_eq!(lines(&[report(vec![cell(8, 6, &near)])], settings).len(), 1);
    // What two ranks do says nothing of three.
    let two = lines(&[report(vec![cell_of_all(8, 2, &near)])], settings);
    assert_eq!(two, ["allreduce 2 * ring"]);
}

#[test]
fn nothing_is_estimated_where_native_won() {
    let settings = Settings { native: true, extend: Extend::Estimated, ..SETTINGS };
    // Native takes ten.
    let of = |bytes, ring| cell_of_all(bytes, 8, &[("ring", ring)]);
    assert_eq!(lines(&[report(vec![of(64, 30.0)])], settings), ["allreduce 8 * native"]);
    let [short, middle, long] = [of(64, 5.0), of(256, 30.0), of(1024, 5.0)];
    let all = lines(&[report(vec![short, middle, long])], settings);
    let rules = parse_rules("x", &all.join("\n")).unwrap();
    let found = [64, 256, 1024].map(|bytes| {
        let call = super::super::losses::plain(Operation::Allreduce, bytes, &[]);
        rules.first(&Situation::plain(12), &call).map(|rule| rule.wanted.to_string())
    });
    assert_eq!(found, [Some("ring".to_owned()), None, Some("ring".to_owned())], "{all:?}");
    // Of two cells with the same size one that loses a little in the other has the less to lose.
    let root = |root, ring| {
        let mut of = of(64, ring);
        of.cell.root = root;
        of
    };
    assert!(lines(&[report(vec![root(0, 5.0), root(1, 10.6)])], settings).len() > 1);
    // Where native is no candidate, what is fastest among ours is all that is asked.
    assert!(lines(&[report(vec![of(256, 15.0)])], Settings { native: false, ..settings }).len() > 1);
}

#[test]
fn between_sizes_that_are_far_apart_what_is_good_at_both_is_taken() {
    let of = |bytes, ring, linear| cell(bytes, 4, &[("ring", ring), ("linear", linear), ("swing", 6.0)]);
    let exact = Settings { extend: Extend::Exact, ..SETTINGS };
    let is_swing = |line: &String| line.contains(" swing");
    let apart = lines(&[report(vec![of(64, 5.0, 9.0), of(4096, 9.0, 5.0)])], exact);
    assert!(apart.len() == 3 && is_swing(&apart[1]), "{apart:?}");
    let near = lines(&[report(vec![of(64, 5.0, 9.0), of(128, 9.0, 5.0)])], exact);
    assert!(near.len() == 2 && !near.iter().any(is_swing), "{near:?}");
    // What is missing at one of them could not be kept in the middle.
    let other = cell(4096, 4, &[("ring", 9.0), ("linear", 5.0), ("swing", 6.0), ("reduce_bcast", 20.0)]);
    let missing = lines(&[report(vec![of(64, 5.0, 9.0), other])], exact);
    assert!(!missing.iter().any(is_swing), "{missing:?}");
}
