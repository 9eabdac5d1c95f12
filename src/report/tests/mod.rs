//! Every writer on fixed runs; the expected bytes lie in `tests/snapshots`. What writes them anew:
//! `INSTA_UPDATE=always cargo test --features cli,schema --lib report::tests`

mod fixture;

use super::{Extent, Layout, TableOf, Trace, diff, read, render, render_difference};
use crate::algorithm::parse_choice;
use crate::monitor::{
    Collective, CounterId, Event, Function, GapRecord, LateRow, ReadableRecord, Summary, TrafficRow, merge,
};
use crate::operation::Operation;
use crate::selection::ReportFormat::{self, Csv, Html, Json, Text};
use fixture::{compared, full, full_and_compared, full_records, learned, plain, verified, windows_and_files};
use serde_json::Value;

/// The schema as it is handed to users.
const SCHEMA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/report-schema.json");

fn runs() -> [(&'static str, Summary); 7] {
    let empty = merge(Vec::new());
    [
        ("plain", plain()),
        ("full", full()),
        ("compared", compared()),
        ("learned", learned()),
        ("verified", verified()),
        ("windows_and_files", windows_and_files()),
        ("empty", empty),
    ]
}

fn text(format: ReportFormat, summary: &Summary) -> String {
    String::from_utf8(render(format, summary, &Layout::SCREEN)).unwrap()
}

fn laid_out(format: ReportFormat, summary: &Summary, extent: Extent, table: Option<TableOf>) -> String {
    String::from_utf8(render(format, summary, &Layout { extent, table, ..Layout::SCREEN })).unwrap()
}

fn snapshot(name: &str, content: &str) {
    insta::with_settings!({ snapshot_path => "../../../tests/snapshots", prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, content);
    });
}

#[test]
fn text_is_as_it_was() {
    for (name, summary) in runs() {
        snapshot(&format!("{name}.txt"), &text(Text, &summary));
    }
}

#[test]
fn algorithms_of_the_runs_exist() {
    let ours = |algorithm: &&str| !matches!(*algorithm, "native" | "");
    for (name, summary) in runs() {
        let tried = summary.learned.iter().flat_map(|learned| &learned.cells);
        let tried = tried.flat_map(|row| row.candidates.iter().map(|one| (&row.function, &*one.algorithm)));
        let ran = summary.rows.iter().map(|row| (&row.function, &*row.algorithm));
        let differed =
            summary.verification.iter().flat_map(|all| &all.differences).map(|row| (&row.function, &*row.algorithm));
        for (function, algorithm) in ran.chain(tried).chain(differed).filter(|(_, algorithm)| ours(algorithm)) {
            let operation = Operation::ALL.into_iter().find(|operation| operation.row().mpi_name == function);
            let choice = parse_choice(operation.expect("ours run known operations"), algorithm);
            assert!(choice.is_ok(), "{name}: {function}: {:?}", choice.err());
        }
    }
}

#[test]
fn text_fits_a_screen() {
    for (name, summary) in runs() {
        let text = text(Text, &summary);
        assert!(text.lines().count() <= 20, "{name}: {} lines", text.lines().count());
        for line in text.lines() {
            assert!(line.chars().count() <= 100, "{name}: {line}");
            assert!(!line.ends_with(' '), "{name}: {line:?}");
        }
    }
}

#[test]
fn tables_are_as_they_were() {
    snapshot("full_top.txt", &laid_out(Text, &full(), Extent::Most(4), None));
    snapshot("compared_all.txt", &laid_out(Text, &compared(), Extent::All, None));
}

#[test]
fn one_table_alone_is_what_was_asked_for() {
    for (name, table) in TableOf::ALL {
        let tables: String =
            [Text, Csv].map(|format| laid_out(format, &full_and_compared(), Extent::Most(3), Some(table))).join("\n");
        snapshot(&format!("by_{name}"), &tables);
    }
    assert_eq!(
        TableOf::parse("size").unwrap_err(),
        "accepted: row, function, communicator, message, region, site, rank, late, verdict"
    );
}

