//! Native and ours in turns: even epochs of calls run natively, odd ones with Collie's algorithm.
//!
//! One execution per call, so the program keeps its cost and its meaning. All ranks count the same calls of a
//! communicator, so they agree on the epoch without a message. Epochs 2k and 2k + 1 are a pair, of which either may
//! come first ([`Turn`](super::Turn)).

use super::{Bucket, EpochsRecord, FoldKind, Function};
use std::collections::HashMap;

/// Most epochs that a counter keeps: 256 observations a side are plenty for the test, 8 KiB a counter.
pub(super) const MOST: usize = 512;

/// One communicator's epochs on one rank. Durations in ticks, as in [`Table`](super::Table).
#[derive(Debug, Default)]
pub struct Epochs {
    counters: HashMap<(Function, Bucket, FoldKind), Counter>,
}

#[derive(Debug, Default)]
struct Counter {
    /// (epoch after halvings, calls, ticks), ascending. Recording may begin long after the first epoch, so that it is
    /// their number that is bounded, not the numbers that they have.
    epochs: Vec<(u32, u32, u64)>,
    halvings: u32,
}

impl Epochs {
    /// Without counters.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether calls of that epoch run natively.
    pub const fn is_native(epoch: u32) -> bool {
        epoch.is_multiple_of(2)
    }

    /// Counts a call of `epoch`, whose pair is at least the last one's. Each kind of reduction is counted for itself.
    pub fn record(&mut self, (function, bucket, kind): (Function, Bucket, FoldKind), epoch: u32, ticks: u64) {
        self.counters.entry((function, bucket, kind)).or_default().record(epoch, ticks);
    }

    /// What was counted, with times in nanoseconds, in the order of functions and sizes.
    pub fn records(&self, nanoseconds_per_tick: f64) -> Vec<EpochsRecord> {
        let nanoseconds = |ticks: u64| (ticks as f64 * nanoseconds_per_tick).round() as u64;
        let mut records: Vec<EpochsRecord> = self
            .counters
            .iter()
            .map(|(&(function, bucket, kind), counter)| {
                let epochs =
                    counter.epochs.iter().map(|&(epoch, calls, ticks)| (epoch, calls, nanoseconds(ticks))).collect();
                EpochsRecord { function, bucket, kind, halvings: counter.halvings, epochs }
            })
            .collect();
        records.sort_by_key(|record| (record.function, record.bucket, record.kind));
        records
    }
}

impl Counter {
    fn record(&mut self, epoch: u32, ticks: u64) {
        let epoch = (0..self.halvings).fold(epoch, |epoch, _| halved(epoch));
        match self.epochs.last_mut() {
            Some((last, calls, sum)) if *last == epoch => (*calls, *sum) = (*calls + 1, *sum + ticks),
            _ => self.insert(epoch, 1, ticks),
        }
        while self.epochs.len() > MOST {
            self.halve();
        }
    }

    /// Epochs 4k and 4k + 2 become 2k, their odd neighbours 2k + 1: each side keeps all its calls, and two pairs become
    /// one.
    fn halve(&mut self) {
        self.halvings += 1;
        for (epoch, calls, ticks) in std::mem::take(&mut self.epochs) {
            self.insert(halved(epoch), calls, ticks);
        }
    }

    fn insert(&mut self, epoch: u32, calls: u32, ticks: u64) {
        // Halving folds two pairs onto each other, so the place is the last, the one before it, or new.
        match self.epochs.binary_search_by_key(&epoch, |entry| entry.0) {
            Ok(place) => {
                let entry = &mut self.epochs[place];
                (entry.1, entry.2) = (entry.1.saturating_add(calls), entry.2 + ticks);
            }
            Err(place) => self.epochs.insert(place, (epoch, calls, ticks)),
        }
    }
}

pub(super) const fn halved(epoch: u32) -> u32 {
    epoch / 4 * 2 + epoch % 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::Operation;

    #[test]
    fn however_many_epochs_memory_stays_and_no_call_changes_sides() {
        let mut epochs = Epochs::new();
        let function = Operation::Reduce.into();
        for epoch in 0..10_000 {
            for _ in 0..3 {
                epochs.record(
                    (function, Bucket(4), FoldKind::USUAL),
                    epoch,
                    if Epochs::is_native(epoch) { 100 } else { 7 },
                );
            }
        }
        let [record] = &epochs.records(1.0)[..] else { panic!("one counter") };
        assert!((256..=512).contains(&record.epochs.len()), "{}", record.epochs.len());
        assert!(record.epochs.is_sorted_by(|left, right| left.0 < right.0));
        for &(epoch, calls, ns) in &record.epochs {
            assert_eq!(ns, u64::from(calls) * if Epochs::is_native(epoch) { 100 } else { 7 });
        }
        assert_eq!(record.epochs.iter().map(|entry| entry.1).sum::<u32>(), 30_000);
    }

    #[test]
    fn pairs_are_kept_whenever_recording_begins() {
        for first in [0, 5_000, 3_000_000] {
            let mut counter = Counter::default();
            (first..first + 300).for_each(|epoch| counter.record(epoch, 1));
            assert_eq!((counter.epochs.len(), counter.halvings), (300, 0), "from epoch {first} on");
        }
    }

    #[test]
    fn each_kind_of_reduction_is_counted_for_itself() {
        let mut epochs = Epochs::new();
        let function = Operation::Reduce.into();
        let [usual, own, in_order] =
            [(false, false), (false, true), (true, true)].map(|(in_order, locally)| FoldKind { in_order, locally });
        for kind in [in_order, usual, own, in_order] {
            epochs.record((function, Bucket(4), kind), 0, 100);
        }
        let found: Vec<_> = epochs.records(1.0).iter().map(|record| (record.kind, record.epochs[0].1)).collect();
        assert_eq!(found, [(usual, 1), (own, 1), (in_order, 2)]);
    }
}
