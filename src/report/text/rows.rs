//! The table of calls.

use super::writer::{REASONS, TEXTS, Writer, function};
use crate::monitor::Row;
use crate::report::layout::Extent;
use crate::report::names::with_identity;
use crate::report::quantity::{bytes, count, duration, percent, several};
use std::collections::HashSet;

impl Writer<'_> {
    /// The first rows, the others summed up.
    pub fn rows(&mut self, shown: usize) {
        if shown == 0 {
            return;
        }
        let rows = &self.summary.rows[..shown];
        let mut decisions: Vec<&str> = Vec::new();
        let timing: &[&str] =
            if self.summary.sync.is_some() { &["p50", "p99", "max", "wait"] } else { &["mean", "p50", "p99", "max"] };
        let heads = ["function", "communicator", "bytes>=", "algorithm", "calls", "total"].iter().chain(timing);
        let heads = heads.chain(&["share", "by"]).copied();
        let mut table = vec![heads.map(str::to_owned).collect::<Vec<String>>()];
        for row in rows {
            let decision = decisions.iter().position(|decision| *decision == row.decided_by).unwrap_or_else(|| {
                decisions.push(&row.decided_by);
                decisions.len() - 1
            });
            table.push(self.fields(row, letters(decision)));
        }
        self.table(TEXTS, &table);
        self.rest_of_rows(&self.summary.rows[shown..]);
        self.key(&decisions);
        self.origins(rows);
    }

    fn fields(&self, row: &Row, decision: String) -> Vec<String> {
        let mut fields = vec![
            function(&row.function).to_owned(),
            self.names.get(row.communicator).to_owned(),
            bytes(row.bytes_from),
            row.algorithm.clone(),
            count(row.calls),
            duration(row.total_seconds.mean),
        ];
        // Waiting takes the place of the mean, which is total by calls.
        if self.summary.sync.is_none() {
            fields.push(duration(row.mean_seconds));
        }
        fields.extend([row.p50_seconds, row.p99_seconds, row.max_seconds].map(duration));
        if self.summary.sync.is_some() {
            fields.push(row.waiting_seconds.map_or("-".to_owned(), duration));
        }
        fields.extend([percent(row.share), decision]);
        fields
    }

    fn rest_of_rows(&mut self, rows: &[Row]) {
        if rows.is_empty() {
            return;
        }
        let calls = rows.iter().map(|row| row.calls_all_ranks).sum::<u64>();
        // Shares of the rows are those of their communicators' ranks, which do not add up.
        let all = self.summary.whole_seconds() * self.summary.per_rank.len() as f64;
        let share = rows.iter().map(Row::all_ranks_seconds).sum::<f64>() / all.max(f64::MIN_POSITIVE);
        self.line(&format!(
            "and {}: {} {}, {} of the run time",
            several(rows.len() as u64, "more row"),
            several(calls, "call"),
            self.on_ranks(),
            percent(share)
        ));
    }

    fn key(&mut self, decisions: &[&str]) {
        let most = if self.layout.extent == Extent::Screen { REASONS } else { usize::MAX };
        let entries = decisions.iter().enumerate().take(most).map(|(place, text)| format!("{} {text}", letters(place)));
        let mut entries: Vec<String> = entries.collect();
        if decisions.len() > most {
            entries.push(format!("and {} more", decisions.len() - most));
        }
        self.wrapped("decided by: ", &entries);
    }

    /// Where the communicators of these rows come from; on a screen as far as a line holds it.
    fn origins(&mut self, rows: &[Row]) {
        let communicators = &self.summary.communicators;
        let mut seen = HashSet::new();
        let places: Vec<usize> = rows.iter().map(|row| row.communicator).filter(|place| seen.insert(*place)).collect();
        let made = places.into_iter().filter(|place| !communicators[*place].made_by.is_empty());
        let entries: Vec<String> = made
            .map(|place| {
                let row = &communicators[place];
                let ranks = several(row.size.into(), "rank");
                let parent = communicators.iter().position(|other| other.identity == row.parent);
                let parent = parent.map_or(row.parent.as_str(), |parent| self.names.get(parent));
                let name = match with_identity(row).strip_suffix(')') {
                    Some(name) => format!("{name}, {ranks})"),
                    None => format!("{} ({ranks})", with_identity(row)),
                };
                format!("{name} by {} from {parent}", function(&row.made_by))
            })
            .collect();
        match self.layout.extent {
            _ if entries.is_empty() => {}
            // Where most time is spent comes first, and what a line does not hold is left out as a whole.
            Extent::Screen => {
                let (mut shown, mut line) = (1, format!("made: {}", entries[0]));
                let left = |shown: usize| format!(", {} more", entries.len() - shown);
                while let Some(next) = entries.get(shown) {
                    let rest = if shown + 1 < entries.len() { left(shown + 1).len() } else { 0 };
                    if line.chars().count() + 2 + next.chars().count() + rest > self.layout.width {
                        line += &left(shown);
                        break;
                    }
                    line += &format!(", {next}");
                    shown += 1;
                }
                self.line(&line);
            }
            Extent::Most(_) | Extent::All => self.wrapped("made: ", &entries),
        }
    }
}

/// `a` to `z`, then `aa`, `ab` and so on.
fn letters(place: usize) -> String {
    let last = char::from(b'a' + (place % 26) as u8);
    match place / 26 {
        0 => last.to_string(),
        before => letters(before - 1) + &last.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::letters;

    #[test]
    fn a_letter_is_never_given_twice() {
        let all: Vec<String> = (0..800).map(letters).collect();
        assert_eq!([0, 25, 26, 27, 701, 702].map(|place| all[place].as_str()), ["a", "z", "aa", "ab", "zz", "aaa"]);
    }
}
