//! The parts of what several ranks recorded, and how two of a kind become one.

use super::epochs::halved;
use super::units::sum_of_known;
use super::{Bucket, DifferenceRecord, FoldKind, Function, GapRecord, LateRecord, ReadableRecord, TrafficRecord};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A rank's totals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct RankPart {
    pub rank: u32,
    pub host: String,
    pub pid: u32,
    pub oversubscribed: bool,
    pub started_unix_ns: u64,
    pub run_ns: u64,
    /// What Collie took in `MPI_Init`, where that is known.
    pub init_ns: Option<u64>,
    /// The part of it that calls were recorded for, if that is not all.
    pub recorded_ns: Option<u64>,
    pub total_ns: u64,
    /// As far as it was measured.
    pub waiting_ns: Option<u64>,
    pub calls: u64,
    pub bytes: u64,
    /// Time in calls beside collectives, by [`Area`](super::Area), where it was counted.
    pub area_ns: Option<[u64; 3]>,
    /// Where calls are missing in the time line.
    pub gap: Option<GapRecord>,
}

impl RankPart {
    /// What its times are shares of.
    pub fn whole_ns(&self) -> u64 {
        self.recorded_ns.unwrap_or(self.run_ns)
    }
}

/// A communicator, as far as these ranks know it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct CommunicatorPart {
    pub identity: String,
    /// Whether any of the ranks made calls on it; all that follows is told by such ranks only.
    pub used: bool,
    pub name: Option<String>,
    pub made_by: String,
    pub parent: String,
    pub size: u32,
    pub members: Vec<u32>,
    pub no_shared_memory: Option<String>,
    pub shared_memory: ReadableRecord,
    /// Calls whose arrivals were compared, and calls that could have been.
    pub compared: Option<(u64, u64)>,
}

/// Communicator, function, size class, algorithm, what decided it; places.
pub(super) type RowKey = (u32, Function, Bucket, u32, u32);

/// The calls of one key. Sums of times over ranks may take more than 64 bits: 65,536 ranks fill them in three days.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct RowPart {
    pub key: RowKey,
    pub ranks: u32,
    pub most_calls: u64,
    pub calls: u64,
    pub bytes: u64,
    pub total_ns: u128,
    /// As far as it was measured.
    pub waiting_ns: Option<u128>,
    /// A rank's total: the least and the most, each with the first rank that has it.
    pub least_total_ns: u64,
    pub least_rank: u32,
    pub most_total_ns: u64,
    pub most_rank: u32,
    pub min_ns: u64,
    pub max_ns: u64,
    /// Steps of durations and how many, ascending.
    pub durations: Vec<(u16, u64)>,
}

/// Native against ours for one communicator, function, size class and kind of reduction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct EpochsPart {
    pub key: (u32, Function, Bucket, FoldKind),
    /// Of the rank that has most.
    pub calls: u64,
    /// How often two pairs of epochs have become one.
    pub halvings: u32,
    /// Number of the epoch after that, and the slowest rank's mean seconds per call, ascending.
    pub slowest: Vec<(u32, f64)>,
}

