//! What successive ranks recorded, as one: halfway between their records and the summary, and mergeable in any grouping.
//!
//! Ranks hand these on to one another up a tree. Calls with the same key become one row on the way, so what arrives at
//! rank 0 grows with the number of different rows, not of ranks; what is each rank's own ([`Bounds`]) has an upper bound.

use super::bounds::{Bounds, LeftOut};
use super::durations::STEPS;
use super::{
    Bucket, CacheRecord, CellRecord, ClockRecord, CommunicatorRecord, DecodeError, DifferenceRecord, ElementsRecord,
    EpochsRecord, Event, Function, GapRecord, JobRecord, LateRecord, OverflowRecord, PlayedRecord, RankRecord,
    TrafficRecord,
};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::hash::Hash;

/// The records of ranks that follow one another, merged.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Merged {
    pub(super) job: Option<JobRecord>,
    pub(super) ranks: Vec<RankPart>,
    pub(super) overhead_ns_per_call: f64,
    pub(super) dropped_events: u64,
    pub(super) verified_calls: u64,
    /// Those that anything was told of, in the order of the first rank that did.
    pub(super) communicators: Vec<CommunicatorPart>,
    /// Algorithms and what decided them, by their place.
    pub(super) texts: Vec<String>,
    pub(super) rows: Vec<RowPart>,
    pub(super) epochs: Vec<EpochsPart>,
    pub(super) differences: Vec<DifferencePart>,
    pub(super) late: Vec<LatePart>,
    pub(super) clock: Option<ClockRecord>,
    /// Collie's messages, those that the MPI library counted, and what its collectives meant to move; senders in order.
    pub(super) traffic: [Vec<TrafficPart>; 3],
    /// By rank, each rank's in their order.
    pub(super) events: Vec<EventPart>,
    pub(super) elements: Vec<ElementsRecord>,
    pub(super) beyond: BeyondPart,
    pub(super) played: PlayedRecord,
    pub(super) cache: CacheRecord,
    pub(super) left_out: LeftOut,
}

/// A rank's totals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct RankPart {
    pub rank: u32,
    pub host: String,
    pub pid: u32,
    pub started_unix_ns: u64,
    pub run_ns: u64,
    pub total_ns: u64,
    pub waiting_ns: u64,
    pub calls: u64,
    pub bytes: u64,
    /// Where calls are missing in the time line.
    pub gap: Option<GapRecord>,
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
    pub waiting_ns: u128,
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

/// Native against ours for one communicator, function and size class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct EpochsPart {
    pub key: (u32, Function, Bucket),
    /// Of the rank that has most.
    pub calls: u64,
    /// Number of the epoch and the slowest rank's mean seconds per call, ascending.
    pub slowest: Vec<(u32, f64)>,
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

/// A call on a rank; its communicator and its cell are those of a row.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct EventPart {
    pub rank: u32,
    pub row: u32,
    /// Place among the elements, from 1; 0 for nothing known.
    pub elements: u32,
    pub root: i32,
    pub thread: u16,
    /// How far from the first, the last, or the slowest of its rank, whichever is least: those with a low one stay longest.
    pub order: u16,
    pub enter_unix_ns: u64,
    pub duration_ns: u64,
    pub bytes: u64,
}

/// Calls in no row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct BeyondPart {
    pub calls: u64,
    pub bytes: u64,
    pub total_ns: u128,
}

/// Where equal things are in a list.
struct Places<K>(HashMap<K, u32>);

impl<K: Eq + Hash> Places<K> {
    fn of(keys: impl Iterator<Item = K>) -> Self {
        Self(keys.enumerate().map(|(place, key)| (key, place as u32)).collect())
    }

    /// The place of what has that key in `list`; put there if there is none. The other way round, what is there already.
    fn put<T>(&mut self, list: &mut Vec<T>, key: K, item: T) -> (u32, Option<T>) {
        let place = *self.0.entry(key).or_insert(list.len() as u32);
        if place as usize == list.len() {
            list.push(item);
            (place, None)
        } else {
            (place, Some(item))
        }
    }
}

