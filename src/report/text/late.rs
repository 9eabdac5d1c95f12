//! Waiting for late ranks.

use super::writer::{Writer, heads};
use crate::monitor::{CommunicatorRow, LateRow, Row, Summary};
use crate::report::quantity::{count, duration, percent, several};
use crate::report::totals;
use std::collections::BTreeMap;

/// Communicators whose late ranks are named, and how many of them at most.
const LATE: usize = 2;
const LATE_RANKS: usize = 3;

/// The part of the waiting from which on a rank is named beside another one.
const LATE_SHARE: f64 = 0.1;

/// The part of the time in collectives from which on it is told that waiting is not measured there.
const UNMEASURED: f64 = 0.02;

/// The part of the time in collectives in which waiting is not measured: nonblocking ones, those of intercommunicators,
/// those of which no arrival was kept, and those that are in no row.
fn unmeasured(summary: &Summary) -> f64 {
    let time = |row: &Row| row.total_seconds.mean * f64::from(row.ranks);
    let in_no_row = totals::in_no_row(summary).map_or(0.0, |total| total.seconds);
    let all = summary.rows.iter().map(time).sum::<f64>() + in_no_row;
    let without = summary.rows.iter().filter(|row| row.waiting_seconds.is_none()).map(time).sum::<f64>() + in_no_row;
    if all > 0.0 { without / all } else { 0.0 }
}

