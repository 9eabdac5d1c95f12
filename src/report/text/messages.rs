//! Calls beside collectives.

use super::writer::{Writer, function, heads};
use crate::monitor::Area;
use crate::report::quantity::{bytes, count, duration, percent};

/// Functions that are named in a line.
const NAMED: usize = 3;

/// The part of the area's time below which they are not, but for the first.
const NAMED_SHARE: f64 = 0.01;

impl Writer<'_> {
    /// A line for each area that there were calls in; its last share is of all that is told by then, collectives first.
    pub fn messages_in_short(&mut self) {
        let summary = self.summary;
        let of_run = |seconds: f64| percent(seconds / summary.whole_seconds().max(f64::MIN_POSITIVE));
        let (mut told, mut together) = (summary.collective_seconds.mean, "both");
        for area in Area::ALL {
            let rows = || summary.messages.iter().filter(move |row| row.area == area);
            let Some(spread) = summary.seconds_in(area).filter(|_| rows().next().is_some()) else { continue };
            let all: f64 = rows().map(|row| row.all_ranks_seconds).sum::<f64>().max(f64::MIN_POSITIVE);
            let named = rows().take(NAMED).enumerate();
            let named = named.filter(|(place, row)| *place == 0 || row.all_ranks_seconds >= NAMED_SHARE * all);
            let named =
                named.map(|(_, row)| format!("{} {}", function(&row.function), percent(row.all_ranks_seconds / all)));
            told += spread.mean;
            self.line(&format!(
                "in {} {} = {} (per rank {} to {}), {together} {}: {}",
                match area {
                    Area::PointToPoint => "point-to-point calls",
                    Area::OneSided => "one-sided calls",
                    Area::Files => "calls on files",
                },
                duration(spread.mean),
                of_run(spread.mean),
                duration(spread.min),
                duration(spread.max),
                of_run(told),
                named.collect::<Vec<_>>().join(", ")
            ));
            together = "all";
        }
    }

    /// A table of them.
    pub fn messages(&mut self) {
        let summary = self.summary;
        if summary.messages.is_empty() {
            if self.layout.table.is_some() {
                let words = match summary.message_seconds {
                    Some(_) => "there were no calls other than collectives",
                    None => "calls other than collectives were not counted (COLLIE_OBSERVE)",
                };
                self.line(words);
            }
            return;
        }
        let ranks = summary.per_rank.len().max(1) as f64;
        let all = (summary.whole_seconds() * ranks).max(f64::MIN_POSITIVE);
        let shown = self.layout.rows(summary.messages.len());
        let mut table = heads(&["function", "calls", "bytes", "time", "of run", "a call", "max rank", "rank"]);
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
        self.heading("calls other than collectives, which are not replaced");
        self.table(&[0], &table);
        self.rest(summary.messages.len() - shown, "function");
    }
}
