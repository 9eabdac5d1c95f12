//! What was learned while the program ran.

use super::writer::{Writer, function};
use crate::monitor::{Learned, TriedRow};
use crate::report::quantity::{bytes, duration, of_several, percent, several};

impl Writer<'_> {
    /// The sums, and the kinds of calls that gained or cost most.
    pub fn learned(&mut self, shown: usize) {
        let summary = self.summary;
        let Some(learned) = &summary.learned else { return };
        // What was learned is of the whole run, whatever part of it was recorded.
        let share = match summary.recorded_seconds {
            None => {
                let share = learned.spent_seconds / summary.collective_seconds.mean.max(f64::MIN_POSITIVE);
                format!(" ({})", percent(share))
            }
            Some(_) => " in the whole run".to_owned(),
        };
        self.line(&format!(
            "learned: {} saved (estimate); trying took {}{share}, {} a rank",
            saved(learned),
            duration(learned.spent_seconds),
            several(learned.tried_calls, "call")
        ));
        for row in learned.cells.iter().take(shown) {
            let end = if row.won { "" } else { " so far" };
            let (winner, others): (Vec<&TriedRow>, Vec<&TriedRow>) =
                row.candidates.iter().partition(|tried| tried.algorithm == row.algorithm);
            let of = |tried: &[&TriedRow]| tried.iter().map(|tried| tried_text(tried)).collect::<Vec<_>>().join(", ");
            let (function, size, ranks) =
                (function(&row.function), bytes(row.bytes_from), several(row.ranks.into(), "rank"));
            self.line(&format!("  {function} {size}, {ranks}: {}{end}; {}", of(&winner), of(&others)));
        }
        let rest = learned.cells.len().saturating_sub(shown) as u64;
        if rest > 0 {
            self.rest_of(&of_several(rest, "more kind of calls", "more kinds of calls"));
        }
    }
}

/// An algorithm without its parameters, and its time.
fn tried_text(tried: &TriedRow) -> String {
    let name = tried.algorithm.split_once(':').map_or(tried.algorithm.as_str(), |(name, _)| name);
    format!("{name} {}", tried.seconds.map_or_else(|| "-".to_owned(), duration))
}

/// By the fastest and by the slowest rank's times: both, where they do not read alike.
fn saved(learned: &Learned) -> String {
    let (least, most) = learned.saved_seconds_between.unwrap_or((learned.saved_seconds, learned.saved_seconds));
    let (least, most) = (signed(least), signed(most));
    if least == most { most } else { format!("{least} to {most}") }
}

fn signed(seconds: f64) -> String {
    format!("{}{}", if seconds < 0.0 { "-" } else { "" }, duration(seconds.abs()))
}
