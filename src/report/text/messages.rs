//! Point-to-point calls.

use super::writer::{Writer, function, heads};
use crate::report::quantity::{bytes, count, duration, percent};

/// Functions that are named in a line.
const NAMED: usize = 3;

impl Writer<'_> {
    /// One line, where there were such calls.
    pub fn messages_in_short(&mut self) {
        let summary = self.summary;
        let Some(spread) = summary.message_seconds.filter(|_| !summary.messages.is_empty()) else { return };
        let all: f64 = summary.messages.iter().map(|row| row.all_ranks_seconds).sum::<f64>().max(f64::MIN_POSITIVE);
        let of_run = |seconds: f64| seconds / summary.run_seconds.max(f64::MIN_POSITIVE);
        let named = summary.messages.iter().take(NAMED);
        let named = named.map(|row| format!("{} {}", function(&row.function), percent(row.all_ranks_seconds / all)));
        self.line(&format!(
            "in point-to-point calls {} = {} (per rank {} to {}), both {}: {}",
            duration(spread.mean),
            percent(of_run(spread.mean)),
            duration(spread.min),
            duration(spread.max),
            percent(of_run(spread.mean + summary.collective_seconds.mean)),
            named.collect::<Vec<_>>().join(", ")
        ));
    }

    /// A table of them.
    pub fn messages(&mut self) {
        let summary = self.summary;
        if summary.messages.is_empty() {
            if self.layout.table.is_some() {
                let words = match summary.message_seconds {
                    Some(_) => "there were no point-to-point calls",
                    None => "point-to-point calls were not counted (COLLIE_OBSERVE)",
                };
                self.line(words);
            }
            return;
        }
        let ranks = summary.per_rank.len().max(1) as f64;
        let all = (summary.run_seconds * ranks).max(f64::MIN_POSITIVE);
        let shown = self.layout.rows(summary.messages.len());
        let mut table = heads(&["function", "calls", "sent", "time", "of run", "a call", "max rank", "rank"]);
        for row in &summary.messages[..shown] {
            table.push(vec![
                function(&row.function).to_owned(),
                count(row.calls_all_ranks),
                bytes(row.bytes),
                duration(row.all_ranks_seconds / ranks),
                percent(row.all_ranks_seconds / all),
                duration(row.all_ranks_seconds / row.calls_all_ranks.max(1) as f64),
                duration(row.max_seconds),
                row.max_rank.to_string(),
            ]);
        }
        self.heading("point-to-point calls, which are not replaced");
        self.table(&[0], &table);
        self.rest(summary.messages.len() - shown, "function");
    }
}
