//! What was learned while the program ran, by kind of call (`COLLIE_MODE=learn`): as ranks tell it, and as it is
//! reported.

use super::units::seconds;
use super::{Bucket, Function};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::sync::Arc;

/// What was learned of one kind of call on communicators of one shape; told by the first rank of each communicator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LearnedRecord {
    /// What was learned of.
    pub key: LearnedKey,
    /// The candidates that could carry out the calls, the default first.
    pub candidates: Vec<TriedRecord>,
    /// Place of the one that did in the end.
    pub incumbent: u32,
    /// Whether trying had ended.
    pub won: bool,
    /// Whether this run has measured any of it: otherwise all times are those of a file.
    pub is_measured: bool,
    /// How often it has begun again, and the calls that it rests on, those on earlier communicators included.
    pub rests_on: (u32, u64),
    /// Calls of a rank.
    pub calls: u64,
    /// Those of them that measured another candidate than the one that carried out the others then.
    pub tried_calls: u64,
    /// What trying has cost.
    pub spent_ns: u64,
    /// What was saved over the default by the slowest rank's times; negative if it was faster.
    pub saved_ns: i64,
    /// The same by the fastest rank's.
    pub saved_fastest_ns: i64,
}

/// A kind of call on communicators of one shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LearnedKey {
    /// Number of ranks.
    pub ranks: u32,
    /// Number of nodes.
    pub nodes: u32,
    /// Ranks on the node that has most of them.
    pub most_on_node: u32,
    /// Whether ranks outnumber the cores of some node.
    pub oversubscribed: bool,
    /// Whether messages within a node went through memory that its ranks share.
    pub shared_memory: bool,
    /// The function.
    pub function: Function,
    /// Size class of the bytes that all ranks know.
    pub bucket: Bucket,
    /// Whether order does not matter.
    pub commutative: bool,
    /// Whether it does not, and the MPI library combines elements all the same (`MPI_Reduce_local`).
    pub reduce_local: bool,
    /// Units for each rank, as far as algorithms ask for them.
    pub units_per_rank: u8,
}

/// A candidate that could carry out calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TriedRecord {
    /// The algorithm with its parameters, or `native`.
    pub algorithm: Arc<str>,
    /// Calls of a rank that it carried out.
    pub calls: u64,
    /// The slowest rank's time per call when it was last measured; 0 if it was not.
    pub ns: u64,
}

/// What was learned while the program ran.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Learned {
    /// What trying has cost, all cells; of a rank, mean over all ranks.
    pub spent_seconds: f64,
    /// What was saved over the defaults, all cells; of a rank, mean over all ranks. Negative if they were faster.
    pub saved_seconds: f64,
    /// The least and the most that was, all cells likewise; absent from older reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved_seconds_between: Option<(f64, f64)>,
    /// Calls of a rank that were made to measure another candidate than the one that carried out the others then; mean
    /// over all ranks.
    pub tried_calls: u64,
    /// Kinds of calls, those first of which most was saved or spent.
    pub cells: Vec<LearnedRow>,
}

/// What was learned of one kind of call, on all communicators of one shape. Calls and times are those of one rank of
/// each communicator, and summed over communicators, which may have no rank in common.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LearnedRow {
    /// MPI's name of the function.
    pub function: String,
    /// Fewest signature bytes of the size class.
    pub bytes_from: u64,
    /// Most of them.
    pub bytes_to: u64,
    /// Whether order does not matter to the reduction's operation; true where nothing is reduced.
    pub commutative: bool,
    /// Whether it does not, and the MPI library combines the elements all the same (`MPI_Reduce_local`): the operation is
    /// user-defined, or the type is one that Collie has no kernel for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reduce_local: bool,
    /// Units for each rank, as far as algorithms ask for them.
    pub units_per_rank: u8,
    /// Ranks of the communicators.
    pub ranks: u32,
    /// Nodes that they are on.
    pub nodes: u32,
    /// Ranks on the node that has most of them.
    pub most_on_node: u32,
    /// Whether ranks outnumber the cores of some node.
    pub oversubscribed: bool,
    /// Whether messages within a node went through memory that its ranks share (`COLLIE_TRANSPORT=shared`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shared_memory: bool,
    /// Who carried the calls out in the end.
    pub algorithm: String,
    /// Whether trying had ended.
    pub won: bool,
    /// Whether all times are those of earlier runs, from the file of `COLLIE_LEARN`: this run has measured none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub from_earlier_runs: bool,
    /// Calls on the communicators, each counted once and not on every rank.
    pub calls: u64,
    /// Those of them that measured another candidate than the one that carried out the others then.
    pub tried_calls: u64,
    /// What trying has cost.
    pub spent_seconds: f64,
    /// What was saved over the default, by the slowest rank's times, which decide; negative if it was faster.
    pub saved_seconds: f64,
    /// The least and the most that was: by the slowest rank's times and by the fastest rank's. A slow rank may wait for
    /// a late one, whoever carries out the call; absent from older reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved_seconds_between: Option<(f64, f64)>,
    /// The candidates that could carry out the calls, the default first.
    pub candidates: Vec<TriedRow>,
}

