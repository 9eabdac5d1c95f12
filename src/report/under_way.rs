//! Calls that were under way when ranks told what they knew, in words.

use super::quantity::{ranges, several};
use crate::monitor::{CallUnderWayRecord, RankRecord, UnderWayRecord};
use std::collections::BTreeMap;

/// Calls that are named; of the others the number is told.
const NAMED: usize = 4;

/// Of a rank alone, to stand behind other words.
pub fn on_one_rank(record: &UnderWayRecord) -> String {
    let call = |call: &CallUnderWayRecord| format!("{} for {:.1} s", name(call), seconds(call.ns));
    let mut words = listed(record.calls.iter().map(call).collect());
    if record.without_messages > 0 {
        words += &format!("; without the messages sent on {}", communicators(record.without_messages));
    }
    if let Some(left_out) = left_out(record) {
        words += &format!("; without {left_out}");
    }
    words
}

/// Of several ranks, to stand behind other words: each call with its ranks, the longest first.
pub fn on_ranks(records: &[RankRecord]) -> String {
    let mut calls: BTreeMap<String, Vec<(u32, u64)>> = BTreeMap::new();
    for record in records {
        for call in &record.under_way.calls {
            calls.entry(name(call)).or_default().push((record.rank, call.ns));
        }
    }
    let longest = |of: &[(u32, u64)]| of.iter().map(|(_, ns)| *ns).max().unwrap_or_default();
    let mut calls: Vec<_> = calls.into_iter().collect();
    calls.sort_by_key(|(_, of)| std::cmp::Reverse(longest(of)));
    let call = |(name, of): (String, Vec<(u32, u64)>)| {
        let shortest = of.iter().map(|(_, ns)| *ns).min().unwrap_or_default();
        let [from, to] = [shortest, longest(&of)].map(|ns| format!("{:.1} s", seconds(ns)));
        let time = if from == to { from } else { format!("{from} to {to}") };
        let mut ranks: Vec<u32> = of.into_iter().map(|(rank, _)| rank).collect();
        ranks.dedup();
        format!("{name} for {time} (rank{} {})", if ranks.len() == 1 { "" } else { "s" }, ranges(&ranks))
    };
    let mut words = listed(calls.into_iter().map(call).collect());
    let sum = |of: fn(&UnderWayRecord) -> u32| records.iter().map(|record| of(&record.under_way)).sum();
    let all = UnderWayRecord {
        calls: Vec::new(),
        without_messages: sum(|record| record.without_messages),
        left_out: sum(|record| record.left_out),
    };
    words += &on_one_rank(&all);
    words
}

/// What is left out of a rank's record, in words.
pub fn left_out(record: &UnderWayRecord) -> Option<String> {
    (record.left_out > 0).then(|| format!("{} in use at that moment", communicators(record.left_out)))
}

fn listed(calls: Vec<String>) -> String {
    if calls.is_empty() {
        return String::new();
    }
    let more = match calls.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("; under way: {}{more}", calls[..calls.len().min(NAMED)].join(", "))
}

fn name(call: &CallUnderWayRecord) -> String {
    let function = if call.function.is_empty() { "a call" } else { &call.function };
    format!("{function} on {}", call.communicator)
}

fn seconds(ns: u64) -> f64 {
    ns as f64 * 1e-9
}

fn communicators(number: u32) -> String {
    several(number.into(), "communicator")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(number: usize) -> CallUnderWayRecord {
        CallUnderWayRecord { function: "MPI_Barrier".into(), communicator: format!("c{number}"), ns: 1_500_000_000 }
    }

    #[test]
    fn what_is_under_way_is_named_and_what_is_missing_counted() {
        assert_eq!(on_one_rank(&UnderWayRecord::default()), "");
        let one = UnderWayRecord { calls: vec![call(0)], without_messages: 1, left_out: 2 };
        let expected = "; under way: MPI_Barrier on c0 for 1.5 s; without the messages sent on 1 communicator; \
                        without 2 communicators in use at that moment";
        assert_eq!(on_one_rank(&one), expected);
        let many = UnderWayRecord { calls: (0..6).map(call).collect(), ..UnderWayRecord::default() };
        let words = on_one_rank(&many);
        assert!(words.ends_with("MPI_Barrier on c3 for 1.5 s and 2 more"), "{words}");
    }

    #[test]
    fn calls_alike_are_named_once_with_their_ranks() {
        let rank = |rank: u32, calls: Vec<CallUnderWayRecord>, left_out: u32| RankRecord {
            rank,
            under_way: UnderWayRecord { calls, left_out, ..UnderWayRecord::default() },
            ..RankRecord::default()
        };
        let longer = CallUnderWayRecord { ns: 3_000_000_000, ..call(0) };
        let other = CallUnderWayRecord { ns: 2_000_000_000, ..call(1) };
        let ranks = [
            rank(0, vec![call(0)], 1),
            rank(1, vec![longer], 0),
            rank(2, vec![call(0)], 0),
            rank(5, vec![other], 2),
            rank(6, Vec::new(), 0),
        ];
        assert_eq!(
            on_ranks(&ranks),
            "; under way: MPI_Barrier on c0 for 1.5 s to 3.0 s (ranks 0-2), MPI_Barrier on c1 for 2.0 s (rank 5); \
             without 3 communicators in use at that moment"
        );
        assert_eq!(on_ranks(&ranks[4..]), "");
    }
}
