//! Parts of the program: regions that it names, and places that it calls from.

use super::writer::{Writer, function, heads};
use crate::monitor::{RegionRow, SiteRow};
use crate::report::quantity::{bytes, count, duration, percent};
use crate::report::sites::titles;
use crate::report::totals::{at_no_site, in_collectives};

/// Regions and sites that are named in a line.
const NAMED: usize = 3;

/// The part of the time in collectives from which on it is worth telling that no site has it: rounding makes some.
const NO_SITE_SHARE: f64 = 0.0005;

impl Writer<'_> {
    /// A line of regions, and one of sites, where there are any.
    pub fn program_in_short(&mut self) {
        let summary = self.summary;
        if !summary.regions.is_empty() {
            let named = summary.regions.iter().take(NAMED).map(|row| {
                let part = |seconds: f64| percent(seconds / row.total_seconds.mean.max(f64::MIN_POSITIVE));
                let messages = match summary.message_seconds {
                    Some(_) => format!(", {} messages", part(row.message_seconds)),
                    None => String::new(),
                };
                let collectives = part(row.collective_seconds);
                format!("{} {} ({collectives} collectives{messages})", row.name, duration(row.total_seconds.mean))
            });
            let line = format!("regions: {}{}", named.collect::<Vec<_>>().join(", "), more(summary.regions.len()));
            self.line(&line);
        }
        if !summary.sites.is_empty() {
            let all = in_collectives(summary).max(f64::MIN_POSITIVE);
            let named = summary.sites.iter().zip(titles(&summary.sites)).take(NAMED);
            let named =
                named.map(|(row, title)| (format!("{} in {title}", function(&row.function)), seconds(row) / all));
            let mut entries: Vec<(String, f64)> = named.collect();
            if let Some((what, share)) = self.no_site() {
                // Most time first: the line may be cut.
                let place = entries.iter().take_while(|entry| entry.1 >= share).count();
                entries.insert(place, (what.to_owned(), share));
            }
            let entries: Vec<_> = entries.iter().map(|(what, share)| format!("{what} {}", percent(*share))).collect();
            let line = format!("called from: {}{}", entries.join(", "), more(summary.sites.len()));
            self.line(&line);
        }
    }

    /// The table of regions.
    pub fn regions(&mut self) {
        let summary = self.summary;
        let rows = &summary.regions;
        if rows.is_empty() {
            if self.layout.table.is_some() {
                self.line("the program has named no regions (collie_region_begin in collie.h)");
            }
            return;
        }
        let shown = self.layout.rows(rows.len());
        let mut table =
            heads(&["region", "ranks", "times", "time", "of run", "max", "rank", "collectives", "messages", "calls"]);
        for RegionRow { name, ranks, entries_all_ranks, total_seconds, .. } in &rows[..shown] {
            table.push(vec![
                name.clone(),
                ranks.to_string(),
                count(*entries_all_ranks),
                duration(total_seconds.mean),
                percent(total_seconds.mean / summary.whole_seconds().max(f64::MIN_POSITIVE)),
                duration(total_seconds.max),
                total_seconds.max_rank.to_string(),
            ]);
        }
        for (fields, row) in table[1..].iter_mut().zip(rows) {
            let part = |seconds: f64| percent(seconds / row.total_seconds.mean.max(f64::MIN_POSITIVE));
            let messages = summary.message_seconds.map_or("-".to_owned(), |_| part(row.message_seconds));
            fields.extend([part(row.collective_seconds), messages, count(row.calls_all_ranks)]);
        }
        self.heading("regions of the program: time of a rank; collectives and messages as parts of it");
        self.table(&[0], &table);
        self.rest(rows.len() - shown, "region");
    }

    /// The table of sites.
    pub fn sites(&mut self) {
        let summary = self.summary;
        let rows = &summary.sites;
        if rows.is_empty() {
            if self.layout.table.is_some() {
                self.line("call sites were not recorded (COLLIE_SITES=on records them)");
            }
            return;
        }
        let ranks = summary.per_rank.len().max(1) as f64;
        let all = in_collectives(summary).max(f64::MIN_POSITIVE);
        let shown = self.layout.rows(rows.len());
        let mut table =
            heads(&["function", "called from", "ranks", "calls", "bytes", "time", "of all", "a call", "max"]);
        for (row, title) in rows[..shown].iter().zip(titles(rows)) {
            table.push(vec![
                function(&row.function).to_owned(),
                title,
                row.ranks.to_string(),
                count(row.calls_all_ranks),
                bytes(row.bytes),
                duration(seconds(row) / ranks),
                percent(seconds(row) / all),
                duration(seconds(row) / row.calls_all_ranks.max(1) as f64),
                duration(row.max_seconds),
            ]);
        }
        if let Some((what, share)) = self.no_site() {
            let time = duration(at_no_site(summary) / ranks);
            let fields = ["-", what, "-", "-", "-", &time, &percent(share), "-", "-"];
            table.push(fields.map(str::to_owned).to_vec());
        }
        self.heading("where the program calls collectives: time of a rank, mean over all ranks");
        self.table(&[1, 0], &table);
        self.rest(rows.len() - shown, "site");
    }
}

impl Writer<'_> {
    /// What of the time in collectives no site has, and which part that is.
    fn no_site(&self) -> Option<(&'static str, f64)> {
        let share = at_no_site(self.summary) / in_collectives(self.summary).max(f64::MIN_POSITIVE);
        let what = match self.summary.left_out {
            Some(left_out) if left_out.sites > 0 => "no site (waits, tests, sites left out)",
            _ => "no site (waits and tests)",
        };
        (share >= NO_SITE_SHARE).then_some((what, share))
    }
}

/// Time in the calls of a site, all ranks.
fn seconds(row: &SiteRow) -> f64 {
    row.total_seconds.mean * f64::from(row.ranks)
}

fn more(all: usize) -> String {
    if all > NAMED { format!(", and {} more", all - NAMED) } else { String::new() }
}
