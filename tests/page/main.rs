//! The page of a report, opened in a headless Chromium: many rows and many ranks, sorting, words, groups, keys, narrow
//! windows and the colours. Where there is no Chromium, these tests count as ignored, and a line says that they were
//! left out; `COLLIE_TEST_CHROMIUM` names another than that of the path.

mod browser;
mod large;

use browser::Browser;
use collie::monitor::Summary;
use collie::report::{Layout, diff, read, render, render_difference};
use collie::selection::ReportFormat;
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;

/// Seconds until a page of 6,300 rows and 512 ranks is there, and of sorting it.
const OPENS_IN: f64 = 1.0;
const SORTS_IN: f64 = 0.2;

/// Elements of such a page, but for its drawings: as many as rows in sight take, whatever there are.
const ELEMENTS: u64 = 12_000;

fn main() {
    let mut arguments = Arguments::from_args();
    // Times are measured.
    arguments.test_threads.get_or_insert(1);
    let browser = Browser::find();
    let left_out = browser.is_none();
    if left_out && !arguments.list {
        // The runner shows what tests print only where they fail.
        eprintln!(
            "page: NOT TESTED: there is no Chromium here, so no page of a report was opened; to test it, install Debian's \
             package chromium, or name a program in COLLIE_TEST_CHROMIUM"
        );
    }
    let mut trials = vec![
        ("thousands_of_rows_open_and_sort_at_once", thousands_of_rows_open_and_sort_at_once as fn(&Browser)),
        ("rows_are_sorted_found_grouped_and_opened", rows_are_sorted_found_grouped_and_opened),
        ("a_narrow_window_is_no_wider_than_it_is", a_narrow_window_is_no_wider_than_it_is),
        ("labels_keep_their_size_in_every_window", labels_keep_their_size_in_every_window),
        ("a_difference_is_drawn", a_difference_is_drawn),
        ("a_difference_of_parts_says_so", a_difference_of_parts_says_so),
        ("what_was_under_way_comes_first", what_was_under_way_comes_first),
    ];
    #[cfg(feature = "cli")]
    trials.push(("a_measurement_is_drawn", a_measurement_is_drawn));
    let trials = trials.into_iter().map(|(name, test)| {
        let browser = browser.clone();
        let run = move || browser.as_ref().map(test).ok_or_else(|| Failed::from("there is no Chromium here"));
        Trial::test(name, run).with_ignored_flag(left_out)
    });
    libtest_mimic::run(&arguments, trials.collect()).exit();
}

fn page(summary: &Summary) -> String {
    String::from_utf8(render(ReportFormat::Html, summary, &Layout::FILE)).expect("the page is text")
}

fn summary(rows: usize, ranks: u32) -> Summary {
    let text = serde_json::to_vec(&large::report(rows, ranks)).expect("JSON can be written");
    read(&text).expect("the fixture is a report")
}

/// What the script found, on the page in a window of that width.
fn found(browser: &Browser, page: &str, script: &str, width: u32) -> Value {
    let found = browser.run(page, script, width);
    assert_eq!(found["errors"], Value::Array(Vec::new()), "{found}");
    found
}

fn thousands_of_rows_open_and_sort_at_once(browser: &Browser) {
    let page = page(&summary(6300, 512));
    // Other work on the machine makes every try longer, and none shorter.
    let tries: Vec<Value> = (0..3).map(|_| found(browser, &page, include_str!("times.js"), 1280)).collect();
    let least = |name: &str| tries.iter().map(|found| found[name].as_f64().unwrap()).fold(f64::INFINITY, f64::min);
    println!(
        "page: opens in {:.3} s, sorts in {:.3} s, finds words in {:.3} s",
        least("open"),
        least("sort"),
        least("words")
    );
    assert!(least("open") < OPENS_IN && least("sort") < SORTS_IN && least("words") < SORTS_IN, "{tries:?}");
    assert!(tries[0]["elements"].as_u64().unwrap() < ELEMENTS, "{}", tries[0]);
}

