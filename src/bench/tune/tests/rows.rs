//! What rows come out of which measurements.

use super::super::*;
use crate::algorithm::Operation;
use crate::bench::result::tests::{report, row};
use crate::bench::result::{CellRow, Report, VariantRow};
use crate::bench::statistics::Ratio;
use crate::monitor::{Comparison, Verdict};
use crate::selection::{Purpose, Situation, Transport, never_used, parse_rules};

const SETTINGS: Settings =
    Settings { form: Form::Table, price: 0.05, native: false, by_mpi: false, anywhere: true, extend: Extend::Alike };

/// A cell of allreduce with times of algorithms in microseconds; native takes ten.
fn cell(bytes: usize, ranks: u32, times: &[(&str, f64)]) -> CellRow {
    let mut cell = row(Operation::Allreduce, bytes, ranks, 1.0);
    let auto = cell.variants.pop().expect("auto");
    cell.variants.extend(times.iter().map(|(name, time)| {
        let mut row = VariantRow { variant: (*name).to_owned(), algorithm: (*name).to_owned(), ..auto.clone() };
        row.seconds.median = time / 1e6;
        let ratio = 10.0 / time;
        row.against_native = Some(Ratio { ratio, low: Some(ratio * 0.99), high: Some(ratio * 1.01) });
        row
    }));
    cell
}

