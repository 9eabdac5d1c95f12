//! Totals by function, communicator and rank, and who ran the calls.

use super::writer::{REASONS, Writer, function, heads};
use crate::monitor::{Area, RankRow, Summary};
use crate::report::layout::Extent;
use crate::report::names::with_identity;
use crate::report::quantity::{bytes, count, duration, percent};
use crate::report::totals::{self, IN_NO_ROW, Total, waited_for};

/// Functions and communicators that are named in a line.
const NAMED: usize = 6;

/// The part of the time below which neither is named in a line.
const NAMED_SHARE: f64 = 0.01;

impl Writer<'_> {
    /// A line for each total, as far as it says more than the rows do.
    pub fn sums_in_short(&mut self) {
        let summary = self.summary;
        let functions = totals::by_function(summary);
        if functions.len() > 1 {
            self.shares("by function: ", functions.iter().map(|(name, total)| (function(name), *total)));
        }
        let communicators = totals::by_communicator(summary);
        // Verdicts are what a screen is for where there are any.
        if communicators.len() > 1 && summary.comparisons.is_empty() {
            let names = self.names;
            self.shares("by communicator: ", communicators.iter().map(|(place, total)| (names.get(*place), *total)));
        }
        self.carried_out();
    }

    /// Parts of the time in collectives, in one line.
    fn shares<'a>(&mut self, lead: &str, totals: impl Iterator<Item = (&'a str, Total)>) {
        let totals: Vec<_> = totals.collect();
        let all = totals::all(self.summary).seconds.max(f64::MIN_POSITIVE);
        let in_no_row = totals::in_no_row(self.summary).map(|total| total.seconds / all);
        let end = in_no_row.map_or_else(String::new, |share| format!(", {IN_NO_ROW} {}", percent(share)));
        let mut line = lead.to_owned();
        let mut left = totals.len();
        let mut rest = 1.0 - in_no_row.unwrap_or(0.0);
        for (place, (name, total)) in totals.iter().enumerate() {
            let share = total.seconds / all;
            let entry = format!("{}{name} {}", if place == 0 { "" } else { ", " }, percent(share));
            // Room for what sums up the others.
            let is_too_long = line.chars().count() + entry.chars().count() + 16 + end.len() > self.layout.width;
            if place > 0 && (place >= NAMED || share < NAMED_SHARE || is_too_long) {
                break;
            }
            line += &entry;
            left -= 1;
            rest -= share;
        }
        if left > 0 {
            line += &format!(", {left} more {}", percent(f64::max(rest, 0.0)));
        }
        self.line(&(line + &end));
    }

    /// What Collie ran and what it did not, with each reason.
    pub fn carried_out(&mut self) {
        let summary = self.summary;
        if summary.rows.is_empty() {
            return;
        }
        let all = totals::all(summary);
        let part = |total: Total, of: [&str; 2]| {
            let (calls, seconds) =
                (total.calls as f64 / all.calls.max(1) as f64, total.seconds / all.seconds.max(f64::MIN_POSITIVE));
            format!("{} = {}{} ({}{})", count(total.calls), percent(calls), of[0], percent(seconds), of[1])
        };
        let reasons = totals::native(summary);
        let most = if self.layout.extent == Extent::Screen { REASONS } else { usize::MAX };
        let mut entries = vec![part(totals::ours(summary), [" of calls", " of time"])];
        if let Some(ours) = entries.first_mut().filter(|_| !reasons.is_empty()) {
            ours.push_str("; native:");
        }
        entries.extend(reasons.iter().take(most).map(|(reason, total)| format!("{reason} {}", part(*total, [""; 2]))));
        if reasons.len() > most {
            entries.push(format!("{} more reasons", reasons.len() - most));
        }
        if let Some(total) = totals::in_no_row(summary) {
            // Rows tell who carried calls out.
            entries.last_mut().expect("there is one").push_str("; by either:");
            entries.push(format!("{IN_NO_ROW} {}", part(total, [""; 2])));
        }
        self.wrapped("run by Collie: ", &entries);
    }

    /// Totals by function.
    pub fn functions(&mut self) {
        let totals = totals::by_function(self.summary);
        let shown = self.layout.rows(totals.len());
        let mut table = heads(&["function"]);
        table[0].extend(total_heads(self.summary));
        for (name, total) in &totals[..shown] {
            let mut fields = vec![function(name).to_owned()];
            fields.extend(self.total_fields(total));
            table.push(fields);
        }
        if let Some(total) = totals::in_no_row(self.summary) {
            table.push([vec![IN_NO_ROW.to_owned()], self.total_fields(&total)].concat());
        }
        let ranks = self.on_ranks();
        let over = ranks.trim_start_matches("on ");
        self.heading(&format!("by function: calls {ranks}; time and waiting of a rank, mean over {over}"));
        self.table(&[0], &table);
        self.rest(totals.len() - shown, "function");
    }

    /// Totals by communicator.
    pub fn communicators(&mut self) {
        let totals = totals::by_communicator(self.summary);
        let shown = self.layout.rows(totals.len());
        let mut table = heads(&["communicator", "made by", "ranks"]);
        table[0].extend(total_heads(self.summary));
        for (place, total) in &totals[..shown] {
            let row = &self.summary.communicators[*place];
            let made_by = if row.made_by.is_empty() { "-" } else { function(&row.made_by) };
            let mut fields = vec![with_identity(row), made_by.to_owned(), row.size.to_string()];
            fields.extend(self.total_fields(total));
            table.push(fields);
        }
        if let Some(total) = totals::in_no_row(self.summary) {
            let fields = [IN_NO_ROW, "-", "-"].map(str::to_owned).to_vec();
            table.push([fields, self.total_fields(&total)].concat());
        }
        self.heading("by communicator");
        self.table(&[0, 1], &table);
        self.rest(totals.len() - shown, "communicator");
    }

    /// Totals by rank; where not all are shown, those with most and those with least time in collectives.
    pub fn ranks(&mut self) {
        let summary = self.summary;
        let mut ranks: Vec<&RankRow> = summary.per_rank.iter().collect();
        let shown = self.layout.rows(ranks.len());
        let left_out = ranks.len() - shown;
        if left_out > 0 {
            ranks.sort_by(|left, right| right.collective_seconds.total_cmp(&left.collective_seconds));
            ranks.drain(shown.div_ceil(2)..shown.div_ceil(2) + left_out);
        }
        let mut table = heads(&["rank", "node", "calls", "bytes", "run time", "collectives", "share"]);
        let (waits, late) = (summary.sync.is_some(), !summary.late.is_empty());
        let areas: Vec<Area> = Area::ALL.into_iter().filter(|area| summary.seconds_in(*area).is_some()).collect();
        let in_part = summary.recorded_seconds.is_some();
        if in_part {
            table[0].insert(5, "recorded".to_owned());
        }
        table[0].extend(areas.iter().map(|area| heading(*area).to_owned()));
        table[0].extend((!areas.is_empty()).then(|| if areas.len() == 1 { "both" } else { "all" }.to_owned()));
        table[0].extend(waits.then(|| "waiting".to_owned()));
        table[0].extend(late.then(|| "others' sum".to_owned()));
        for rank in ranks {
            let share = |seconds: f64| percent(seconds / rank.whole_seconds().max(f64::MIN_POSITIVE));
            let mut fields = vec![
                rank.rank.to_string(),
                rank.host.clone(),
                count(rank.calls),
                bytes(rank.bytes),
                duration(rank.run_seconds),
                duration(rank.collective_seconds),
                share(rank.collective_seconds),
            ];
            if in_part {
                fields.insert(5, duration(rank.whole_seconds()));
            }
            let parts: Vec<Option<f64>> = areas.iter().map(|area| rank.seconds_in(*area)).collect();
            fields.extend(parts.iter().map(|part| part.map_or("-".to_owned(), duration)));
            let all = parts.iter().copied().sum::<Option<f64>>().filter(|_| !parts.is_empty());
            fields.extend(
                (!parts.is_empty())
                    .then(|| all.map_or("-".to_owned(), |seconds| share(rank.collective_seconds + seconds))),
            );
            fields.extend(waits.then(|| rank.waiting_seconds.map_or("-".to_owned(), duration)));
            fields.extend(late.then(|| duration(waited_for(summary, rank.rank))));
            table.push(fields);
        }
        self.heading("by rank");
        self.table(&[1], &table);
        if late {
            self.line("others' sum: how long all others together waited for the rank");
        }
        if left_out > 0 {
            self.line(&format!("and {left_out} more ranks between those with most and those with least time (--all)"));
        }
    }

    fn total_fields(&self, total: &Total) -> Vec<String> {
        let summary = self.summary;
        let ranks = summary.per_rank.len().max(1) as f64;
        let mut fields = vec![
            count(total.calls),
            bytes(total.bytes),
            duration(total.seconds / ranks),
            percent(total.seconds / (summary.whole_seconds() * ranks).max(f64::MIN_POSITIVE)),
            percent(total.seconds / (summary.collective_seconds.mean * ranks).max(f64::MIN_POSITIVE)),
            duration(total.seconds / total.calls.max(1) as f64),
        ];
        if summary.sync.is_some() {
            fields.push(total.waiting_seconds.map_or("-".to_owned(), |waiting| duration(waiting / ranks)));
        }
        fields
    }
}

fn total_heads(summary: &Summary) -> impl Iterator<Item = String> {
    let waiting = summary.sync.is_some().then_some("waiting");
    ["calls", "bytes", "time", "of run", "of coll", "a call"].into_iter().chain(waiting).map(str::to_owned)
}

/// What a column of time in such calls is called.
const fn heading(area: Area) -> &'static str {
    match area {
        Area::PointToPoint => "messages",
        Area::OneSided => "one-sided",
        Area::Files => "files",
    }
}