#[test]
fn a_table_that_the_run_has_nothing_for_says_what_to_do() {
    for (table, words) in [
        (TableOf::Verdicts, "no call was compared: COLLIE_MODE=compare"),
        (TableOf::Late, "COLLIE_SYNC=clock"),
        (TableOf::Regions, "collie_region_begin"),
        (TableOf::Sites, "COLLIE_SITES=on"),
    ] {
        let text = laid_out(Text, &plain(), Extent::Screen, Some(table));
        assert_eq!(text.lines().filter(|line| line.contains(words)).count(), 1, "{text}");
    }
}

#[test]
fn calls_beside_collectives_are_told_by_what_they_deal_with() {
    let tables: String = [TableOf::Messages, TableOf::Ranks]
        .map(|table| {
            [Text, Csv].map(|format| laid_out(format, &windows_and_files(), Extent::All, Some(table))).join("\n")
        })
        .join("\n");
    snapshot("windows_and_files", &tables);
}

#[test]
fn lines_are_as_long_as_the_screen_is_wide() {
    for width in [60, 80, 140, 300] {
        let layout = Layout { extent: Extent::All, ..Layout::SCREEN }.within(width);
        for (name, summary) in runs() {
            let text = String::from_utf8(render(Text, &summary, &layout)).unwrap();
            let longest = text.lines().map(|line| line.chars().count()).max().unwrap();
            // Tables of numbers alone cannot be made any narrower than their numbers.
            assert!(longest <= width.max(115), "{name}: {longest} columns of {width}\n{text}");
            assert!(!text.lines().any(|line| line.ends_with(' ')), "{name}");
        }
    }
    let wide = Layout::SCREEN.within(200);
    let text = String::from_utf8(render(Text, &full(), &wide)).unwrap();
    assert!(text.contains("pipeline:segment=128K") && text.contains("rows of the <grid>"), "{text}");
}

#[test]
fn one_rank_and_tabs_in_versions_read_well() {
    let mut summary = plain();
    (summary.ranks, summary.nodes, summary.mpi_library) = (1, 1, "MPICH Version:\t4.0.2".into());
    summary.communicators[1].size = 1;
    for format in [Text, Html] {
        let text = text(format, &summary);
        assert!(!text.contains('\t') || format == Html && !text.contains("Version:\t"), "{text}");
        assert!(!text.contains("(1 ranks)"), "{text}");
    }
    assert!(text(Text, &summary).contains("1 rank on 1 node, MPICH Version: 4.0.2"));
}

#[test]
fn late_ranks_of_many_communicators_are_named_in_one_line() {
    let mut summary = full();
    assert!(!text(Text, &summary).contains("waited for on all"), "those of two communicators are named one by one");
    let late = |communicator, rank, waited_seconds| LateRow { communicator, rank, calls: 3, waited_seconds };
    summary.late = vec![late(0, 2, 3.0), late(0, 1, 0.5), late(1, 2, 3.0), late(2, 5, 3.4), late(2, 7, 0.1)];
    let told = text(Text, &summary);
    assert!(told.contains("\nwaited for on all 3 communicators: rank 2 60.0%, rank 5 34.0%\n"), "{told}");
}

#[test]
fn shared_memory_is_told_of_where_there_is_any_or_was_to_be() {
    let mut summary = plain();
    assert!(!text(Text, &summary).contains("shared memory"));
    let row = |messages, bytes| TrafficRow { from: 0, to: 1, messages, bytes, on_node: true };
    summary.shared_traffic = vec![row(700, 3 << 20), row(50, 0)];
    summary.traffic = vec![row(3, 24)];
    summary.communicators[1].no_shared_memory = Some("no room in /dev/shm".into());
    let told = text(Text, &summary);
    assert!(told.contains("messages: 750 shared (3M) and 3 by MPI"), "{told}");
    assert!(told.contains("\nno shared memory on 1 communicator: no room in /dev/shm\n"), "{told}");
    assert!(text(Html, &summary).contains("no room in /dev/shm"));
    let memory = |pairs, readable| Some(ReadableRecord { pairs, readable });
    (summary.communicators[0].shared_memory, summary.communicators[1].shared_memory) = (memory(12, 12), None);
    assert!(!text(Text, &summary).contains("process_vm_readv"));
    summary.communicators[1].shared_memory = memory(6, 2);
    let told = text(Text, &summary);
    let words =
        "\nprocess_vm_readv refused for 4 of 6 ordered pairs that share memory: long messages are copied twice\n";
    assert!(told.contains(words), "{told}");
}

