//! The difference of runs for people.

use super::changes::{ChangeRow, Difference, Side};
use super::noise::Change;
use crate::report::columns::{columns, shortened};
use crate::report::layout::{Extent, Layout};
use crate::report::quantity::{bytes, count, decimals_apart, duration, percent, several};
use crate::report::text::function;
use std::collections::HashSet;
use std::fmt::Write;

/// The part of the time in collectives that a change has to make up to be shown on a screen, unless none does.
const WORTH_TELLING: f64 = 0.001;

/// The difference; on a screen, and with a number of rows, without noise; on a screen without what is too small to matter.
pub fn render(difference: &Difference, layout: &Layout) -> String {
    let mut text = String::new();
    let mut line = |line: String| {
        writeln!(text, "{}", shortened(line.trim_end(), layout.width)).expect("a string takes every line");
    };
    line(run("A", &difference.a));
    line(run("B", &difference.b));
    difference.recorded.iter().chain(&difference.in_no_row).cloned().for_each(&mut line);
    line(format!(
        "B - A: run time {}{}, in collectives {}{}",
        change(difference.a.run_seconds, difference.b.run_seconds),
        judged(difference.run_change),
        change(difference.a.collective_seconds, difference.b.collective_seconds),
        judged(difference.collective_change)
    ));
    let counted = |wanted| difference.rows.iter().filter(|row| row.change == wanted).count();
    let kinds = [Change::Faster, Change::Slower, Change::Noise, Change::Gone, Change::New];
    let counts: Vec<String> = kinds.map(|kind| format!("{} {}", counted(kind), kind.text())).to_vec();
    line(format!("{}: {}", several(difference.rows.len() as u64, "row"), counts.join(", ")));
    let least = WORTH_TELLING * difference.a.collective_seconds.max(difference.b.collective_seconds);
    let is_one = |row: &&ChangeRow| layout.extent == Extent::All || row.change != Change::Noise;
    let mut rows: Vec<&ChangeRow> = difference.rows.iter().filter(is_one).collect();
    let matters = |row: &&ChangeRow| row.more_seconds.abs() >= least;
    if layout.extent == Extent::Screen && rows.iter().any(matters) {
        rows.retain(matters);
    }
    let shown = layout.rows(rows.len());
    if shown > 0 {
        let heads =
            ["function", "communicator", "bytes>=", "A runs", "B runs", "calls", "mean A", "mean B", "A/B", "", "B-A"];
        let mut table = vec![heads.map(str::to_owned).to_vec()];
        table.extend(rows[..shown].iter().map(|row| fields(row)));
        columns(&mut text, layout.width, &[1, 3, 4, 0, 9], &table);
    }
    rest(&mut text, difference, &rows[..shown], layout);
    text
}

/// What is not shown, and how to read what is.
fn rest(text: &mut String, difference: &Difference, shown: &[&ChangeRow], layout: &Layout) {
    let mut add = |words: &str| {
        let mut line = String::new();
        for word in words.split(' ') {
            if line.chars().count() + word.chars().count() >= layout.width {
                writeln!(text, "{line}").expect("a string takes every line");
                line.clear();
            }
            line += if line.is_empty() { "" } else { " " };
            line += word;
        }
        writeln!(text, "{line}").expect("a string takes every line");
    };
    let shown_rows: HashSet<*const ChangeRow> = shown.iter().map(|row| std::ptr::from_ref(*row)).collect();
    let hidden = difference.rows.iter().filter(|row| !shown_rows.contains(&std::ptr::from_ref(*row)));
    let hidden: Vec<&ChangeRow> = hidden.collect();
    if !hidden.is_empty() {
        let noise = hidden.iter().filter(|row| row.change == Change::Noise).count();
        let sum: f64 = hidden.iter().map(|row| row.more_seconds).sum();
        let rows = match shown {
            [] => format!("{} not shown", several(hidden.len() as u64, "row")),
            _ => format!("and {}", several(hidden.len() as u64, "more row")),
        };
        add(&format!("{rows} (--all shows all), {noise} of them noise: together {} a rank", signed(sum)));
    }
    if !shown.is_empty() {
        let calls =
            if difference.a.runs.max(difference.b.runs) > 1 { "of all calls of all runs" } else { "of all calls" };
        add(&format!(
            "calls: per rank, A/B where they differ; mean: {calls}; A/B above 1: calls of B are faster; B-A: time per \
             rank that B takes more"
        ));
    }
    add(&difference.told_apart_by);
}

fn run(name: &str, side: &Side) -> String {
    let runs = if side.runs > 1 { format!("mean of {} runs, ", side.runs) } else { String::new() };
    let known = side.known_ranks.as_ref();
    let recorded = side.recorded_seconds.map_or(String::new(), |of_it| format!(" ({} recorded)", duration(of_it)));
    let partial = known.map_or(String::new(), |known| format!("PARTIAL: {} of ", known.len()));
    format!(
        "{name}: {runs}run time {}{recorded}, in collectives {} = {}; {partial}{}, mode {}, {}, {}",
        duration(side.run_seconds),
        duration(side.collective_seconds),
        percent(side.collective_share),
        several(side.ranks.into(), "rank"),
        side.mode,
        side.command,
        side.mpi_library
    )
}

/// How much more, also as a part of what was.
fn change(a: f64, b: f64) -> String {
    let part = if a > 0.0 { format!(" ({:+.1}%)", 100.0 * (b - a) / a) } else { String::new() };
    format!("{}{part}", signed(b - a))
}

/// Whether runs of a side differ as much.
fn judged(change: Option<Change>) -> String {
    change.map_or_else(String::new, |change| format!(" = {}", change.text()))
}

fn signed(seconds: f64) -> String {
    if seconds > 0.0 { format!("+{}", duration(seconds)) } else { duration(seconds) }
}

fn fields(row: &ChangeRow) -> Vec<String> {
    let algorithms = |names: &[String]| if names.is_empty() { "-".to_owned() } else { names.join("+") };
    let calls = |calls: f64| count(calls.round() as u64);
    let mean = |mean: Option<f64>| mean.map_or("-".to_owned(), duration);
    let is_apart = matches!(row.change, Change::Faster | Change::Slower);
    let decimals = row.ratio.filter(|_| is_apart).map_or(2, |ratio| decimals_apart(&[ratio]));
    vec![
        function(&row.function).to_owned(),
        row.communicator_title.clone(),
        bytes(row.bytes_from),
        algorithms(&row.a_algorithms),
        if row.a_algorithms == row.b_algorithms { "same".to_owned() } else { algorithms(&row.b_algorithms) },
        if calls(row.a_calls) == calls(row.b_calls) {
            calls(row.a_calls)
        } else {
            format!("{}/{}", calls(row.a_calls), calls(row.b_calls))
        },
        mean(row.a_mean_seconds),
        mean(row.b_mean_seconds),
        row.ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.decimals$}")),
        row.change.text().to_owned(),
        signed(row.more_seconds),
    ]
}
