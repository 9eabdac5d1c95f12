//! The summary for people: at most some 20 lines of 100 columns.

use super::columns::{WIDTH, columns, shortened};
use super::quantity::{bytes, count, duration, percent};
use crate::monitor::{CommunicatorRow, LateRow, LeftOut, Row, Summary, Verdict};
use crate::selection::SELF_TEST;
use std::fmt::Write;
use std::ops::RangeInclusive;

/// Lines of the whole.
const LINES: usize = 20;

/// Lines that the table takes besides its rows: heads, the rest summed up, the key, where communicators come from.
const LINES_AROUND_ROWS: usize = 5;

/// Rows of the table: however much else there is to say, and however little.
const ROWS: RangeInclusive<usize> = 3..=9;

/// Rows of the comparison.
const COMPARISONS: usize = 6;

/// Communicators whose late ranks are named, and how many of them at most.
const LATE: usize = 2;
const LATE_RANKS: usize = 3;

/// The part of the waiting from which on a rank is named beside another one.
const LATE_SHARE: f64 = 0.1;

/// Columns of the tables that hold texts and may be cut: communicator, algorithm (or verdict), function.
const TEXTS: &[usize] = &[1, 3, 0];

/// Texts in the key of the last column before the rest is left to the other formats.
const REASONS: usize = 6;

/// The report.
pub fn render(summary: &Summary) -> String {
    let (mut text, mut below) = (String::new(), String::new());
    comparison(&mut below, summary);
    verification(&mut below, summary);
    lateness(&mut below, summary);
    fallbacks(&mut below, summary);
    overhead(&mut below, summary);
    header(&mut text, summary);
    let taken = text.lines().count() + below.lines().count() + LINES_AROUND_ROWS;
    cells(&mut text, summary, LINES.saturating_sub(taken).clamp(*ROWS.start(), *ROWS.end()));
    text + &below
}

macro_rules! line {
    ($text:expr, $($format:tt)*) => {{
        let line = format!($($format)*);
        writeln!($text, "{}", shortened(line.trim_end(), WIDTH)).expect("a string takes every line");
    }};
}

fn header(text: &mut String, summary: &Summary) {
    if let Some(partial) = &summary.partial {
        line!(text, "PARTIAL REPORT: {partial}");
    }
    let ranks = if summary.ranks == 1 { "rank" } else { "ranks" };
    let nodes = if summary.nodes == 1 { "node" } else { "nodes" };
    line!(
        text,
        "Collie {} ({}): {} {ranks} on {} {nodes}, {}",
        summary.collie_version,
        summary.mode,
        summary.ranks,
        summary.nodes,
        summary.mpi_library
    );
    if summary.rows.is_empty() {
        line!(text, "run time {}; no collective was called", duration(summary.run_seconds));
        return;
    }
    let spread = &summary.collective_seconds;
    line!(
        text,
        "run time {}, in collectives {} = {} (per rank {} to {}, least on rank {})",
        duration(summary.run_seconds),
        duration(spread.mean),
        percent(summary.collective_share),
        duration(spread.min),
        duration(spread.max),
        spread.min_rank
    );
}

fn cells(text: &mut String, summary: &Summary, most: usize) {
    // A tail of one row would take as many lines as the row.
    let shown = if summary.rows.len() == most + 1 { most + 1 } else { summary.rows.len().min(most) };
    if shown == 0 {
        return;
    }
    let mut decisions: Vec<&str> = Vec::new();
    let timing: &[&str] =
        if summary.sync.is_some() { &["p50", "p99", "max", "wait"] } else { &["mean", "p50", "p99", "max"] };
    let heads = ["function", "communicator", "bytes>=", "algorithm", "calls", "total"].iter().chain(timing);
    let heads = heads.chain(&["share", "by"]).copied();
    let mut table = vec![heads.map(str::to_owned).collect::<Vec<String>>()];
    for row in &summary.rows[..shown] {
        let decision = decisions.iter().position(|decision| *decision == row.decided_by).unwrap_or_else(|| {
            decisions.push(&row.decided_by);
            decisions.len() - 1
        });
        table.push(fields(row, summary, letter(decision)));
    }
    columns(text, TEXTS, &table);
    rest(text, summary, &summary.rows[shown..]);
    key(text, &decisions);
    origins(text, summary, &summary.rows[..shown]);
}