/// A run before a change and one after it.
fn before_and_after() -> (Summary, Summary) {
    let (before, mut after) = (plain(), plain());
    after.rows.retain(|row| row.function != "MPI_Scan");
    for row in after.rows.iter_mut().filter(|row| row.function == "MPI_Allreduce") {
        row.total_seconds.mean /= 2.0;
        row.algorithm = "rabenseifner".into();
    }
    (before, after)
}

#[test]
fn diff_is_as_it_was() {
    let (before, after) = before_and_after();
    let difference = diff(&[before], &[after]).unwrap();
    let text =
        |extent| String::from_utf8(render_difference(&difference, Text, &Layout { extent, ..Layout::SCREEN })).unwrap();
    assert!(text(Extent::All).lines().all(|line| line.chars().count() <= 100));
    snapshot("diff.txt", &text(Extent::Screen));
    snapshot("diff_all.txt", &text(Extent::All));
    snapshot("diff.csv", &String::from_utf8(render_difference(&difference, Csv, &Layout::FILE)).unwrap());
    let json: Value = serde_json::from_slice(&render_difference(&difference, Json, &Layout::FILE)).unwrap();
    assert_eq!((&json["rows"][0]["change"], &json["rows"][0]["ratio"]), (&"faster".into(), &2.0.into()));
}

#[test]
fn several_runs_of_a_side_tell_noise_from_differences() {
    let (before, after) = before_and_after();
    let runs = |run: &Summary| {
        [0.97, 1.0, 1.04].map(|factor| {
            let mut run = run.clone();
            run.rows.iter_mut().for_each(|row| row.total_seconds.mean *= factor);
            run
        })
    };
    let difference = diff(&runs(&before), &runs(&after)).unwrap();
    let text = String::from_utf8(render_difference(&difference, Text, &Layout::SCREEN)).unwrap();
    assert!(text.contains("mean of 3 runs") && text.contains("3 faster, 0 slower"), "{text}");
    assert!(text.contains("Welch"), "{text}");
}

#[test]
fn runs_with_more_calls_count_for_more() {
    let run = |calls: u64, seconds: f64| {
        let mut run = plain();
        run.rows.truncate(1);
        let row = &mut run.rows[0];
        (row.calls, row.calls_all_ranks) = (calls, calls * u64::from(row.ranks));
        row.total_seconds.mean = calls as f64 * seconds;
        run
    };
    let (a, b) = ([run(10, 1e-3), run(1000, 10e-3)], [run(10, 1e-3), run(1000, 5e-3)]);
    let difference = diff(&a, &b).unwrap();
    let told = |format| String::from_utf8(render_difference(&difference, format, &Layout::SCREEN)).unwrap();
    let all = Layout { extent: Extent::All, ..Layout::SCREEN };
    let text = String::from_utf8(render_difference(&difference, Text, &all)).unwrap();
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains(" 9.91ms 4.96ms 2.00 noise ") && words.contains("mean: of all calls of all runs;"),
        "{text}"
    );
    let row = &difference.rows[0];
    let seconds = [row.a_mean_seconds, row.b_mean_seconds, row.ratio].map(Option::unwrap);
    let exact = [10.01 / 1010.0, 5.01 / 1010.0, 10.01 / 5.01];
    assert!(seconds.iter().zip(exact).all(|(mean, exact)| (mean / exact - 1.0).abs() < 1e-9), "{seconds:?}");
    let number = |format: ReportFormat| told(format).contains(&seconds[0].to_string());
    assert!([Csv, Json, Html].into_iter().all(number));
}

