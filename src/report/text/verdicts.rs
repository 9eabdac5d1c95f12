//! Native against ours.

use super::writer::{REASONS, TEXTS, Writer, function, heads};
use crate::monitor::{ComparisonRow, NATIVE, NATIVE_EPOCH, Summary, Verdict};
use crate::report::quantity::{bytes, count, decimals_apart, duration};
use crate::report::totals;
use crate::selection::{Mode, SELF_TEST};

/// Why no call was compared in a mode that compares.
fn why_none(summary: &Summary) -> String {
    if summary.rows.iter().any(|row| row.algorithm != NATIVE || row.decided_by == NATIVE_EPOCH) {
        return "no kind of call was made often enough for an epoch of each of the two".to_owned();
    }
    let reasons = totals::native(summary).into_iter().take(REASONS);
    let reasons: Vec<_> = reasons.map(|(why, total)| format!("{why} {}", count(total.calls))).collect();
    match reasons.is_empty() {
        true => "no collective to compare was recorded".to_owned(),
        false => format!("no call could take turns: {}", reasons.join(", ")),
    }
}

impl Writer<'_> {
    /// The first comparisons.
    pub fn verdicts(&mut self, shown: usize) {
        let summary = self.summary;
        if summary.comparisons.is_empty() {
            // Who asked for verdicts hears why there are none, and so does who asks for just these.
            if [Mode::Compare.name(), SELF_TEST].contains(&summary.mode.as_str()) {
                self.line(&format!("no verdict: {}", why_none(summary)));
            } else if self.layout.table.is_some() {
                self.line("no call was compared: COLLIE_MODE=compare lets native and Collie take turns in a run");
            }
        }
        if shown == 0 || summary.comparisons.is_empty() {
            return;
        }
        let mut table = heads(&[
            "function",
            "communicator",
            "bytes>=",
            "verdict",
            "calls",
            "native",
            "collie",
            "by pairs",
            "95% interval",
            "would save",
        ]);
        for row in &summary.comparisons[..shown.min(summary.comparisons.len())] {
            let interval = row.result.ratio_low.zip(row.result.ratio_high);
            let is_apart = matches!(row.result.verdict, Verdict::Faster | Verdict::Slower);
            let shown = interval.filter(|_| is_apart).map(|(low, high)| [low, row.result.ratio, high]);
            let decimals = shown.map_or(2, |ratios| decimals_apart(&ratios));
            table.push(vec![
                function(&row.function).to_owned() + mark(row),
                self.names.get(row.communicator).to_owned(),
                bytes(row.bytes_from),
                row.result.verdict.text().to_owned(),
                count(row.calls),
                duration(row.result.native_median_seconds),
                duration(row.result.collie_median_seconds),
                format!("{:.decimals$}", row.result.ratio),
                interval.map_or("-".to_owned(), |(low, high)| format!("{low:.decimals$}-{high:.decimals$}")),
                row.saved_seconds.map_or("-".to_owned(), duration),
            ]);
        }
        let verdicts = |wanted| summary.comparisons.iter().filter(|row| row.result.verdict == wanted).count();
        self.line(&format!(
            "against {}: {} faster, {} slower, {} no difference, {} too few epochs{}",
            if summary.mode == SELF_TEST { "itself, to test the comparison" } else { "native" },
            verdicts(Verdict::Faster),
            verdicts(Verdict::Slower),
            verdicts(Verdict::NoDifference),
            verdicts(Verdict::TooFewEpochs),
            // Each row is judged by itself, by an interval of 95 %.
            if summary.mode == SELF_TEST { "" } else { "; of equal rows 5% seem apart" }
        ));
        self.table(TEXTS, &table);
        self.line("medians; by pairs: native/collie of neighbouring epochs; would save: each rank, if Collie ran all");
        let shown = &summary.comparisons[..table.len() - 1];
        for (of, words) in [
            ("*", "*: reductions by operations that are not commutative, compared by themselves"),
            ("+", "+: reductions by user-defined operations, compared by themselves"),
        ] {
            if shown.iter().any(|row| mark(row) == of) {
                self.line(words);
            }
        }
    }
}

/// What tells a row of reductions from that of the usual ones.
const fn mark(row: &ComparisonRow) -> &'static str {
    match (row.commutative, row.reduce_local) {
        (false, _) => "*",
        (true, true) => "+",
        (true, false) => "",
    }
}