fn letter(place: usize) -> String {
    char::from(b'a' + u8::try_from(place % 26).unwrap_or(0)).to_string()
}

fn fields(row: &Row, summary: &Summary, decision: String) -> Vec<String> {
    let mut fields = vec![
        function(&row.function),
        communicator(summary, row.communicator),
        bytes(row.bytes_from),
        row.algorithm.clone(),
        count(row.calls),
        duration(row.total_seconds.mean),
    ];
    // Waiting takes the place of the mean, which is total by calls.
    if summary.sync.is_none() {
        fields.push(duration(row.mean_seconds));
    }
    fields.extend([row.p50_seconds, row.p99_seconds, row.max_seconds].map(duration));
    if summary.sync.is_some() {
        fields.push(row.waiting_seconds.map_or("-".to_owned(), duration));
    }
    fields.extend([percent(row.share), decision]);
    fields
}

/// The name without `MPI_`, which all of them have.
fn function(name: &str) -> String {
    name.strip_prefix("MPI_").unwrap_or(name).to_owned()
}

fn communicator(summary: &Summary, place: usize) -> String {
    summary.communicators[place].short_title().to_owned()
}

fn rest(text: &mut String, summary: &Summary, rows: &[Row]) {
    if rows.is_empty() {
        return;
    }
    let calls = rows.iter().map(|row| row.calls_all_ranks).sum::<u64>();
    // Shares of the rows are those of their communicators' ranks, which do not add up.
    let all = summary.run_seconds * f64::from(summary.ranks);
    let share = rows.iter().map(Row::all_ranks_seconds).sum::<f64>() / all.max(f64::MIN_POSITIVE);
    line!(
        text,
        "and {} more rows: {} calls on all ranks, {} of the run time",
        rows.len(),
        count(calls),
        percent(share)
    );
}

fn key(text: &mut String, decisions: &[&str]) {
    let mut entries: Vec<String> =
        decisions.iter().enumerate().take(REASONS).map(|(place, text)| format!("{} {text}", letter(place))).collect();
    if decisions.len() > REASONS {
        entries.push(format!("and {} more", decisions.len() - REASONS));
    }
    wrapped(text, "decided by: ", &entries);
}

/// Where the communicators of these rows come from, as far as a line holds it.
fn origins(text: &mut String, summary: &Summary, rows: &[Row]) {
    let mut places: Vec<usize> = rows.iter().map(|row| row.communicator).collect();
    places.sort_unstable();
    places.dedup();
    let made = places.into_iter().filter(|place| !summary.communicators[*place].made_by.is_empty());
    let entries: Vec<String> = made
        .map(|place| {
            let row = &summary.communicators[place];
            let parent = summary.communicators.iter().find(|other| other.identity == row.parent);
            let parent = parent.map_or(row.parent.as_str(), CommunicatorRow::short_title);
            format!("{} ({} ranks) by {} from {parent}", row.short_title(), row.size, function(&row.made_by))
        })
        .collect();
    if !entries.is_empty() {
        line!(text, "made: {}", entries.join(", "));
    }
}

/// Entries separated by commas, in as many lines as they take.
fn wrapped(text: &mut String, lead: &str, entries: &[String]) {
    let mut line = lead.to_owned();
    for (place, entry) in entries.iter().enumerate() {
        let separator = if place + 1 < entries.len() { ", " } else { "" };
        if line.chars().count() + entry.chars().count() + separator.trim_end().len() > WIDTH && line.len() > lead.len()
        {
            line!(text, "{}", line.trim_end());
            line = " ".repeat(lead.len());
        }
        line += entry;
        line += separator;
    }
    line!(text, "{line}");
}