fn lines(reports: &[Report], settings: Settings) -> Vec<String> {
    let blocks = tune(reports, settings).unwrap();
    let all = blocks.iter().flat_map(|block| &block.rules);
    all.map(|rule| rule.to_string().split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn what_gave_a_wrong_result_has_no_row_of_that_operation() {
    let times = |bytes| cell(bytes, 4, &[("recursive_doubling", 5.0), ("ring", 2.0)]);
    let names_ring = |cells: &[CellRow], model: fn(&Report) -> Report| {
        let rules = lines(&[model(&report(cells.to_vec()))], SETTINGS).join("\n");
        assert!(rules.contains("recursive_doubling") || rules.contains("ring"), "{rules}");
        rules.contains("ring")
    };
    let cost = |report: &Report| predicted(std::slice::from_ref(report), None).unwrap().remove(0);
    let [right, mut wrong] = [times(1 << 20), times(1 << 16)];
    assert!(names_ring(&[right.clone(), wrong.clone()], Report::clone) && names_ring(&[wrong.clone()], cost));
    wrong.wrong = vec!["ring".to_owned()];
    assert!(!names_ring(&[right, wrong.clone()], Report::clone) && !names_ring(&[wrong], cost));
}

#[test]
fn verdicts_of_one_size_class_count_together() {
    let class = |bytes, ring| CellRow { size_class: Some((1024, 2047)), ..cell(bytes, 4, &[("ring", ring)]) };
    let native = Settings { native: true, ..SETTINGS };
    // Native takes 10: twice as fast on one communicator, and by far slower on another.
    let found = lines(&[report(vec![class(1104, 5.0), class(1904, 40.0)])], native);
    assert_eq!(found, ["allreduce 4 * native if one_node"].map(|rule| rule.replace(" if one_node", "")), "{found:?}");
}

#[test]
fn what_no_interval_tells_of_is_undecided() {
    let without = |mut cell: CellRow| {
        for row in &mut cell.variants {
            row.against_native = row.against_native.map(|ratio| Ratio { low: None, high: None, ..ratio });
        }
        cell
    };
    let evidence = |cell: CellRow| tune(&[report(vec![cell])], SETTINGS).unwrap()[0].evidence.clone();
    let clear = cell(1024, 4, &[("ring", 5.0)]);
    assert!(evidence(without(clear.clone())).contains("2.00 undecided"), "{}", evidence(without(clear)));
    // What is behind by less than the noise is no loss.
    let close = |low: f64| {
        let mut close = cell(1024, 4, &[("ring", 10.3)]);
        let row = close.variants.iter_mut().find(|row| row.variant == "ring").unwrap();
        row.against_native = Some(Ratio { ratio: 10.0 / 10.3, low: Some(low), high: Some(low + 0.01) });
        close
    };
    let native = Settings { native: true, ..SETTINGS };
    let is_left = |cell| lines(&[report(vec![cell])], native)[0].contains("native");
    assert!(is_left(close(0.96)) && !is_left(without(close(0.96))));
}

#[test]
fn a_row_ends_where_another_algorithm_wins() {
    let times = |bytes, tree, ring| cell(bytes, 4, &[("recursive_doubling", tree), ("ring", ring)]);
    let cells = vec![times(64, 5.0, 8.0), times(4096, 9.0, 9.2), times(16384, 30.0, 15.0)];
    let found = lines(&[report(cells)], SETTINGS);
    assert_eq!(found.len(), 2, "{found:?}");
    // Recursive doubling needs a power of two; a ring falls behind the trees as ranks become more.
    // At 4 KiB they are all but level, and so the ring has most of what lies between.
    assert!(found[0].starts_with("allreduce 4 0-4274 recursive_doubling"), "{found:?}");
    assert!(found[1].ends_with(" 4275-inf ring"), "{found:?}");
}

#[test]
fn what_was_measured_in_one_placement_holds_there() {
    let placed = |ranks_per_node: &[u32]| {
        let ranks = ranks_per_node.iter().sum();
        CellRow {
            ranks_per_node: ranks_per_node.to_vec(),
            ..cell(64, ranks, &[("linear", 5.0), ("reduce_bcast", 8.0)])
        }
    };
    let here = Settings { anywhere: false, extend: Extend::Exact, ..SETTINGS };
    let conditions = |cells: &[&[u32]], settings| {
        let found = lines(&[report(cells.iter().map(|nodes| placed(nodes)).collect())], settings);
        // No calls were measured whose order matters.
        let first = if settings.anywhere { "" } else { "commutative and " };
        let of = |line: &String| {
            let conditions = line.split_once(" if ").map_or("", |(_, of)| of);
            let others = conditions.strip_prefix(first).or_else(|| conditions.strip_prefix("commutative"));
            others.unwrap_or_else(|| panic!("{line}")).to_owned()
        };
        found.iter().map(of).collect::<Vec<_>>()
    };
    for form in [Form::Table, Form::Tree] {
        let here = Settings { form, ..here };
        assert_eq!(conditions(&[&[4], &[8]], here)[0], "one_node", "{form:?}");
        let together = "several_nodes and ranks_per_node=2-inf";
        assert_eq!(conditions(&[&[2, 2], &[4, 4]], here)[0], together, "{form:?}");
        assert_eq!(conditions(&[&[2, 2], &[4, 4]], Settings { anywhere: true, ..here })[0], "", "{form:?}");
        assert_eq!(conditions(&[&[1, 1, 1, 1]], here), ["one_per_node"], "{form:?}");
        assert_eq!(conditions(&[&[4]], Settings { anywhere: true, ..here }), [""], "{form:?}");
    }
    // Where there are several placements their conditions tell them apart.
    let apart_and_grouped = ["one_per_node", "several_nodes and ranks_per_node=2-inf"];
    assert_eq!(conditions(&[&[1, 1, 1, 1], &[2, 2]], here), apart_and_grouped);
    // Also where the numbers of ranks differ.
    assert_eq!(conditions(&[&[1, 1, 1, 1], &[4, 4]], here), apart_and_grouped);
    for anywhere in [false, true] {
        let settings = Settings { anywhere, ..here };
        assert_eq!(conditions(&[&[4], &[1, 1, 1, 1]], settings), ["one_per_node", "one_node"]);
    }
    assert_eq!(conditions(&[&[4], &[2, 2]], here), ["several_nodes and ranks_per_node=2-inf", "one_node"]);
    assert_eq!(conditions(&[&[4], &[2, 2]], Settings { anywhere: true, ..here }), ["several_nodes", "one_node"]);
    // A tree need not tell one node from several.
    let tree = Settings { form: Form::Tree, ..here };
    assert_eq!(conditions(&[&[4], &[2, 2]], tree), ["ranks_per_node=2-inf"]);
    assert_eq!(conditions(&[&[1, 1, 1, 1], &[2, 2]], tree), ["several_nodes"]);
    assert_eq!(conditions(&[&[4], &[2, 2], &[1, 1, 1, 1]], tree), [""]);
    // One that was measured in neither is not a third's.
    assert_eq!(conditions(&[&[4], &[1, 1, 1, 1]], tree), ["one_per_node", "one_node"]);
}

#[test]
fn a_report_without_native_leaves_it_a_candidate() {
    let with = cell(64, 4, &[("ring", 20.0)]);
    let without = CellRow { variants: vec![with.variants.last().unwrap().clone()], ..with.clone() };
    let settings = Settings { native: true, ..SETTINGS };
    let reports = [report(vec![with]), report(vec![without])];
    assert_eq!(lines(&reports, settings), ["allreduce 4 * native"]);
    let blocks = tune(&reports, settings).unwrap();
    let told = "allreduce, 4 ranks, 64 bytes: compared from 1 of 2 cells, in which the MPI library was measured";
    assert_eq!(blocks[0].left_out, [told]);
    // Nor does it count as level with ours.
    let evidence = &tune(&reports, SETTINGS).unwrap()[0].evidence;
    assert!(evidence.contains("64 0.50"), "{evidence}");
}

#[test]
fn what_was_measured_twice_counts_by_the_mean() {
    let mut cell = cell(64, 4, &[("ring", 4.0), ("linear", 6.0)]);
    let mut again = cell.variants[cell.variants.len() - 2].clone();
    assert_eq!(again.algorithm, "ring");
    again.variant = "again".to_owned();
    again.seconds.median = 7e-6;
    cell.variants.push(again);
    // The mean of the logarithms of 4 and 7 is that of 5.3.
    let exact = Settings { extend: Extend::Exact, ..SETTINGS };
    assert_eq!(lines(&[report(vec![cell])], exact), ["allreduce 4 * ring"]);
}

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
fn what_was_measured_with_more_ranks_than_cores_holds_there() {
    let crowded = |oversubscribed, ranks| CellRow { oversubscribed, ..cell(64, ranks, &[("linear", 5.0)]) };
    for form in [Form::Table, Form::Tree] {
        let here = Settings { anywhere: false, extend: Extend::Exact, form, ..SETTINGS };
        let found = |cells| lines(&[report(cells)], here);
        let all = found(vec![crowded(true, 4)]);
        assert_eq!(all, ["allreduce 4 * linear if commutative and one_node and oversubscribed"], "{form:?}");
        assert_eq!(found(vec![crowded(false, 4)]), ["allreduce 4 * linear if commutative and one_node"], "{form:?}");
        let anywhere = lines(&[report(vec![crowded(true, 4)])], Settings { anywhere: true, ..here });
        assert_eq!(anywhere, ["allreduce 4 * linear"], "{form:?}");
    }
}

#[test]
fn sizes_that_no_rank_knows_decide_nothing() {
    let times = |bytes, linear, bruck| {
        let mut cell = cell(bytes, 4, &[("linear", linear), ("two_phase_bruck", bruck)]);
        cell.cell.operation = Operation::Alltoallv;
        cell
    };
    let cells = vec![times(64, 9.0, 8.0), times(4096, 9.0, 12.0)];
    let written = text(&tune(&[report(cells.clone())], SETTINGS).unwrap(), "");
    assert!(written.contains("native over this: 1.11 over all sizes"), "{written}");
    let here = Settings { extend: Extend::Exact, ..SETTINGS };
    assert_eq!(lines(&[report(cells)], here), ["alltoallv 4 * linear:max_requests=32"]);
}

#[test]
fn what_noise_could_have_done_changes_nothing() {
    let times = |bytes, tree, ring| cell(bytes, 4, &[("recursive_doubling", tree), ("ring", ring)]);
    let cells = vec![times(64, 5.0, 8.0), times(512, 9.1, 9.0), times(4096, 30.0, 31.0)];
    let found = lines(&[report(cells)], SETTINGS);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("allreduce 4 * recursive_doubling"), "{found:?}");
}

#[test]
fn what_modes_decided_is_no_algorithm() {
    let with_modes = |bytes| {
        let mut cell = cell(bytes, 4, &[("recursive_doubling", 5.0), ("ring", 8.0), ("learn", 1.0)]);
        let best =
            VariantRow { variant: "best".to_owned(), algorithm: "native".to_owned(), ..cell.variants[1].clone() };
        cell.variants.push(best);
        cell
    };
    let found = lines(&[report(vec![with_modes(64), with_modes(4096)])], SETTINGS);
    assert!(found.len() == 1 && found[0].ends_with("* recursive_doubling"), "{found:?}");
}

#[test]
fn reports_of_two_libraries_count_alike() {
    let one = report(vec![cell(64, 4, &[("recursive_doubling", 1.0), ("ring", 1.5)])]);
    let other = report(vec![cell(64, 4, &[("recursive_doubling", 400.0), ("ring", 200.0)])]);
    let found = lines(&[one, other], SETTINGS);
    assert!(found[0].contains("ring"), "{found:?}");
}

#[test]
fn each_library_gets_rows_of_its_own_where_that_is_asked_for() {
    let of =
        |library: &str, name| Report { mpi_library: library.to_owned(), ..report(vec![cell(64, 4, &[(name, 1.0)])]) };
    let reports = [of("MPICH Version: 4.0.2", "recursive_doubling"), of("Open MPI v4.1.4, package: x", "ring")];
    let found = lines(&reports, Settings { by_mpi: true, extend: Extend::Exact, ..SETTINGS });
    let expected = [
        "allreduce 4 * ring if commutative and mpi=openmpi and mpi_version=4.1",
        "allreduce 4 * recursive_doubling if commutative and mpi=mpich and mpi_version=4.0",
    ];
    assert_eq!(found, expected);
}

#[test]
fn small_differences_do_not_add_up() {
    let times = |bytes, tree, ring| cell(bytes, 4, &[("recursive_doubling", tree), ("ring", ring)]);
    let level = (10..20).map(|power| times(1 << power, 9.0, 9.1));
    let cells = std::iter::once(times(64, 9.0, 5.0)).chain(level).collect();
    let found = lines(&[report(cells)], SETTINGS);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].ends_with("* ring"), "{found:?}");
}