impl Merged {
    /// What one rank recorded.
    pub fn of(record: RankRecord, bounds: &Bounds) -> Self {
        let mut merged = Self {
            ranks: vec![rank_part(&record)],
            overhead_ns_per_call: record.overhead_ns_per_call,
            dropped_events: record.dropped_events,
            clock: record.clock,
            beyond: BeyondPart {
                calls: record.beyond.calls,
                bytes: record.beyond.bytes,
                total_ns: record.beyond.total_ns.into(),
            },
            played: record.played,
            cache: record.cache,
            traffic: [record.traffic, record.native_traffic, record.native_collectives]
                .map(|sent| sent.into_iter().map(|sent| TrafficPart { from: record.rank, sent }).collect()),
            job: record.job,
            ..Self::default()
        };
        let (mut texts, mut rows, mut known) =
            (Places::of(None.into_iter()), Places::of(None.into_iter()), Places::of(None.into_iter()));
        let mut row_of = Vec::with_capacity(record.communicators.len());
        for communicator in record.communicators {
            row_of.push(merged.take(record.rank, communicator, &mut known, &mut texts, &mut rows));
        }
        let mut elements = Places::of(None.into_iter());
        let orders = orders(&record.events);
        for (event, order) in record.events.into_iter().zip(orders) {
            let row = row_of.get(event.communicator as usize).and_then(|cells| cells.get(event.cell as usize)).copied();
            // Cells may have been reset after the event; such an event belongs to no row.
            let Some(Some(row)) = row else { continue };
            let place = usize::from(event.elements);
            let known = record.elements.get(place).filter(|_| place > 0);
            let elements =
                known.map_or(0, |known| elements.put(&mut merged.elements, known.clone(), known.clone()).0 + 1);
            merged.events.push(event_part(record.rank, row, elements, event, order));
        }
        merged.keep_within(bounds);
        merged
    }

    /// Takes in what a rank tells of a communicator; the row of each of its cells.
    fn take(
        &mut self,
        rank: u32,
        record: CommunicatorRecord,
        known: &mut Places<String>,
        texts: &mut Places<String>,
        rows: &mut Places<RowKey>,
    ) -> Vec<Option<u32>> {
        self.verified_calls += record.verified_calls;
        let used = record.has_calls();
        let CommunicatorRecord { cells, epochs, late, differences, .. } = &record;
        if !used && epochs.is_empty() && late.is_empty() && differences.is_empty() {
            return vec![None; cells.len()];
        }
        let part = communicator_part(&record, used);
        let (communicator, again) = known.put(&mut self.communicators, record.identity, part);
        if let Some(again) = again {
            self.communicators[communicator as usize].add(again);
        }
        self.epochs.extend(record.epochs.into_iter().map(|epochs| epochs_part(communicator, epochs)));
        self.late.extend(record.late.into_iter().map(|record| LatePart { communicator, record }));
        self.differences.extend(record.differences.into_iter().map(|record| DifferencePart {
            rank,
            communicator,
            record,
        }));
        let mut row = |cell: CellRecord| {
            if cell.calls == 0 {
                return None;
            }
            let mut text = |text: &str| texts.put(&mut self.texts, text.to_owned(), text.to_owned()).0;
            let (algorithm, decided_by) = (text(&cell.algorithm), text(&cell.decided_by));
            let key = (communicator, cell.function, cell.bucket, algorithm, decided_by);
            let (place, again) = rows.put(&mut self.rows, key, row_part(rank, key, &cell));
            if let Some(again) = again {
                self.rows[place as usize].add(again);
            }
            Some(place)
        };
        record.cells.into_iter().map(&mut row).collect()
    }

