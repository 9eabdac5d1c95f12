//! In mode `best`: which calls were left to the MPI library, and by what.

use crate::monitor::{NATIVE, ONE_RANK, Row};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// What left calls to the MPI library and how many of all ranks, most first; and the number of all calls that could
/// have been replaced. Those that fell back, and those of one rank, are told by themselves.
pub fn to_native(rows: &[Row]) -> (Vec<(Cow<'_, str>, u64)>, u64) {
    count(rows.iter().map(|row| (row.algorithm.as_str(), row.decided_by.as_str(), row.calls_all_ranks)))
}

/// The same of (algorithm, what decided it, calls).
fn count<'a>(rows: impl Iterator<Item = (&'a str, &'a str, u64)>) -> (Vec<(Cow<'a, str>, u64)>, u64) {
    let (mut left, mut all) = (BTreeMap::<Cow<'_, str>, u64>::new(), 0);
    for (algorithm, decided_by, calls) in rows.filter(|(_, by, _)| !["observed only", ONE_RANK].contains(by)) {
        all += calls;
        if algorithm == NATIVE && !decided_by.starts_with("fallback: ") {
            *left.entry(who(decided_by)).or_default() += calls;
        }
    }
    let mut left: Vec<_> = left.into_iter().collect();
    left.sort_by_key(|(_, calls)| Reverse(*calls));
    (left, all.max(1))
}

/// The rows of a table of Collie's count together; of what the user said, each counts by itself.
fn who(decided_by: &str) -> Cow<'_, str> {
    let table = decided_by.strip_prefix("best ").and_then(|row| row.split_once(':'));
    table.map_or(Cow::Borrowed(decided_by), |(table, _)| {
        Cow::Owned(format!("Collie not measured faster (best {table})"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_by_what_left_them() {
        let rows = [
            ("native", "best one_node:5", 10),
            ("native", "best one_node:15", 30),
            ("ring", "best one_node:16", 100),
            ("native", "best: not measured", 50),
            ("native", "my.rules:3", 7),
            ("native", "fallback: intercommunicator", 3),
            ("native", "observed only", 1000),
            ("native", "one rank", 500),
        ];
        let (left, all) = count(rows.into_iter());
        let left: Vec<_> = left.iter().map(|(why, calls)| (why.as_ref(), *calls)).collect();
        assert_eq!(
            left,
            [("best: not measured", 50), ("Collie not measured faster (best one_node)", 40), ("my.rules:3", 7)]
        );
        assert_eq!(all, 200);
    }
}