#[test]
fn a_table_for_programs_has_as_many_rows_as_asked_for() {
    let mut summary = plain();
    let functions: std::collections::HashSet<_> = summary.rows.iter().map(|row| &row.function).collect();
    let (number, all) = (functions.len(), summary.rows.len());
    let most = |summary: &Summary, table, most| laid_out(Csv, summary, Extent::Most(most), Some(table));
    for rows in [1, number - 1, number] {
        assert_eq!(most(&summary, TableOf::Functions, rows).lines().count(), 1 + rows);
    }
    assert_eq!(most(&summary, TableOf::Rows, all - 1).lines().count(), all);
    let difference = diff(&[plain()], &[plain()]).unwrap();
    let layout = Layout { extent: Extent::Most(difference.rows.len() - 1), ..Layout::SCREEN };
    let table = String::from_utf8(render_difference(&difference, Csv, &layout)).unwrap();
    assert_eq!(table.lines().count(), difference.rows.len());
    // What is in no row is no row of its own.
    summary.overflow = Some(crate::monitor::OverflowRow::default());
    for table in [TableOf::Functions, TableOf::Communicators] {
        let table = most(&summary, table, 1);
        assert!(table.lines().count() == 3 && table.lines().last().unwrap().starts_with("not in any row,"), "{table}");
    }
}

#[test]
fn a_communicator_has_one_name_in_all_tables() {
    let name_of = |table: &str, identity: &str| {
        let mut reader = csv::Reader::from_reader(table.as_bytes());
        let heads = reader.headers().unwrap().clone();
        let place = |head: &str| heads.iter().position(|field| field == head).unwrap();
        let (of, name) = (place("communicator"), place("communicator_name"));
        let row = reader.records().map(Result::unwrap).find(|row| &row[of] == identity).unwrap();
        row[name].to_owned()
    };
    let mut run = full();
    run.communicators[1].name = Some("MPI_COMM_WORLD".into());
    let difference = diff(std::slice::from_ref(&run), std::slice::from_ref(&run)).unwrap();
    let changes = String::from_utf8(render_difference(&difference, Csv, &Layout::FILE)).unwrap();
    let sums = laid_out(Csv, &run, Extent::All, Some(TableOf::Communicators));
    for row in &run.communicators {
        let name = row.name.as_deref().unwrap_or_default();
        assert_eq!([&changes, &sums].map(|table| name_of(table, &row.identity)), [name; 2]);
    }
    // People are told which is which.
    let title = difference.rows.iter().find(|row| row.communicator == run.communicators[1].identity).unwrap();
    assert_eq!(title.communicator_title, format!("WORLD ({})", title.communicator));
}

#[test]
fn shares_of_several_runs_are_of_their_sums() {
    let run = |run_seconds: f64, seconds: f64| {
        let mut run = Summary { run_seconds, collective_share: seconds / run_seconds, ..plain() };
        run.collective_seconds.mean = seconds;
        run
    };
    let difference = diff(&[run(10.0, 1.0), run(1.0, 0.9)], &[plain()]).unwrap();
    assert!((difference.a.collective_share - 1.9 / 11.0).abs() < 1e-12);
    let text = String::from_utf8(render_difference(&difference, Text, &Layout::SCREEN)).unwrap();
    assert!(text.starts_with("A: mean of 2 runs, run time 5.50s, in collectives 950ms = 17.3%; "), "{text}");
}