/// A candidate that could carry out calls.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TriedRow {
    /// The algorithm with its parameters, or `native`.
    pub algorithm: String,
    /// Calls on the communicators that it carried out, each counted once.
    pub calls: u64,
    /// The slowest rank's typical time per call when it was last measured; absent if it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
}

impl LearnedRecord {
    /// Takes in what was learned of the same on another communicator: who carries the calls out is what a winner says,
    /// one that has measured something in this run, the one of the later search, or else what rests on more calls. (How
    /// often a search began says little beside one among other ranks.)
    pub fn add(&mut self, mut other: Self) {
        if !self.tells_more(&other) {
            std::mem::swap(self, &mut other);
        }
        self.calls += other.calls;
        self.tried_calls += other.tried_calls;
        self.spent_ns += other.spent_ns;
        self.saved_ns += other.saved_ns;
        self.saved_fastest_ns += other.saved_fastest_ns;
        for tried in other.candidates {
            match self.candidates.iter_mut().find(|known| known.algorithm == tried.algorithm) {
                Some(known) => {
                    known.calls += tried.calls;
                    known.ns = if known.ns == 0 { tried.ns } else { known.ns };
                }
                None => self.candidates.push(tried),
            }
        }
    }

    fn tells_more(&self, than: &Self) -> bool {
        let key = |of: &Self| (of.won, of.is_measured, of.rests_on);
        key(self) >= key(than)
    }
}

/// Adds records to a list in which each key is once.
pub fn join_learned(all: &mut Vec<LearnedRecord>, others: impl IntoIterator<Item = LearnedRecord>) {
    for other in others {
        match all.iter_mut().find(|known| known.key == other.key) {
            Some(known) => known.add(other),
            None => all.push(other),
        }
    }
}

/// What is reported of a run of so many ranks; nothing if nothing was learned.
pub(super) fn learned(records: &[LearnedRecord], ranks: u32) -> Option<Learned> {
    let mut order: Vec<&LearnedRecord> = records.iter().collect();
    order.sort_by_key(|record| (Reverse(record.saved_ns.unsigned_abs() + record.spent_ns), record.key));
    let cells: Vec<LearnedRow> = order.into_iter().map(row).collect();
    // One rank of each communicator tells what all of its ranks did.
    let mean = |of: fn(&LearnedRow) -> f64| {
        let sum: f64 = cells.iter().map(|row| of(row) * f64::from(row.ranks)).sum();
        sum / f64::from(ranks.max(1))
    };
    let (spent_seconds, saved_seconds) = (mean(|row| row.spent_seconds), mean(|row| row.saved_seconds));
    let saved_seconds_between = Some((
        mean(|row| row.saved_seconds_between.unwrap_or_default().0),
        mean(|row| row.saved_seconds_between.unwrap_or_default().1),
    ));
    let tried_calls = mean(|row| row.tried_calls as f64).round() as u64;
    (!cells.is_empty()).then_some(Learned { spent_seconds, saved_seconds, saved_seconds_between, tried_calls, cells })
}