    /// Takes in what the ranks after these recorded.
    pub fn add(&mut self, after: Self, bounds: &Bounds) {
        let communicators = self.add_communicators(after.communicators);
        let mut known = Places::of(self.texts.iter().cloned());
        let texts: Vec<u32> =
            after.texts.into_iter().map(|text| known.put(&mut self.texts, text.clone(), text).0).collect();
        let mut known = Places::of(self.rows.iter().map(|row| row.key));
        let rows: Vec<u32> = after
            .rows
            .into_iter()
            .map(|mut row| {
                let (communicator, function, bucket, algorithm, decided_by) = row.key;
                let text = |place: u32| texts[place as usize];
                row.key = (communicators[communicator as usize], function, bucket, text(algorithm), text(decided_by));
                let (place, again) = known.put(&mut self.rows, row.key, row);
                if let Some(again) = again {
                    self.rows[place as usize].add(again);
                }
                place
            })
            .collect();
        let mut known = Places::of(self.elements.iter().cloned());
        let elements: Vec<u32> =
            after.elements.into_iter().map(|item| known.put(&mut self.elements, item.clone(), item).0 + 1).collect();
        self.events.extend(after.events.into_iter().map(|event| EventPart {
            row: rows[event.row as usize],
            elements: event.elements.checked_sub(1).map_or(0, |place| elements[place as usize]),
            ..event
        }));
        self.add_epochs(after.epochs, &communicators);
        let place = |communicator: u32| communicators[communicator as usize];
        let differences = after.differences.into_iter();
        self.differences
            .extend(differences.map(|part| DifferencePart { communicator: place(part.communicator), ..part }));
        let late = after.late.into_iter();
        self.late.extend(late.map(|part| LatePart { communicator: place(part.communicator), ..part }));
        for (own, after) in self.traffic.iter_mut().zip(after.traffic) {
            own.extend(after);
        }
        self.job = self.job.take().or(after.job);
        self.ranks.extend(after.ranks);
        self.overhead_ns_per_call = self.overhead_ns_per_call.max(after.overhead_ns_per_call);
        self.dropped_events += after.dropped_events;
        self.verified_calls += after.verified_calls;
        self.clock = worst_clock(self.clock, after.clock);
        self.beyond.add(after.beyond);
        self.played = sum_of_played(self.played, after.played);
        self.cache = sum_of_caches(self.cache, after.cache);
        self.left_out.add(after.left_out);
        self.keep_within(bounds);
    }

    /// Where each of the communicators is from now on.
    fn add_communicators(&mut self, after: Vec<CommunicatorPart>) -> Vec<u32> {
        let mut known = Places::of(self.communicators.iter().map(|part| part.identity.clone()));
        let add = |part: CommunicatorPart| {
            let (place, again) = known.put(&mut self.communicators, part.identity.clone(), part);
            if let Some(again) = again {
                self.communicators[place as usize].add(again);
            }
            place
        };
        after.into_iter().map(add).collect()
    }

    fn add_epochs(&mut self, after: Vec<EpochsPart>, communicators: &[u32]) {
        let mut known = Places::of(self.epochs.iter().map(|part| part.key));
        for mut part in after {
            part.key.0 = communicators[part.key.0 as usize];
            let (place, again) = known.put(&mut self.epochs, part.key, part);
            let Some(again) = again else { continue };
            let own = &mut self.epochs[place as usize];
            own.calls = own.calls.max(again.calls);
            own.slowest = united(&own.slowest, &again.slowest, f64::max);
        }
    }

    /// Its bytes, for the way to another rank.
    pub fn encode(&self) -> Vec<u8> {
        postcard::to_stdvec(self).expect("what was merged has no part that cannot be written to memory")
    }

    /// What [`encode`](Self::encode) wrote.
    ///
    /// # Errors
    /// Bytes that it never writes.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        Ok(postcard::from_bytes(bytes)?)
    }

    /// When the first of the ranks started, nanoseconds since 1970.
    pub fn started_unix_ns(&self) -> u64 {
        self.ranks.iter().map(|rank| rank.started_unix_ns).min().unwrap_or(0)
    }
}

impl CommunicatorPart {
    fn add(&mut self, after: Self) {
        if !self.used {
            *self = after;
        } else if after.used {
            // The members are told by one of the ranks only, and a name may be set on one rank only.
            if self.members.is_empty() {
                self.members = after.members;
            }
            self.name = self.name.take().or(after.name);
            self.compared = after.compared.or(self.compared);
        }
    }
}