#[test]
fn a_difference_says_what_part_of_the_runs_was_recorded() {
    let run = |recorded_seconds: Option<f64>| {
        let mut run = Summary { run_seconds: 100.0, recorded_seconds, ..plain() };
        run.collective_seconds.mean = 0.5;
        run
    };
    let told = |a: &[Summary], b: &[Summary]| {
        let difference = diff(a, b).unwrap();
        let told = |format| String::from_utf8(render_difference(&difference, format, &Layout::SCREEN)).unwrap();
        let (text, page) = (told(Text), told(Html));
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        let line = text.lines().find(|line| line.starts_with("recorded ")).map(str::to_owned);
        assert!(line.as_ref().is_none_or(|line| page.contains(line)), "{page}");
        (text.lines().next().unwrap().split(';').next().unwrap().to_owned(), line)
    };
    let (whole, part) = (run(None), run(Some(1.0)));
    let of = |runs: &Summary| std::slice::from_ref(runs).to_vec();
    let all = ("A: run time 100s, in collectives 500ms = 0.5%".to_owned(), None);
    assert_eq!(told(&of(&whole), &of(&whole)), all);
    let (side, line) = told(&of(&part), &of(&part));
    assert_eq!(side, "A: run time 100s (1.00s recorded), in collectives 500ms = 50.0%");
    assert_eq!(line.unwrap(), "recorded (MPI_Pcontrol): 1.0% of the run time on both sides; shares are of that");
    let words = "recorded (MPI_Pcontrol): different parts, 1.0% of A's run time, 100.0% of B's; shares are of that";
    assert_eq!(told(&of(&part), &of(&whole)).1.unwrap(), words);
    let (side, _) = told(&[part, whole.clone()], &of(&whole));
    assert_eq!(side, "A: mean of 2 runs, run time 100s (50.5s recorded), in collectives 500ms = 1.0%");
}

#[test]
fn a_side_of_a_difference_is_one_line() {
    let run = Summary { command: "./app first\nsecond\tthird\n".into(), ..plain() };
    let others = Summary { command: "./app other\r\nline".into(), run_seconds: 1.0, ..plain() };
    let difference = diff(&[run, others.clone()], &[others]).unwrap();
    let words = [&difference.a, &difference.b].map(|side| side.command.as_str());
    assert_eq!(words, ["./app first second third (others with other arguments)", "./app other line"]);
    let text = String::from_utf8(render_difference(&difference, Text, &Layout::FILE)).unwrap();
    assert!(["A: ", "B: ", "B - A: "].iter().zip(text.lines()).all(|(start, line)| line.starts_with(start)), "{text}");
}

#[test]
fn runs_that_do_not_belong_together_are_not_compared() {
    let whole = plain();
    let words = |a: &[Summary], b: &[Summary]| diff(a, b).unwrap_err();
    let told = words(&[whole.clone(), Summary { mode: "learn".into(), ..plain() }], &[plain()]);
    assert!(told.contains("runs of A are not alike") && told.contains("number 2 has mode learn"), "{told}");
    let second = Summary { run_seconds: 2.0, ..plain() };
    let told = words(&[plain()], &[plain(), second.clone(), Summary { command: "/bin/other x".into(), ..plain() }]);
    assert!(told.contains("runs of B are not alike") && told.contains("number 3 has program other"), "{told}");
    let told = words(&[plain(), Summary { ranks: whole.ranks + 1, ..plain() }], &[plain()]);
    assert!(told.contains(&format!("number 2 has {} ranks", whole.ranks + 1)), "{told}");
    let told = words(&[plain(), second.clone(), plain()], &[plain()]);
    assert!(told.contains("numbers 1 and 3 of A are the same run"), "{told}");
    let told = words(&[plain(), Summary { mpi_library: "MPICH 9".into(), ..plain() }], &[plain()]);
    assert!(told.contains("number 2 has MPICH 9"), "{told}");
    let others = Summary { command: format!("{} --other", whole.command), ..second };
    let command = diff(&[plain(), others], &[plain()]).unwrap().a.command;
    assert!(command.ends_with(" (others with other arguments)"), "{command}");
    let mut part = Summary { partial: Some("some".into()), ..plain() };
    part.per_rank.truncate(2);
    let told = words(std::slice::from_ref(&whole), std::slice::from_ref(&part));
    let of_all = format!("A has all of {0} ranks, B has 2 of {0} ranks (0-1)", whole.ranks);
    assert!(told.contains(&of_all), "{told}");
    let told = words(&[whole.clone(), part.clone()], &[whole]);
    assert!(told.contains("number 2 has 2 of"), "{told}");
    // Those of the same ranks are, and said to be of a part.
    let difference = diff(&[part.clone()], &[part]).unwrap();
    let text = String::from_utf8(render_difference(&difference, Text, &Layout::FILE)).unwrap();
    assert!(text.lines().take(2).all(|line| line.contains("; PARTIAL: 2 of ")), "{text}");
}

