//! What rows come out of which measurements.

use super::super::*;
use super::made_up::{SETTINGS, cell, lines};
use crate::algorithm::Operation;
use crate::bench::cell::Datatype;
use crate::bench::result::tests::{report, row};
use crate::bench::result::{CellRow, Report, VariantRow};
use crate::bench::statistics::Ratio;
use crate::selection::{Transport, parse_rules};

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
    let of_another = Report { mpi_library: "MPICH Version: 4.0.2".to_owned(), ..other.clone() };
    let found = lines(&[one.clone(), of_another], SETTINGS);
    assert!(found[0].contains("ring"), "{found:?}");
    // Of one library both say together how it compares.
    let found = lines(&[one, other], SETTINGS);
    assert!(found[0].contains("recursive_doubling"), "{found:?}");
}

#[test]
fn the_worst_of_many_jobs_leaves_nothing_to_native() {
    let jobs = [9.5, 9.6, 9.4, 10.7, 9.5, 9.6].map(|time| report(vec![cell(64, 4, &[("ring", time)])]));
    let found = lines(&jobs, Settings { native: true, extend: Extend::Exact, ..SETTINGS });
    assert!(found.len() == 1 && found[0].ends_with(" ring"), "{found:?}");
    let elsewhere = jobs.map(|job| Report { mpi_library: "MPICH Version: 4.0.2".to_owned(), ..job });
    let lost = report(vec![cell(64, 4, &[("ring", 12.0)])]);
    let found =
        lines(&[&elsewhere[..], &[lost]].concat(), Settings { native: true, extend: Extend::Exact, ..SETTINGS });
    assert!(found.len() == 1 && found[0].ends_with(" native"), "one library is slower with it: {found:?}");
}

#[test]
fn losses_that_are_certain_in_each_of_two_datatypes_count() {
    let settings = Settings { native: true, extend: Extend::Exact, ..SETTINGS };
    let of = |datatype, time| {
        let mut cell = cell(64, 4, &[("ring", time)]);
        cell.cell.datatype = datatype;
        cell
    };
    let both = |int: f64| lines(&[report(vec![of(Datatype::Double, 10.4), of(Datatype::Int, int)])], settings);
    assert!(both(10.3)[0].ends_with(" native"), "{:?}", both(10.3));
    assert!(both(9.5)[0].ends_with(" ring"), "level in the mean: {:?}", both(9.5));
    // What no rank knows cannot decide, and sizes are no jobs: the worst one counts.
    let of_size = |bytes, time| {
        let mut cell = cell(bytes, 4, &[("pairwise", time), ("linear", time * 1.5)]);
        cell.cell.operation = Operation::Alltoallv;
        cell
    };
    let found = lines(&[report(vec![of_size(8, 2.5), of_size(1 << 20, 30.0)])], SETTINGS);
    assert_eq!(found.len(), 1, "{found:?}");
    let losing = lines(&[report(vec![of_size(8, 9.0), of_size(1 << 20, 30.0)])], settings);
    assert!(losing.len() == 1 && losing[0].ends_with(" native"), "{losing:?}");
}

#[test]
fn native_is_a_candidate_where_that_is_asked_for() {
    let cells = || vec![cell(64, 4, &[("recursive_doubling", 20.0)])];
    assert!(lines(&[report(cells())], SETTINGS)[0].contains("recursive_doubling"));
    let found = lines(&[report(cells())], Settings { native: true, ..SETTINGS });
    assert!(found[0].ends_with("native"), "{found:?}");
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
