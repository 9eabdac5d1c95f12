//! What comes first: what ran, and how long.

use super::writer::{Writer, on_one_line};
use crate::monitor::{Area, Summary};
use crate::report::quantity::{duration, percent, several};

/// Times are measured by clocks that differ a little, and those of short calls are estimated.
const ROUNDING: f64 = 1.01;

impl Writer<'_> {
    /// The first lines.
    pub fn header(&mut self) {
        let summary = self.summary;
        if let Some(partial) = &summary.partial {
            let words: Vec<String> = partial.replace("; ", ", ").split(", ").map(str::to_owned).collect();
            self.wrapped("PARTIAL REPORT: ", &words);
        }
        let known = match summary.per_rank.len() {
            known if known < summary.ranks as usize => format!("{known} of "),
            _ => String::new(),
        };
        self.line(&format!(
            "Collie {} ({}): {known}{} on {}, {}",
            summary.collie_version,
            summary.mode,
            several(summary.ranks.into(), "rank"),
            several(summary.nodes.into(), "node"),
            on_one_line(&summary.mpi_library)
        ));
        let recorded = summary
            .recorded_seconds
            .map_or(String::new(), |seconds| format!(", of which {} recorded (MPI_Pcontrol)", duration(seconds)));
        if summary.rows.is_empty() {
            let none = if summary.recorded_seconds.is_some() { "was recorded" } else { "reached Collie" };
            self.line(&format!("run time {}{recorded}; no collective {none}", duration(summary.run_seconds)));
            return;
        }
        let spread = &summary.collective_seconds;
        let per_rank = match summary.per_rank.len() {
            0 | 1 => String::new(),
            _ => format!(
                " (per rank {} to {}, least on rank {})",
                duration(spread.min),
                duration(spread.max),
                spread.min_rank
            ),
        };
        let collectives =
            format!("in collectives {} = {}{per_rank}", duration(spread.mean), percent(summary.collective_share));
        self.wrapped("", &[format!("run time {}{recorded}", duration(summary.run_seconds)), collectives]);
        if threads_overlap(summary) {
            self.line("times of threads that make calls at once are added up: shares of the run may exceed 100%");
        }
    }
}

/// Whether some rank has spent more time in calls than its run took: its threads were in calls at the same time.
fn threads_overlap(summary: &Summary) -> bool {
    summary.per_rank.iter().any(|rank| {
        let others = Area::ALL.into_iter().filter_map(|area| rank.seconds_in(area)).sum::<f64>();
        rank.collective_seconds + others > rank.whole_seconds() * ROUNDING
    })
}