fn comparison(text: &mut String, summary: &Summary) {
    let heads = [
        "function",
        "communicator",
        "bytes>=",
        "verdict",
        "calls",
        "native",
        "collie",
        "by pairs",
        "95% interval",
        "saves",
    ];
    let mut table = vec![heads.map(str::to_owned).to_vec()];
    for row in summary.comparisons.iter().take(COMPARISONS) {
        let interval = row.result.ratio_low.zip(row.result.ratio_high);
        table.push(vec![
            function(&row.function),
            communicator(summary, row.communicator),
            bytes(row.bytes_from),
            row.result.verdict.text().to_owned(),
            count(row.calls),
            duration(row.result.native_median_seconds),
            duration(row.result.collie_median_seconds),
            format!("{:.2}", row.result.ratio),
            interval.map_or("-".to_owned(), |(low, high)| format!("{low:.2}-{high:.2}")),
            row.saved_seconds.map_or("-".to_owned(), duration),
        ]);
    }
    if table.len() == 1 {
        return;
    }
    let verdicts = |wanted| summary.comparisons.iter().filter(|row| row.result.verdict == wanted).count();
    line!(
        text,
        "against {}: {} faster, {} slower, {} no difference, {} too few epochs",
        if summary.mode == SELF_TEST { "itself, to test the comparison" } else { "native" },
        verdicts(Verdict::Faster),
        verdicts(Verdict::Slower),
        verdicts(Verdict::NoDifference),
        verdicts(Verdict::TooFewEpochs)
    );
    columns(text, TEXTS, &table);
    line!(text, "native, collie: medians; by pairs: native/collie of neighbouring epochs, not the medians' ratio");
}

fn verification(text: &mut String, summary: &Summary) {
    let Some(verification) = &summary.verification else { return };
    let calls = count(verification.calls);
    if verification.differences.is_empty() {
        line!(text, "verify: {calls} results on all ranks, all equal to the native ones");
        return;
    }
    line!(text, "verify: {calls} results on all ranks, DIFFERENCES from the native ones:");
    for row in verification.differences.iter().take(3) {
        line!(
            text,
            "  rank {}, {} call {} on {} ({}): element {} is {}, native {}",
            row.rank,
            row.function,
            row.call,
            communicator(summary, row.communicator),
            row.algorithm,
            row.element,
            row.ours,
            row.native
        );
    }
    if verification.differences.len() > 3 {
        line!(text, "  and {} more", verification.differences.len() - 3);
    }
}

fn lateness(text: &mut String, summary: &Summary) {
    let Some(sync) = &summary.sync else { return };
    let waiting = summary.per_rank.iter().filter_map(|rank| rank.waiting_seconds).sum::<f64>();
    let agree = summary.clock.map(|clock| match clock.error_seconds {
        0.0 => ", one for all".to_owned(),
        error => format!(", within {}", duration(error)),
    });
    let ranks = summary.per_rank.len().max(1) as f64;
    line!(
        text,
        "waiting for late ranks: {} a rank, {} of the time in collectives (by {sync}{})",
        duration(waiting / ranks),
        percent(waiting / (summary.collective_seconds.mean * ranks).max(f64::MIN_POSITIVE)),
        agree.unwrap_or_default()
    );
    let (compared, comparable) = compared_calls(summary);
    if compared < comparable {
        line!(text, "arrivals were kept of {} of {} calls", count(compared), count(comparable));
    }
    for ranks in latest(summary).into_iter().take(LATE) {
        waited_for(text, summary, ranks);
    }
}

