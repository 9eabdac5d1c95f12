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

/// What a total of calls that are in no row is called.
pub const IN_NO_ROW: &str = "not in any row";

/// Of the calls that are in no row: memory had no room for it on their ranks, or on rank 0.
pub fn in_no_row(summary: &Summary) -> Option<Total> {
    if summary.overflow.is_none() && summary.left_out.is_none_or(|left_out| left_out.rows == 0) {
        return None;
    }
    let rows = Total::of(summary.rows.iter());
    let (calls, bytes, seconds) = summary.per_rank.iter().fold((0, 0_u64, 0.0), |(calls, bytes, seconds), rank| {
        (calls + rank.calls, bytes.wrapping_add(rank.bytes), seconds + rank.collective_seconds)
    });
    Some(Total {
        calls: calls.saturating_sub(rows.calls),
        bytes: bytes.wrapping_sub(rows.bytes),
        seconds: f64::max(seconds - rows.seconds, 0.0),
        waiting_seconds: None,
    })
}

/// Of all calls, in rows and in none.
pub fn all(summary: &Summary) -> Total {
    let (rows, others) = (Total::of(summary.rows.iter()), in_no_row(summary).unwrap_or_default());
    Total {
        calls: rows.calls + others.calls,
        bytes: rows.bytes.wrapping_add(others.bytes),
        seconds: rows.seconds + others.seconds,
        waiting_seconds: rows.waiting_seconds,
    }
}

/// Time in collectives of all ranks that no site of the program has: in waits and tests of nonblocking ones, and at
/// sites that rank 0 had no room for.
pub fn at_no_site(summary: &Summary) -> f64 {
    let sites: f64 = summary.sites.iter().map(|row| row.total_seconds.mean * f64::from(row.ranks)).sum();
    f64::max(in_collectives(summary) - sites, 0.0)
}

/// Time in collectives of all ranks.
pub fn in_collectives(summary: &Summary) -> f64 {
    summary.per_rank.iter().map(|rank| rank.collective_seconds).sum()
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
    fn calls_that_memory_had_no_room_for_are_a_part_of_the_whole() {
        use crate::monitor::{OverflowRow, RankRow};
        let rank = |calls, collective_seconds| RankRow { calls, collective_seconds, ..RankRow::default() };
        let mut summary = Summary {
            rows: vec![row("MPI_Bcast", "binomial", "default a:1", 5)],
            per_rank: vec![rank(8, 20.0), rank(12, 30.0)],
            ..Summary::default()
        };
        assert_eq!((in_no_row(&summary), all(&summary).calls), (None, 5));
        summary.overflow = Some(OverflowRow { calls: 15, bytes: 0, seconds: 40.0 });
        let others = Total { calls: 15, seconds: 40.0, ..Total::default() };
        assert_eq!((in_no_row(&summary), all(&summary).calls, all(&summary).seconds), (Some(others), 20, 50.0));
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