#[test]
fn csv_is_as_it_was() {
    snapshot("full.csv", &laid_out(Csv, &full(), Extent::All, None));
}

#[test]
fn what_found_no_room_is_in_every_form_that_has_a_place_for_it() {
    let (with, without) = (full(), plain());
    assert_eq!(read(&render(Json, &with, &Layout::FILE)).unwrap().cache.map(|cache| cache.evicted), Some(8 * 1_504));
    assert!(text(Text, &with).contains("12032 evicted") && !text(Text, &without).contains("evicted"));
    let data = |summary: &Summary| text(Html, summary).split_once("application/json").unwrap().1.to_owned();
    assert!(data(&with).contains("\"cache\":{") && !data(&without).contains("\"cache\":{"));
}

#[test]
fn reproducible_runs_are_told_and_those_that_cannot_be() {
    let word_of = |mode: &str, reproducible| {
        let summary = Summary { mode: mode.into(), reproducible, ..plain() };
        assert_eq!(read(&render(Json, &summary, &Layout::FILE)).unwrap().reproducible, reproducible);
        let text = text(Text, &summary);
        text.lines().find(|line| line.contains("reproducible")).map(|line| line.split(':').next().unwrap().to_owned())
    };
    assert_eq!((word_of("learn", false), word_of("native", true)), (None, None));
    assert_eq!(["learn", "replace", "best"].map(|mode| word_of(mode, true).unwrap()), ["reproducible"; 3]);
    assert_eq!(["compare", "verify"].map(|mode| word_of(mode, true).unwrap()), ["not reproducible"; 2]);
}

#[test]
fn calls_in_no_row_are_nobodys() {
    let mut summary = plain();
    summary.overflow = Some(crate::monitor::OverflowRow::default());
    summary.per_rank[0].calls += 1_000_000;
    let told = text(Text, &summary);
    assert!(told.contains("; by either:") && told.contains("not in any row 1000000 = "), "{told}");
    assert!(!text(Text, &plain()).contains("by either"));
}

#[test]
fn a_difference_says_which_calls_are_in_no_row() {
    let whole = plain();
    let mut lost = plain();
    lost.overflow = Some(crate::monitor::OverflowRow::default());
    let calls = lost.rows.remove(0).calls_all_ranks;
    let told = |a: &Summary, b: &Summary| {
        let difference = diff(std::slice::from_ref(a), std::slice::from_ref(b)).unwrap();
        let text = String::from_utf8(render_difference(&difference, Text, &Layout::SCREEN)).unwrap();
        text.lines().find(|line| line.starts_with("in no row")).map(str::to_owned)
    };
    assert_eq!(told(&whole, &whole), None);
    let line = told(&whole, &lost).unwrap();
    assert!(line.starts_with(&format!("in no row (COLLIE_MEMORY): {calls} calls of B (")), "{line}");
}

#[test]
fn kinds_of_calls_beyond_the_screen_are_counted() {
    for (more, told) in [(3, "and 1 more kind of calls (--all"), (4, "and 2 more kinds of calls (--all")] {
        let mut summary = learned();
        let learned = summary.learned.as_mut().unwrap();
        learned.cells = vec![learned.cells[0].clone(); 2 + more];
        learned.tried_calls = 1;
        let text = text(Text, &summary);
        assert!(text.contains(told) && text.contains(", 1 call a rank\n"), "{text}");
    }
}