#[test]
fn being_slower_than_native_counts_once_more() {
    let one = report(vec![cell(64, 4, &[("recursive_doubling", 7.0), ("ring", 9.0)])]);
    let other = report(vec![cell(64, 4, &[("recursive_doubling", 12.0), ("ring", 10.0)])]);
    let found = lines(&[one, other], SETTINGS);
    assert!(found[0].contains("ring"), "{found:?}");
}

#[test]
fn native_is_a_candidate_where_that_is_asked_for() {
    let cells = || vec![cell(64, 4, &[("recursive_doubling", 20.0)])];
    assert!(lines(&[report(cells())], SETTINGS)[0].contains("recursive_doubling"));
    let found = lines(&[report(cells())], Settings { native: true, ..SETTINGS });
    assert!(found[0].ends_with("native"), "{found:?}");
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
fn places_are_told_apart_where_the_reports_hold_several() {
    let mut crowded = cell(64, 4, &[("ring", 1.0)]);
    crowded.oversubscribed = true;
    let found = lines(&[report(vec![cell(64, 4, &[("recursive_doubling", 1.0)]), crowded])], SETTINGS);
    assert!(found[0].ends_with("recursive_doubling if not_oversubscribed"), "{found:?}");
    assert!(found[1].ends_with("if oversubscribed"), "{found:?}");
}

#[test]
fn an_unknown_algorithm_is_refused() {
    let error = tune(&[report(vec![cell(64, 4, &[("rong", 1.0)])])], SETTINGS).unwrap_err();
    assert!(error.to_string().contains("rong"), "{error}");
}

#[test]
fn the_file_is_read_back() {
    let cells = vec![cell(64, 4, &[("recursive_doubling", 1.0)]), cell(1 << 20, 4, &[("ring", 1.0)])];
    let written = text(&tune(&[report(cells)], SETTINGS).unwrap(), "Measured on\n\none machine");
    let read = parse_rules("tuned.rules", &written).unwrap();
    assert_eq!(read.of(Operation::Allreduce).len(), 2, "{written}");
    assert!(written.starts_with("# Measured on\n#\n# one machine\n"), "{written}");
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

#[test]
fn native_has_what_it_wins_by_more_than_the_noise() {
    let with = |time: f64, width: f64| {
        let mut cell = cell(64, 4, &[("recursive_doubling", time)]);
        let ratio = cell.variants[1].against_native.as_mut().unwrap();
        (ratio.low, ratio.high) = (Some(ratio.ratio / width), Some(ratio.ratio * width));
        cell
    };
    let native = Settings { native: true, extend: Extend::Exact, ..SETTINGS };
    let of = |time, width| lines(&[report(vec![with(time, width)])], native);
    assert_eq!(of(11.0, 1.02), ["allreduce 4 * native"]);
    assert_eq!(of(10.4, 1.20), ["allreduce 4 * recursive_doubling"], "it may be noise");
    assert_eq!(of(14.0, 2.00), ["allreduce 4 * native"], "native is the better guess");
    assert_eq!(of(5.0, 4.00), ["allreduce 4 * recursive_doubling"]);
    assert_eq!(of(10.1, 1.001), ["allreduce 4 * recursive_doubling"], "level");
    assert_eq!(of(5.0, 1.02), ["allreduce 4 * recursive_doubling"]);
    let blocks = tune(&[report(vec![with(11.0, 1.02)])], native).unwrap();
    assert_eq!(blocks[0].sizes, (1, 1));
    assert!(blocks[0].evidence.ends_with("native over this: 64 0.91 native"), "{}", blocks[0].evidence);
    for (time, end) in [(14.0, "64 0.71 native undecided"), (5.0, "64 2.00 undecided")] {
        let blocks = tune(&[report(vec![with(time, 4.0)])], native).unwrap();
        assert!(blocks[0].evidence.ends_with(end), "{}", blocks[0].evidence);
        let tree = tune(&[report(vec![with(time, 4.0)])], Settings { form: Form::Tree, ..native }).unwrap();
        assert!(tree[0].evidence.ends_with("; undecided against native in 1"), "{}", tree[0].evidence);
    }
}

#[test]
fn of_equals_the_one_with_fewer_messages_is_taken() {
    let cells = vec![cell(64, 8, &[("recursive_doubling", 5.0), ("reduce_bcast", 5.04)])];
    let found = lines(&[report(cells)], Settings { extend: Extend::Exact, ..SETTINGS });
    assert!(found[0].starts_with("allreduce 8 * reduce_bcast"), "14 messages, not 24: {found:?}");
}

#[test]
fn what_is_left_to_native_does_not_hide_the_number_of_messages() {
    // Native has no number of messages, and the alphabet would have direct's 56 instead of recursive doubling's 24.
    let of = |bytes, native: f64| {
        let mut cell = cell(bytes, 8, &[("direct", 5.0), ("recursive_doubling", 5.0)]);
        cell.cell.operation = Operation::Allgather;
        cell.variants[0].seconds.median = native / 1e6;
        cell.variants.iter_mut().for_each(|row| row.against_native = None);
        cell
    };
    let cells = vec![of(8, 1.0), of(4096, 10.0), of(1 << 16, 10.0)];
    for form in [Form::Table, Form::Tree] {
        let settings = Settings { form, native: true, extend: Extend::Exact, ..SETTINGS };
        let found = lines(&[report(cells.clone())], settings);
        assert!(found.len() == 2 && found[0].ends_with(" native"), "{found:?}");
        assert!(found[1].ends_with(" recursive_doubling"), "{found:?}");
    }
    // Level with native, it is ours.
    assert!(
        lines(&[report(vec![of(8, 5.0)])], Settings { native: true, ..SETTINGS })[0].ends_with("recursive_doubling")
    );
}

#[test]
fn of_those_with_as_many_messages_the_one_that_reaches_further_is_taken() {
    let of = |names: [&str; 2]| {
        let mut cell = cell(64, 4, &names.map(|name| (name, 5.0)));
        cell.cell.operation = Operation::Bcast;
        cell
    };
    // Three messages each; with more ranks a root that sends to all of them falls behind.
    let names = ["linear", "ring"];
    assert_eq!(lines(&[report(vec![of(names)])], SETTINGS), ["bcast 2-8 * ring"]);
    let exact = Settings { extend: Extend::Exact, ..SETTINGS };
    assert_eq!(lines(&[report(vec![of(names)])], exact), ["bcast 4 * linear"]);
}

#[test]
fn cells_without_an_algorithm_of_ours_change_nothing() {
    let full = report([8, 512, 4096].map(|bytes| cell(bytes, 4, &[("recursive_doubling", 5.0)])).to_vec());
    let auto = report(vec![row(Operation::Allreduce, 512, 4, 1.0)]);
    let evidence = |reports: &[Report]| tune(reports, SETTINGS).unwrap()[0].evidence.clone();
    assert_eq!(evidence(&[full.clone(), auto]), evidence(&[full]));
}

#[test]
fn what_few_cells_hold_is_not_compared_and_told() {
    let of = |times: &[(&str, f64)]| report(vec![cell(512, 4, times)]);
    let both = of(&[("recursive_doubling", 6.0), ("ring", 5.0)]);
    let other = of(&[("recursive_doubling", 6.0), ("reduce_bcast", 1.0)]);
    let exact = Settings { extend: Extend::Exact, ..SETTINGS };
    let rules_text = |reports: &[Report]| text(&tune(reports, exact).unwrap(), "");
    let found = rules_text(&[both.clone(), other.clone()]);
    assert!(found.contains("\n# allreduce, 4 ranks, 512 bytes: compared without reduce_bcast"), "{found}");
    assert!(found.contains(", ring") && found.contains(" recursive_doubling\n"), "{found}");
    // Two against one; and the fastest of what is compared is not measured against what is not.
    let found = rules_text(&[both.clone(), both.clone(), other]);
    let words = "\n# allreduce, 4 ranks, 512 bytes: compared from 2 of 3 cells, without reduce_bcast";
    assert!(found.contains(words) && found.contains(" ring\n"), "{found}");
    let found = rules_text(&[of(&[("ring", 5.0)]), of(&[("recursive_doubling", 6.0)])]);
    assert!(found.contains("compared from 1 of 2 cells, without recursive_doubling"), "{found}");
    assert!(!rules_text(&[both.clone(), both]).contains("compared"));
}

#[test]
fn a_row_ends_where_times_meet() {
    // Native's time jumps beyond a length between the two sizes. Up to there little is lost, and beyond much.
    let of = |bytes, native: f64, ours: f64| {
        let mut cell = cell(bytes, 4, &[("recursive_doubling", ours)]);
        cell.variants[0].seconds.median = native / 1e6;
        cell.variants.iter_mut().for_each(|row| row.against_native = None);
        cell
    };
    let dense = vec![of(2048, 3.2, 3.8), of(4096, 22.0, 5.0), of(8192, 25.0, 6.0)];
    let sparse = vec![dense[0].clone(), dense[2].clone()];
    for form in [Form::Table, Form::Tree] {
        let settings = Settings { form, native: true, extend: Extend::Exact, ..SETTINGS };
        let expected = ["allreduce 4 0-2377 native", "allreduce 4 2378-inf recursive_doubling"];
        assert_eq!(lines(&[report(sparse.clone())], settings), expected);
    }
    let native = Settings { native: true, ..SETTINGS };
    let found = validate(&[report(dense)], LeftOut::Size, Model::Table, None, native).unwrap().unwrap();
    // Nothing below 2 KiB was measured that would show native ahead there.
    assert!((found.most - (3.8 / 3.2 - 1.0)).abs() < 1e-9, "{found:?}");
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
fn what_was_measured_over_shared_memory_makes_rules_for_shared_memory() {
    let shared = |mut cell: CellRow| {
        for row in cell.variants.iter_mut().filter(|row| row.variant != "native") {
            row.variant = format!("shared: {}", row.algorithm);
            row.transport = Transport::Shared;
        }
        cell
    };
    let messages = cell(64, 2, &[("recursive_doubling", 5.0), ("ring", 8.0)]);
    let mut both = shared(cell(64, 2, &[("shared_slices", 2.0), ("ring", 1.0)]));
    both.variants.extend(messages.variants.iter().filter(|row| row.variant != "native").cloned());
    let rule = |algorithm: &str, condition: &str| format!("allreduce 2 * {algorithm}{condition}");
    let found = lines(&[report(vec![both.clone()])], SETTINGS);
    let apart = [rule("recursive_doubling", " if no_shared_memory"), rule("ring", " if shared_memory")];
    assert_eq!(found, apart);
    let evidence =
        |settings| tune(&[report(vec![both.clone()])], settings).unwrap().into_iter().map(|block| block.evidence);
    let headings: Vec<_> = evidence(SETTINGS).collect();
    assert!(headings[0].starts_with("allreduce by messages, 2 ranks; native over this: "), "{headings:?}");
    assert!(headings[1].starts_with("allreduce through shared memory, 2 ranks; native over this: "), "{headings:?}");
    let tree = Settings { form: Form::Tree, ..SETTINGS };
    assert_eq!(lines(&[report(vec![both.clone()])], tree), [apart[1].clone(), apart[0].clone()]);
    assert!(evidence(tree).any(|heading| heading.starts_with("allreduce through shared memory, a tree of 1 row over")));
    let alone = shared(cell(64, 2, &[("shared_slices", 2.0), ("ring", 3.0)]));
    assert_eq!(lines(&[report(vec![alone])], SETTINGS), [rule("shared_slices", " if shared_memory")]);
    assert_eq!(lines(&[report(vec![messages])], SETTINGS), [rule("recursive_doubling", "")]);
    // Rules do not tell transports apart there.
    both.ranks_per_node = vec![1, 1];
    assert_eq!(lines(&[report(vec![both])], SETTINGS), [rule("recursive_doubling", "")]);
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