fn row(record: &LearnedRecord) -> LearnedRow {
    let LearnedRecord { key, candidates, won, calls, tried_calls, .. } = record;
    let tried = |tried: &TriedRecord| TriedRow {
        algorithm: tried.algorithm.as_ref().to_owned(),
        calls: tried.calls,
        seconds: (tried.ns > 0).then(|| seconds(tried.ns as f64)),
    };
    let incumbent = candidates.get(record.incumbent as usize);
    let saved = [record.saved_ns, record.saved_fastest_ns].map(|ns| seconds(ns as f64));
    LearnedRow {
        function: key.function.name().to_owned(),
        bytes_from: key.bucket.first(),
        bytes_to: key.bucket.last(),
        commutative: key.commutative,
        reduce_local: key.reduce_local,
        units_per_rank: key.units_per_rank,
        ranks: key.ranks,
        nodes: key.nodes,
        most_on_node: key.most_on_node,
        oversubscribed: key.oversubscribed,
        shared_memory: key.shared_memory,
        algorithm: incumbent.map_or_else(String::new, |tried| tried.algorithm.as_ref().to_owned()),
        won: *won,
        from_earlier_runs: !record.is_measured,
        calls: *calls,
        tried_calls: *tried_calls,
        spent_seconds: seconds(record.spent_ns as f64),
        saved_seconds: saved[0],
        saved_seconds_between: Some((saved[0].min(saved[1]), saved[0].max(saved[1]))),
        candidates: candidates.iter().map(tried).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::Operation;

    fn record(calls: u64, won: bool, incumbent: u32) -> LearnedRecord {
        let key = LearnedKey {
            ranks: 4,
            nodes: 1,
            most_on_node: 4,
            oversubscribed: false,
            shared_memory: false,
            function: Operation::Bcast.into(),
            bucket: Bucket(4),
            commutative: true,
            reduce_local: false,
            units_per_rank: 2,
        };
        let tried = |algorithm: &str, ns| TriedRecord { algorithm: algorithm.into(), calls, ns };
        let candidates = vec![tried("linear", 900), tried("native", calls)];
        LearnedRecord {
            key,
            candidates,
            incumbent,
            won,
            is_measured: true,
            rests_on: (0, calls),
            calls,
            tried_calls: 3,
            spent_ns: 50,
            saved_ns: -7,
            saved_fastest_ns: 3,
        }
    }

    #[test]
    fn what_tells_most_says_who_it_is_and_all_is_counted() {
        let mut all = vec![record(10, true, 1)];
        let other = LearnedRecord { saved_ns: 107, rests_on: (0, 5), ..record(20, true, 0) };
        join_learned(&mut all, vec![record(500, false, 0), other]);
        let [found] = &all[..] else { panic!("one kind of call") };
        assert_eq!((found.calls, found.tried_calls, found.spent_ns, found.saved_ns), (530, 9, 150, 93));
        assert_eq!((found.incumbent, found.won, found.candidates[1].calls), (1, true, 530));
        // A later search says it better, however few calls there have been since.
        let mut later = all.clone();
        let unfinished = LearnedRecord { rests_on: (2, 9), ..record(9, false, 0) };
        join_learned(&mut later, vec![LearnedRecord { rests_on: (1, 3), ..record(3, true, 0) }, unfinished]);
        assert_eq!((later[0].incumbent, later[0].won, later[0].calls), (0, true, 542));
        let told = learned(&all, 4).unwrap();
        let native = &told.cells[0].candidates[1];
        assert_eq!((told.cells[0].algorithm.as_str(), native.algorithm.as_str()), ("native", "native"));
        assert!((native.seconds.unwrap() - 10e-9).abs() < 1e-15);
        assert!(told.saved_seconds > 92e-9 && told.saved_seconds < 94e-9 && learned(&[], 4).is_none());
        let (least, most) = told.saved_seconds_between.unwrap();
        assert!((least - 9e-9).abs() < 1e-15 && (most - 93e-9).abs() < 1e-15, "{told:?}");
    }

    #[test]
    fn sums_are_of_a_rank_whatever_communicators_it_is_in() {
        // Two pairs of four ranks in the same cell, and the world.
        let pair = || LearnedRecord { key: LearnedKey { ranks: 2, ..record(0, true, 0).key }, ..record(100, true, 0) };
        let mut all = vec![record(1000, true, 0), pair()];
        join_learned(&mut all, vec![pair()]);
        let told = learned(&all, 4).unwrap();
        assert_eq!((told.cells.len(), told.tried_calls), (2, 3 + 3));
        assert!((told.spent_seconds - 100e-9).abs() < 1e-15 && (told.saved_seconds + 14e-9).abs() < 1e-15, "{told:?}");
    }
}
