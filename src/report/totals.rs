//! The rows of a report summed up: by function, by communicator, and by who ran the calls.

use crate::monitor::{NATIVE, Row, Summary};
use std::collections::HashMap;
use std::hash::Hash;

/// Calls summed up over rows and ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Total {
    /// Calls of all ranks.
    pub calls: u64,
    /// Signature bytes of them.
    pub bytes: u64,
    /// Time of them, all ranks.
    pub seconds: f64,
    /// Part of it spent waiting for the last rank to arrive, all ranks; nothing where it was not measured.
    pub waiting_seconds: Option<f64>,
}

impl Total {
    fn add(&mut self, row: &Row) {
        self.calls += row.calls_all_ranks;
        self.bytes = self.bytes.wrapping_add(row.bytes);
        self.seconds += row.all_ranks_seconds();
        if let Some(waiting) = row.waiting_seconds {
            *self.waiting_seconds.get_or_insert_default() += waiting * f64::from(row.ranks);
        }
    }

    /// Of all these rows.
    pub fn of<'a>(rows: impl Iterator<Item = &'a Row>) -> Self {
        rows.fold(Self::default(), |mut sum, row| {
            sum.add(row);
            sum
        })
    }
}

/// Sums by what `key` says of a row, most time first, equal ones in the order of the rows.
fn by<'a, K: Copy + Eq + Hash>(summary: &'a Summary, key: impl Fn(&'a Row) -> K) -> Vec<(K, Total)> {
    let mut place_of = HashMap::new();
    let mut totals: Vec<(K, Total)> = Vec::new();
    for row in &summary.rows {
        let key = key(row);
        let place = *place_of.entry(key).or_insert(totals.len());
        if place == totals.len() {
            totals.push((key, Total::default()));
        }
        totals[place].1.add(row);
    }
    totals.sort_by(|left, right| right.1.seconds.total_cmp(&left.1.seconds));
    totals
}

/// By the function's name.
pub fn by_function(summary: &Summary) -> Vec<(&str, Total)> {
    by(summary, |row| row.function.as_str())
}

/// By the communicator's place.
pub fn by_communicator(summary: &Summary) -> Vec<(usize, Total)> {
    by(summary, |row| row.communicator)
}

/// Of the calls that Collie ran.
pub fn ours(summary: &Summary) -> Total {
    Total::of(summary.rows.iter().filter(|row| row.algorithm != NATIVE))
}

/// Of those that the MPI library ran, by the reason, most calls first.
pub fn native(summary: &Summary) -> Vec<(&str, Total)> {
    let mut totals = by(summary, |row| (row.algorithm == NATIVE, row.fallback().unwrap_or(&row.decided_by)));
    totals.retain(|((native, _), _)| *native);
    totals.sort_by_key(|(_, total)| std::cmp::Reverse(total.calls));
    totals.into_iter().map(|((_, reason), total)| (reason, total)).collect()
}

/// The time that all others waited for the rank.
pub fn waited_for(summary: &Summary, rank: u32) -> f64 {
    summary.late.iter().filter(|late| late.rank == rank).map(|late| late.waited_seconds).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitor::Spread;

    fn row(function: &str, algorithm: &str, decided_by: &str, calls: u64) -> Row {
        Row {
            function: function.into(),
            algorithm: algorithm.into(),
            decided_by: decided_by.into(),
            ranks: 2,
            calls_all_ranks: calls,
            total_seconds: Spread { mean: calls as f64, ..Spread::default() },
            ..Row::default()
        }
    }

    #[test]
    fn every_call_is_in_one_of_the_sums() {
        let rows = vec![
            row("MPI_Bcast", "binomial", "default a:1", 5),
            row("MPI_Scan", NATIVE, "observed only", 7),
            row("MPI_Reduce", NATIVE, "fallback: device memory", 2),
            row("MPI_Bcast", NATIVE, "fallback: device memory", 4),
            row("MPI_Reduce", NATIVE, "one rank", 40),
        ];
        let summary = Summary { rows, ..Summary::default() };
        assert_eq!(ours(&summary), Total { calls: 5, seconds: 10.0, ..Total::default() });
        let reasons: Vec<_> = native(&summary).into_iter().map(|(why, total)| (why, total.calls)).collect();
        assert_eq!(reasons, [("one rank", 40), ("observed only", 7), ("device memory", 6)]);
        let functions: Vec<_> = by_function(&summary).into_iter().map(|(name, total)| (name, total.calls)).collect();
        assert_eq!(functions, [("MPI_Reduce", 42), ("MPI_Bcast", 9), ("MPI_Scan", 7)]);
    }
}