fn rows_are_sorted_found_grouped_and_opened(browser: &Browser) {
    for (rows, ranks) in [(6300, 512), (150, 1)] {
        let found = found(browser, &page(&summary(rows, ranks)), include_str!("behaviour.js"), 1280);
        let wrong: Vec<_> =
            found["checks"].as_object().unwrap().iter().filter(|(_, right)| **right != Value::Bool(true)).collect();
        assert!(wrong.is_empty(), "{rows} rows on {ranks} ranks: {wrong:?}");
        assert!(found["checks"].as_object().unwrap().len() >= 15, "{found}");
    }
}

fn a_narrow_window_is_no_wider_than_it_is(browser: &Browser) {
    let found = found(
        browser,
        &page(&summary(200, 8)),
        "result.width = document.documentElement.scrollWidth; result.window = innerWidth;",
        500,
    );
    assert!(found["width"].as_u64() <= found["window"].as_u64(), "{found}");
}

fn labels_keep_their_size_in_every_window(browser: &Browser) {
    let script = "const sizes = [...document.querySelectorAll('#cells svg text')].map(text => text.getBoundingClientRect().height); \
                  result.least = Math.min(...sizes); result.most = Math.max(...sizes); result.labels = sizes.length;";
    for width in [500, 800, 1680] {
        let found = found(browser, &page(&summary(200, 8)), script, width);
        let size = |name: &str| found[name].as_f64().unwrap_or_default();
        assert!(size("least") > 9.0 && size("most") < 20.0 && size("labels") > 3.0, "{width}: {found}");
    }
}

fn a_difference_is_drawn(browser: &Browser) {
    let (before, mut after) = (summary(300, 8), summary(300, 8));
    after.rows.iter_mut().filter(|row| row.function == "MPI_Allreduce").for_each(|row| row.total_seconds.mean *= 0.4);
    let page = render_difference(&diff(&[before], &[after]).unwrap(), ReportFormat::Html, &Layout::FILE);
    let script = "result.heads = [...document.querySelectorAll('#changes th')].map(head => head.textContent); \
                  result.verdicts = [...new Set([...document.querySelectorAll('#changes td.faster')].map(cell => cell.textContent))]; \
                  result.noise = document.querySelectorAll('#all tbody tr').length; \
                  result.sides = document.getElementById('job').innerText;";
    let found = found(browser, std::str::from_utf8(&page).unwrap(), script, 1280);
    assert_eq!(found["verdicts"], serde_json::json!(["B faster"]), "{found}");
    assert!(found["noise"].as_u64().unwrap() > 10 && found["heads"].as_array().unwrap().len() == 13, "{found}");
    assert!(!found["sides"].as_str().unwrap().contains("PARTIAL"), "{found}");
}

fn a_difference_of_parts_says_so(browser: &Browser) {
    let mut part = summary(60, 8);
    part.per_rank.truncate(3);
    (part.partial, part.recorded_seconds) = (Some("3 of 8 ranks".into()), Some(2.0));
    let page = render_difference(&diff(&[part.clone()], &[part]).unwrap(), ReportFormat::Html, &Layout::FILE);
    let script = "result.sides = document.getElementById('job').innerText; \
                  result.note = document.querySelector('#changes .note').innerText;";
    let found = found(browser, std::str::from_utf8(&page).unwrap(), script, 1280);
    let lines: Vec<&str> = found["sides"].as_str().unwrap().lines().collect();
    assert_eq!(lines.len(), 2, "{found}");
    let words = ["PARTIAL: 3 of 8 ranks (0–2)", "2.00 s of 10.0 s recorded (MPI_Pcontrol)"];
    assert!(lines.iter().all(|line| words.iter().all(|words| line.contains(words))), "{found}");
    assert!(found["note"].as_str().unwrap().contains("20.0% of the run time on both sides"), "{found}");
}