#[test]
fn json_is_as_it_was() {
    snapshot("compared.json", &text(Json, &compared()));
    snapshot("learned.json", &serde_json::to_string_pretty(&learned().learned).unwrap());
}

#[test]
fn trace_is_as_it_was() {
    let records: Vec<_> = full_records().into_iter().take(2).collect();
    let mut trace = Trace::begin(Vec::new(), records[0].started_unix_ns).unwrap();
    for record in &records {
        trace.rank(record).unwrap();
        for event in &record.events {
            trace.event(record, event).unwrap();
        }
    }
    let written = String::from_utf8(trace.end().unwrap()).unwrap();
    let parsed: Value = serde_json::from_str(&written).unwrap();
    let entries = parsed["traceEvents"].as_array().unwrap();
    assert_eq!(entries.len(), 2 * (2 + 24) + 2, "rank 1 has a gap");
    let calls = |entry: &&Value| entry["cat"] == "collective";
    assert!(entries.iter().filter(calls).all(|entry| entry["ts"].as_f64().unwrap() >= 1e6));
    snapshot("trace.json", &written);
}

#[test]
fn a_call_without_room_for_its_counter_is_in_the_trace_with_what_is_known() {
    let record = full_records().remove(0);
    let known = record.events[0];
    let function = Function::blocking(Collective::Scan);
    let overflow = Event { counter: CounterId::overflow(function).number(), ..known };
    let nowhere = Event { communicator: u32::MAX, ..overflow };
    let forgotten = Event { counter: 1000, ..known };
    let mut trace = Trace::begin(Vec::new(), 0).unwrap();
    for event in [overflow, nowhere, forgotten] {
        trace.event(&record, &event).unwrap();
    }
    let parsed: Value = serde_json::from_slice(&trace.end().unwrap()).unwrap();
    let [with, without] = &parsed["traceEvents"].as_array().unwrap()[..] else { panic!("{parsed:#}") };
    assert!([with, without].iter().all(|slice| slice["name"] == "MPI_Scan" && slice["args"]["algorithm"].is_null()));
    assert_eq!(with["args"]["bytes"], known.bytes);
    assert!(with["args"]["communicator"].is_string() && without["args"]["communicator"].is_null());
}

#[test]
fn a_rank_calls_from_several_threads_at_once_if_its_calls_took_longer_than_its_run() {
    let (mut summary, added) = (full(), "times of threads that make calls at once are added up");
    assert!(!text(Text, &summary).contains(added));
    let rank = &mut summary.per_rank[1];
    rank.collective_seconds = rank.run_seconds * 1.1;
    assert!(text(Text, &summary).contains(added));
}

#[test]
fn a_trace_says_where_calls_of_which_rank_are_missing() {
    let mut record = full_records().remove(1);
    let mut written = |gap: Option<GapRecord>| {
        record.gap = gap;
        let mut trace = Trace::begin(Vec::new(), 1000).unwrap();
        trace.rank(&record).unwrap();
        let parsed: Value = serde_json::from_slice(&trace.end().unwrap()).unwrap();
        parsed["traceEvents"].as_array().unwrap().clone()
    };
    assert_eq!(written(None).len(), 2);
    let entries = written(Some(GapRecord { from_unix_ns: 3000, to_unix_ns: 8000, calls: 70 }));
    let [.., name, slice] = &entries[..] else { panic!("{entries:#?}") };
    assert_eq!((&name["tid"], &name["args"]["name"]), (&slice["tid"], &"missing calls".into()));
    assert_eq!((slice["name"].as_str(), slice["pid"].as_u64()), (Some("70 calls missing here"), Some(1)));
    assert_eq!((slice["ts"].as_f64(), slice["dur"].as_f64()), (Some(2.0), Some(5.0)));
    assert_eq!(slice["args"]["calls"], 70);
}