impl RowPart {
    fn add(&mut self, after: Self) {
        self.ranks += after.ranks;
        self.most_calls = self.most_calls.max(after.most_calls);
        self.calls += after.calls;
        self.bytes = self.bytes.wrapping_add(after.bytes);
        self.total_ns += after.total_ns;
        self.waiting_ns += after.waiting_ns;
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

impl BeyondPart {
    fn add(&mut self, other: Self) {
        self.calls += other.calls;
        self.bytes = self.bytes.wrapping_add(other.bytes);
        self.total_ns += other.total_ns;
    }
}

/// Two ascending lists as one; `both` decides where both have something.
fn united<K: Copy + Ord, V: Copy>(left: &[(K, V)], right: &[(K, V)], both: impl Fn(V, V) -> V) -> Vec<(K, V)> {
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

fn rank_part(record: &RankRecord) -> RankPart {
    let OverflowRecord { calls, bytes, total_ns } = record.beyond;
    let part = RankPart {
        rank: record.rank,
        host: record.host.clone(),
        pid: record.pid,
        started_unix_ns: record.started_unix_ns,
        run_ns: record.run_ns,
        total_ns,
        waiting_ns: 0,
        calls,
        bytes,
        gap: record.gap,
    };
    let cells = record.communicators.iter().flat_map(|communicator| &communicator.cells);
    cells.fold(part, |part, cell| RankPart {
        total_ns: part.total_ns + cell.total_ns,
        waiting_ns: part.waiting_ns + cell.waiting_ns,
        calls: part.calls + cell.calls,
        bytes: part.bytes.wrapping_add(cell.bytes),
        ..part
    })
}

fn communicator_part(record: &CommunicatorRecord, used: bool) -> CommunicatorPart {
    let identity = record.identity.clone();
    if !used {
        return CommunicatorPart { identity, ..CommunicatorPart::default() };
    }
    CommunicatorPart {
        identity,
        used,
        name: record.name.clone(),
        made_by: record.made_by.clone(),
        parent: record.parent.clone(),
        size: record.size,
        members: record.members.clone(),
        compared: (record.comparable_calls > 0).then_some((record.compared_calls, record.comparable_calls)),
    }
}

fn row_part(rank: u32, key: RowKey, cell: &CellRecord) -> RowPart {
    RowPart {
        key,
        ranks: 1,
        most_calls: cell.calls,
        calls: cell.calls,
        bytes: cell.bytes,
        total_ns: cell.total_ns.into(),
        waiting_ns: cell.waiting_ns.into(),
        least_total_ns: cell.total_ns,
        least_rank: rank,
        most_total_ns: cell.total_ns,
        most_rank: rank,
        min_ns: cell.min_ns,
        max_ns: cell.max_ns,
        durations: cell.durations.iter().map(|&(step, calls)| (step.min(STEPS as u16 - 1), calls.into())).collect(),
    }
}

fn epochs_part(communicator: u32, record: EpochsRecord) -> EpochsPart {
    let mean = |calls: u32, ns: u64| super::merge::seconds(ns as f64 / f64::from(calls.max(1)));
    EpochsPart {
        key: (communicator, record.function, record.bucket),
        calls: record.epochs.iter().map(|epoch| u64::from(epoch.1)).sum(),
        slowest: record.epochs.iter().map(|&(epoch, calls, ns)| (epoch, mean(calls, ns))).collect(),
    }
}

fn event_part(rank: u32, row: u32, elements: u32, event: Event, order: u16) -> EventPart {
    let Event { enter_unix_ns, duration_ns, bytes, root, thread, .. } = event;
    EventPart { rank, row, elements, root, thread, order, enter_unix_ns, duration_ns, bytes }
}

/// Of a rank's calls, which stay longest where there is no room for all.
fn orders(events: &[Event]) -> Vec<u16> {
    let mut slowest: Vec<usize> = (0..events.len()).collect();
    slowest.sort_by_key(|place| std::cmp::Reverse(events[*place].duration_ns));
    let mut orders: Vec<usize> = (0..events.len()).map(|place| place.min(events.len() - 1 - place)).collect();
    slowest.into_iter().enumerate().for_each(|(order, place)| orders[place] = orders[place].min(order));
    orders.into_iter().map(|order| u16::try_from(order).unwrap_or(u16::MAX)).collect()
}

fn worst_clock(left: Option<ClockRecord>, right: Option<ClockRecord>) -> Option<ClockRecord> {
    let (Some(left), Some(right)) = (left, right) else { return left.or(right) };
    Some(ClockRecord {
        points: left.points.max(right.points),
        error_ns: left.error_ns.max(right.error_ns),
        round_trip_ns: left.round_trip_ns.max(right.round_trip_ns),
    })
}

fn sum_of_played(left: PlayedRecord, right: PlayedRecord) -> PlayedRecord {
    PlayedRecord {
        calls: left.calls + right.calls,
        kept: left.kept + right.kept,
        actions: left.actions + right.actions,
    }
}

/// The most of what a rank holds, and all that had to go.
fn sum_of_caches(left: CacheRecord, right: CacheRecord) -> CacheRecord {
    CacheRecord {
        most_bytes: left.most_bytes.max(right.most_bytes),
        bound: left.bound.max(right.bound),
        evicted: left.evicted + right.evicted,
        refused: left.refused + right.refused,
    }
}