/// The ranks of one communicator that the others waited for longest, as many as a line holds: how long each of the others
/// did, and which part of all waiting there that is.
fn waited_for(text: &mut String, summary: &Summary, ranks: &[LateRow]) {
    let place = ranks[0].communicator;
    let communicator_row = &summary.communicators[place];
    let calls = communicator_row.compared_calls.unwrap_or(0);
    let all: f64 = ranks.iter().map(|late| late.waited_seconds).sum();
    let others = f64::from(communicator_row.size.saturating_sub(1).max(1));
    let mut line = String::new();
    for (place, late) in ranks.iter().enumerate() {
        let share = late.waited_seconds / all.max(f64::MIN_POSITIVE);
        let (lead, last) = match place {
            0 => (
                format!("waited for on {}: ", communicator(summary, late.communicator)),
                format!("last in {} of {} calls", count(late.calls), count(calls)),
            ),
            _ => (", ".to_owned(), count(late.calls)),
        };
        let waited = duration(late.waited_seconds / others);
        let entry = format!("rank {} {waited} = {} ({last})", late.rank, percent(share));
        let is_worth_telling = place == 0 || (place < LATE_RANKS && share >= LATE_SHARE);
        if !is_worth_telling || (place > 0 && line.chars().count() + lead.len() + entry.len() > WIDTH) {
            break;
        }
        line += &lead;
        line += &entry;
    }
    line!(text, "{line}");
}

/// Calls whose arrivals were compared, and calls that could have been, over communicators.
fn compared_calls(summary: &Summary) -> (u64, u64) {
    let sum = |of: fn(&CommunicatorRow) -> Option<u64>| summary.communicators.iter().filter_map(of).sum();
    (sum(|row| row.compared_calls), sum(|row| row.comparable_calls))
}

/// By communicator the ranks that the others waited for, where the most time was waited first.
fn latest(summary: &Summary) -> Vec<&[LateRow]> {
    let mut latest: Vec<&[LateRow]> =
        summary.late.chunk_by(|left, right| left.communicator == right.communicator).collect();
    let waited = |rows: &[LateRow]| rows.iter().map(|row| row.waited_seconds).sum::<f64>();
    latest.sort_by(|left, right| waited(right).total_cmp(&waited(left)));
    latest
}

fn fallbacks(text: &mut String, summary: &Summary) {
    let reasons = summary.fallbacks();
    if reasons.is_empty() {
        return;
    }
    let calls = summary.rows.iter().map(|row| row.calls_all_ranks).sum::<u64>().max(1);
    let entries: Vec<String> = reasons
        .iter()
        .take(REASONS)
        .map(|(reason, part)| format!("{reason} {} ({})", count(*part), percent(*part as f64 / calls as f64)))
        .collect();
    wrapped(text, "fell back to native, calls on all ranks: ", &entries);
}

fn overhead(text: &mut String, summary: &Summary) {
    let overhead = &summary.overhead;
    let finalize = overhead.finalize_seconds.map(|seconds| format!(", {} in MPI_Finalize", duration(seconds)));
    let dropped = match summary.dropped_events {
        0 => String::new(),
        events => format!("; {} calls missing in the per-call log", count(events)),
    };
    if let Some(beyond) = &summary.beyond {
        line!(
            text,
            "{} calls on all ranks ({} in them) are in no row: COLLIE_MEMORY is used up",
            count(beyond.calls),
            duration(beyond.seconds)
        );
    }
    if let Some(cache) = &summary.cache {
        line!(
            text,
            "kept for calls like earlier ones: {} evicted, {} found no room; {} of {} used at most",
            count(cache.evicted),
            count(cache.refused),
            bytes(cache.most_bytes),
            bytes(cache.bound)
        );
    }
    if let Some(left_out) = &summary.left_out {
        line!(text, "left out for want of memory at rank 0: {}", too_much(left_out).join(", "));
    }
    line!(
        text,
        "monitoring costs {} a call, {} on the busiest rank{}{dropped}",
        duration(overhead.nanoseconds_per_call / 1e9),
        duration(overhead.seconds_per_rank),
        finalize.unwrap_or_default()
    );
}

/// What is not in the report, most important first: the line may be cut.
fn too_much(left_out: &LeftOut) -> Vec<String> {
    let parts = [
        (left_out.rows, "rows"),
        (left_out.differences, "differences"),
        (left_out.comparisons, "comparisons"),
        (left_out.events, "calls of the time line"),
        (left_out.traffic, "pairs of the traffic"),
        (left_out.late, "late ranks"),
        (left_out.members, "communicators' members"),
    ];
    parts.iter().filter(|part| part.0 > 0).map(|(number, of)| format!("{} {of}", count(*number))).collect()
}