/// The reports of single ranks of a job that was ended, merged: what each was in the middle of.
fn what_was_under_way_comes_first(browser: &Browser) {
    let mut report = large::report(60, 64);
    let call = |rank: u32| {
        let [function, communicator] =
            if rank % 8 == 3 { ["", "communicator world/7.0"] } else { ["MPI_Allreduce", "MPI_COMM_WORLD"] };
        serde_json::json!({ "rank": rank, "function": function, "communicator": communicator, "seconds": 600.5 + f64::from(rank) })
    };
    report["partial"] =
        "63 of 64 ranks, as recorded by each: 611s (rank 0) to 612s (rank 9) after the start; missing: 2; under way: \
                         MPI_Allreduce on MPI_COMM_WORLD for 600.5 s to 663.5 s (ranks 0, 1, 4-10 and 46 more)"
            .into();
    report["missing"] = serde_json::json!([2]);
    report["under_way"] = (0..64).filter(|rank| *rank != 2).map(call).collect();
    let page =
        page(&read(&serde_json::to_vec(&report).expect("JSON can be written")).expect("the fixture is a report"));
    let script = "const part = document.querySelector('section'); \
                  result.section = part.id; result.lines = part.innerText.split('\\n'); \
                  result.width = document.documentElement.scrollWidth; result.window = innerWidth;";
    for width in [1280, 500] {
        let found = found(browser, &page, script, width);
        assert_eq!(found["section"], "partial", "{found}");
        // Each call once, with its ranks, however many they are.
        let lines: Vec<&str> = found["lines"].as_array().expect("lines").iter().filter_map(Value::as_str).collect();
        let has = |start: &str, end: &str| lines.iter().any(|line| line.starts_with(start) && line.ends_with(end));
        assert!(has("MPI_Allreduce\tMPI_COMM_WORLD\t55\t0–1, 4–10, 12–18", "\t601 s to 664 s"), "{found}");
        assert!(has("a call\tcommunicator world/7.0\t8\t3–59 by 8", "\t604 s to 660 s"), "{found}");
        assert!(lines.len() < 12, "{found}");
        assert!(found["width"].as_u64() <= found["window"].as_u64(), "{found}");
    }
}

/// What `collie bench --html` writes.
#[cfg(feature = "cli")]
fn a_measurement_is_drawn(browser: &Browser) {
    let variant = |name: &str, microseconds: f64, ratio: Option<f64>| {
        let seconds = |times: f64| microseconds * times / 1e6;
        let against = ratio.map(|ratio| serde_json::json!({ "ratio": ratio, "low": ratio * 0.9, "high": ratio * 1.1 }));
        let spread = serde_json::json!({ "median": seconds(1.0), "p10": seconds(0.9), "p90": seconds(1.5), "min": seconds(0.8) });
        serde_json::json!({ "variant": name, "algorithm": name, "seconds": spread, "against_native": against })
    };
    let cells = (0..20).map(|place| {
        let operation = if place < 10 { "bcast" } else { "allreduce" };
        let native = f64::from(1 << (place % 10));
        serde_json::json!({ "operation": operation, "datatype": "double", "root": 0, "bytes": 8 << (place % 10), "ranks": 4,
            "ranks_per_node": [4], "oversubscribed": false, "rounds": 100, "variants": [variant("native", native, None),
            variant("auto", native / 2.0, Some(2.0)), variant("ring", native * 2.0, Some(0.5)), variant("linear", native, Some(1.0))] })
    });
    let report = serde_json::json!({ "schema_version": 1, "collie_version": "0.1.0", "mpi_library": "An MPI", "cold": false, "runs": 1,
        "seed": 1, "cells": cells.collect::<Vec<_>>() });
    let page = collie::bench::page::html(&serde_json::from_value(report).expect("the fixture is a result"));
    let script = "const tables = [...document.querySelectorAll('table')]; \
                  result.lines = tables.map(table => table.querySelectorAll('tbody tr').length); \
                  result.marked = ['faster', 'slower'].map(name => document.querySelectorAll('td.' + name).length); \
                  result.drawings = document.querySelectorAll('section svg').length; \
                  result.width = document.documentElement.scrollWidth; result.window = innerWidth; \
                  result.text = document.body.innerText;";
    for width in [1280, 500] {
        let found = found(browser, &page, script, width);
        assert_eq!(found["lines"], serde_json::json!([40, 40]), "{found}");
        assert_eq!(
            (&found["marked"], &found["drawings"]),
            (&serde_json::json!([20, 20]), &serde_json::json!(2)),
            "{found}"
        );
        assert!(found["width"].as_u64() <= found["window"].as_u64(), "{found}");
        let text = found["text"].as_str().expect("text");
        let broken = ["undefined", "NaN", "Infinity", "[object"].iter().find(|word| text.contains(**word));
        assert!(broken.is_none(), "{broken:?}: {text}");
    }
}