impl Writer<'_> {
    /// How much was waited, and the ranks that were waited for longest.
    pub fn waiting(&mut self) {
        let summary = self.summary;
        let Some(sync) = &summary.sync else { return };
        let known: Vec<f64> = summary.per_rank.iter().filter_map(|rank| rank.waiting_seconds).collect();
        if known.is_empty() {
            self.line(&format!("waiting for late ranks: not measured in any call (by {sync})"));
            return;
        }
        let waiting: f64 = known.iter().sum();
        let agree = summary.clock.map(|clock| match clock.error_seconds {
            0.0 => ", one for all".to_owned(),
            error => format!(", within {}", duration(error)),
        });
        let ranks = summary.per_rank.len().max(1) as f64;
        self.line(&format!(
            "waiting for late ranks: {} a rank, {} of the time in collectives (by {sync}{})",
            duration(waiting / ranks),
            percent(waiting / (summary.collective_seconds.mean * ranks).max(f64::MIN_POSITIVE)),
            agree.unwrap_or_default()
        ));
        let unmeasured = unmeasured(summary);
        if unmeasured >= UNMEASURED {
            let in_no_row = totals::in_no_row(summary).map_or("", |_| ", or in no row");
            self.line(&format!(
                "waiting not measured in {} of collectives' time: nonblocking, between groups or worlds{in_no_row}",
                percent(unmeasured)
            ));
        }
        let (compared, comparable) = compared_calls(summary);
        if compared < comparable {
            self.line(&format!(
                "arrivals were kept for {} of {}, without those that were refused or found no room",
                count(compared),
                several(comparable, "call")
            ));
        }
        let latest = latest(summary);
        if latest.len() > LATE {
            self.waited_for_on_all(latest.len());
        }
        for ranks in latest.into_iter().take(LATE) {
            self.waited_for(ranks);
        }
    }

    /// The ranks that were waited for longest over all communicators: those named below may be late on two of many only.
    fn waited_for_on_all(&mut self, communicators: usize) {
        let mut by_rank: BTreeMap<u32, f64> = BTreeMap::new();
        for late in &self.summary.late {
            *by_rank.entry(late.rank).or_default() += late.waited_seconds;
        }
        let all = by_rank.values().sum::<f64>().max(f64::MIN_POSITIVE);
        let mut shares: Vec<_> = by_rank.into_iter().map(|(rank, waited)| (rank, waited / all)).collect();
        shares.sort_by(|left, right| right.1.total_cmp(&left.1));
        let named = shares
            .iter()
            .enumerate()
            .take_while(|(place, (_, share))| *place == 0 || (*place < LATE_RANKS && *share >= LATE_SHARE));
        let named: Vec<_> = named.map(|(_, (rank, share))| format!("rank {rank} {}", percent(*share))).collect();
        self.line(&format!(
            "waited for on all {}: {}",
            several(communicators as u64, "communicator"),
            named.join(", ")
        ));
    }

    /// The ranks of one communicator that the others waited for longest, as many as a line holds: how long each of the
    /// others did, and which part of all waiting there that is.
    fn waited_for(&mut self, ranks: &[LateRow]) {
        let place = ranks[0].communicator;
        let row = &self.summary.communicators[place];
        let mut line = String::new();
        for (place, late) in ranks.iter().enumerate() {
            let share = share(late, ranks);
            let (lead, last) = match place {
                0 => (
                    format!("waited for on {}: ", self.names.get(late.communicator)),
                    format!("last in {} of {}", count(late.calls), several(row.compared_calls.unwrap_or(0), "call")),
                ),
                _ => (", ".to_owned(), count(late.calls)),
            };
            let waited = duration(late.waited_seconds / others(row));
            let entry = format!("rank {} {waited} = {} ({last})", late.rank, percent(share));
            let is_worth_telling = place == 0 || (place < LATE_RANKS && share >= LATE_SHARE);
            let length = line.chars().count() + lead.len() + entry.len();
            if !is_worth_telling || (place > 0 && length > self.layout.width) {
                break;
            }
            line += &lead;
            line += &entry;
        }
        self.line(&line);
    }

    /// The table of late ranks: where most was waited first.
    pub fn late(&mut self) {
        let summary = self.summary;
        let mut table = heads(&["communicator", "rank", "each waited", "of waiting", "last in", "of calls"]);
        let rows = latest(summary).into_iter().flat_map(|ranks| ranks.iter().map(move |late| (late, ranks)));
        let shown = self.layout.rows(summary.late.len());
        for (late, ranks) in rows.take(shown) {
            let row = &summary.communicators[late.communicator];
            table.push(vec![
                self.names.get(late.communicator).to_owned(),
                late.rank.to_string(),
                duration(late.waited_seconds / others(row)),
                percent(share(late, ranks)),
                count(late.calls),
                percent(late.calls as f64 / row.compared_calls.unwrap_or(late.calls).max(1) as f64),
            ]);
        }
        if table.len() > 1 {
            self.heading("late ranks: how long each of the others waited for them");
            self.table(&[0], &table);
            self.rest(summary.late.len() - shown, "rank");
        } else if self.layout.table.is_some() {
            self.line(match (&summary.sync, &summary.partial) {
                (Some(_), _) => "nobody waited for a late rank in any call that was measured",
                (None, Some(_)) => "no waiting is told: only all ranks together can tell who waited for whom",
                (None, None) => "no waiting was measured; COLLIE_SYNC=clock measures it",
            });
        }
    }
}

/// The other ranks of the communicator.
fn others(row: &CommunicatorRow) -> f64 {
    f64::from(row.size.saturating_sub(1).max(1))
}

/// The part of a rank in all that was waited on its communicator.
fn share(late: &LateRow, ranks: &[LateRow]) -> f64 {
    let all: f64 = ranks.iter().map(|late| late.waited_seconds).sum();
    late.waited_seconds / all.max(f64::MIN_POSITIVE)
}

/// Calls whose arrivals were compared, and calls that could have been, over communicators.
fn compared_calls(summary: &Summary) -> (u64, u64) {
    let sum = |of: fn(&CommunicatorRow) -> Option<u64>| summary.communicators.iter().filter_map(of).sum();
    (sum(|row| row.compared_calls), sum(|row| row.comparable_calls))
}

/// By communicator the ranks that the others waited for, where the most time was waited first.
pub fn latest(summary: &Summary) -> Vec<&[LateRow]> {
    let mut latest: Vec<&[LateRow]> =
        summary.late.chunk_by(|left, right| left.communicator == right.communicator).collect();
    let waited = |rows: &[LateRow]| rows.iter().map(|row| row.waited_seconds).sum::<f64>();
    latest.sort_by(|left, right| waited(right).total_cmp(&waited(left)));
    latest
}