impl EpochsPart {
    /// Two pairs of epochs become one, of the mean of what they took, each counted alike: they are about as long.
    pub fn halve(&mut self) {
        self.halvings += 1;
        let mut sums: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
        for (epoch, seconds) in std::mem::take(&mut self.slowest) {
            let sum = sums.entry(halved(epoch)).or_default();
            *sum = (sum.0 + seconds, sum.1 + 1.0);
        }
        self.slowest = sums.into_iter().map(|(epoch, (seconds, number))| (epoch, seconds / number)).collect();
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct DifferencePart {
    pub rank: u32,
    pub communicator: u32,
    pub record: DifferenceRecord,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct LatePart {
    pub communicator: u32,
    pub record: LateRecord,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct TrafficPart {
    pub from: u32,
    pub sent: TrafficRecord,
}

/// A call on a rank; its communicator and its counter are those of a row.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct EventPart {
    pub rank: u32,
    pub row: u32,
    /// Place among the elements, from 1; 0 for nothing known.
    pub elements: u32,
    pub root: i32,
    pub thread: u16,
    /// How far from the first, the last, or the slowest of its rank, whichever is least: those with a low one stay
    /// longest.
    pub order: u16,
    pub enter_unix_ns: u64,
    pub duration_ns: u64,
    pub bytes: u64,
}

/// Calls beside collectives, of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct MessagePart {
    /// Place among all kinds.
    pub call: u8,
    pub ranks: u32,
    pub calls: u64,
    pub bytes: u64,
    pub total_ns: u128,
    /// Of the rank with the most, the first one.
    pub most_total_ns: u64,
    pub most_rank: u32,
}

/// Calls in no row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct OverflowPart {
    pub calls: u64,
    pub bytes: u64,
    pub total_ns: u128,
}

impl CommunicatorPart {
    pub fn add(&mut self, after: Self) {
        if !self.used {
            *self = after;
        } else if after.used {
            // The members are told by one of the ranks only, and a name may be set on one rank only.
            if self.members.is_empty() {
                self.members = after.members;
            }
            self.name = self.name.take().or(after.name);
            self.no_shared_memory = self.no_shared_memory.take().or(after.no_shared_memory);
            self.shared_memory.pairs += after.shared_memory.pairs;
            self.shared_memory.readable += after.shared_memory.readable;
            self.compared = after.compared.or(self.compared);
        }
    }
}

impl RowPart {
    pub fn add(&mut self, after: Self) {
        self.ranks += after.ranks;
        self.most_calls = self.most_calls.max(after.most_calls);
        self.calls += after.calls;
        self.bytes = self.bytes.wrapping_add(after.bytes);
        self.total_ns += after.total_ns;
        self.waiting_ns = sum_of_known(self.waiting_ns, after.waiting_ns);
        if after.least_total_ns < self.least_total_ns {
            (self.least_total_ns, self.least_rank) = (after.least_total_ns, after.least_rank);
        }
        if after.most_total_ns > self.most_total_ns {
            (self.most_total_ns, self.most_rank) = (after.most_total_ns, after.most_rank);
        }
        self.min_ns = self.min_ns.min(after.min_ns);
        self.max_ns = self.max_ns.max(after.max_ns);
        self.durations = united(&self.durations, &after.durations, |own, after| own + after);
    }
}

impl MessagePart {
    pub fn add(&mut self, after: Self) {
        self.ranks += after.ranks;
        self.calls += after.calls;
        self.bytes = self.bytes.wrapping_add(after.bytes);
        self.total_ns += after.total_ns;
        if after.most_total_ns > self.most_total_ns {
            (self.most_total_ns, self.most_rank) = (after.most_total_ns, after.most_rank);
        }
    }
}

impl OverflowPart {
    pub fn add(&mut self, other: Self) {
        self.calls += other.calls;
        self.bytes = self.bytes.wrapping_add(other.bytes);
        self.total_ns += other.total_ns;
    }
}

/// Two ascending lists as one; `both` decides where both have something.
pub(super) fn united<K: Copy + Ord, V: Copy>(
    left: &[(K, V)],
    right: &[(K, V)],
    both: impl Fn(V, V) -> V,
) -> Vec<(K, V)> {
    let (mut left, mut right) = (left.iter().copied().peekable(), right.iter().copied().peekable());
    let mut all = Vec::with_capacity(left.len().max(right.len()));
    while let (Some(own), Some(other)) = (left.peek(), right.peek()) {
        match own.0.cmp(&other.0) {
            std::cmp::Ordering::Less => all.extend(left.next()),
            std::cmp::Ordering::Greater => all.extend(right.next()),
            std::cmp::Ordering::Equal => {
                all.push((own.0, both(own.1, other.1)));
                left.next();
                right.next();
            }
        }
    }
    all.extend(left.chain(right));
    all
}