#[test]
fn a_run_that_was_recorded_in_part_says_so_and_shares_are_of_that() {
    let mut records = full_records();
    for record in &mut records {
        record.recorded_ns = Some(record.run_ns / 2);
    }
    let (whole, part) = (full(), merge(records));
    assert!((part.collective_share / whole.collective_share - 2.0).abs() < 1e-9);
    let told = text(Text, &part);
    let heading = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(heading.contains("run time 2.50s, of which 1.25s recorded (MPI_Pcontrol), in collectives"), "{told}");
    assert!(told.contains("least on rank 0)"), "{told}");
    assert!(!text(Text, &whole).contains("recorded"));
    let heads = told.lines().find(|line| line.starts_with("rank ")).map(|line| line.contains("run time recorded"));
    assert_ne!(heads, Some(false), "{told}");
    for table in [&part, &whole] {
        assert_eq!(read(&render(Json, table, &Layout::FILE)).unwrap(), *table);
    }
}

#[test]
fn json_reads_back_as_the_same_run() {
    for (name, summary) in runs() {
        assert_eq!(read(&render(Json, &summary, &Layout::FILE)).unwrap(), summary, "{name}");
    }
}

#[test]
#[cfg(feature = "schema")]
fn json_follows_the_schema() {
    let schema: Value = serde_json::from_slice(&std::fs::read(SCHEMA).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for (name, summary) in runs() {
        let report: Value = serde_json::from_slice(&render(Json, &summary, &Layout::FILE)).unwrap();
        let errors: Vec<String> = validator.iter_errors(&report).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{name}: {errors:?}");
        let mut wrong = report;
        wrong["ranks"] = "eight".into();
        assert!(!validator.is_valid(&wrong));
    }
}

#[test]
fn the_schema_is_the_summarys() {
    let mut schema = schemars::schema_for!(Summary).to_value();
    schema["title"] = "Report of a run under Collie".into();
    schema["description"] = "Written for COLLIE_REPORT=FILE.json. Times are in seconds, sizes in bytes, and shares \
        are parts of 1. Times of several threads of a rank are added up, so that a share of its run may be more \
        than 1. A rank is a rank in MPI_COMM_WORLD. schema_version goes up when a field changes its meaning or goes away."
        .into();
    let expected = serde_json::to_string_pretty(&schema).unwrap() + "\n";
    if std::env::var_os("INSTA_UPDATE").is_some_and(|value| value == "always") {
        std::fs::write(SCHEMA, &expected).unwrap();
    }
    let found = std::fs::read_to_string(SCHEMA).unwrap();
    let advice = "run INSTA_UPDATE=always cargo test --features cli,schema --lib report::tests";
    assert!(found == expected, "docs/report-schema.json is not current; {advice}");
}

#[test]
fn reports_of_other_versions_are_told_apart_from_no_reports() {
    assert!(read(b"{\"schema_version\": 99}").unwrap_err().to_string().contains("version 99"));
    assert!(read(b"{}").unwrap_err().to_string().starts_with("found an empty JSON object; accepted: a report"));
    assert!(read(b"ranks=8").is_err());
}

#[test]
fn the_page_needs_nothing_else_and_no_text_gets_out_of_its_data() {
    let mut summary = full();
    summary.command = "./a </script><script>alert(1)</script> {{data}} {{script}}".into();
    let page = text(Html, &summary);
    assert!(!page.contains("<script>alert"));
    assert_eq!(page.matches("</script>").count(), 3);
    let allowed = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!allowed.contains("http://") && !allowed.contains("https://") && !allowed.contains("src="));
    let (_, data) = page.split_once("type=\"application/json\">").unwrap();
    let (data, _) = data.split_once("</script>").unwrap();
    assert_eq!(read(data.as_bytes()).unwrap(), summary);
    assert!(page.matches("<figure>").count() >= 5 && page.contains("MPI_Bcast on MPI_COMM_WORLD"));
}
