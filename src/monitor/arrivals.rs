//! Who arrived when: the calls of one communicator on one rank, and what all its ranks' together say of waiting.
//!
//! A rank keeps when it came to each call and how long it stayed. MPI has all ranks of a communicator call its
//! collectives in one order, so the number of the call tells which belong together. Memory is bounded: when it is used
//! up, every second call is let go, then every second of the rest: by number, so that all ranks keep the same ones.

use super::{CellId, LateRecord};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Calls that the first piece of memory holds.
const FIRST: usize = 64;

/// Memory that the communicators of a rank share for their calls.
#[derive(Debug)]
pub struct Room {
    calls: AtomicUsize,
}

impl Room {
    /// For as many calls as fit `bytes` bytes.
    pub const fn new(bytes: usize) -> Self {
        Self { calls: AtomicUsize::new(bytes / size_of::<Arrival>()) }
    }

    /// Adds as many calls as fit `bytes` bytes.
    pub fn add(&self, bytes: usize) {
        self.calls.fetch_add(bytes / size_of::<Arrival>(), Ordering::Relaxed);
    }

    /// Takes memory for `calls` calls, all or nothing.
    fn take(&self, calls: usize) -> bool {
        let less = |left: usize| left.checked_sub(calls);
        self.calls.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }
}

/// One call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When the rank came to it; whatever clock the caller reads.
    pub enter: u64,
    /// How long it took, or waited, by the same clock.
    pub ticks: u64,
    /// Number of the call on the communicator.
    pub number: u64,
    /// Where it was counted.
    pub cell: CellId,
    /// Number of the [`Function`](super::Function).
    pub function: u8,
}

/// The calls of one communicator on one rank.
#[derive(Debug)]
pub struct Arrivals {
    calls: u64,
    /// Only numbers that this power of two divides are kept.
    stride: u64,
    kept: Vec<Arrival>,
}

impl Default for Arrivals {
    fn default() -> Self {
        Self { calls: 0, stride: 1, kept: Vec::new() }
    }
}

impl Arrivals {
    /// Counts a call and gives its number.
    #[inline]
    pub const fn next(&mut self) -> u64 {
        self.calls += 1;
        self.calls - 1
    }

    /// Calls counted.
    pub const fn calls(&self) -> u64 {
        self.calls
    }

    /// Keeps a call that was counted last, if there is room.
    #[inline]
    pub fn keep(&mut self, arrival: Arrival, room: &Room) {
        while arrival.number & (self.stride - 1) == 0 {
            if self.kept.len() < self.kept.capacity() {
                self.kept.push(arrival);
                return;
            }
            if !self.make_room(room) {
                return;
            }
        }
    }

    /// False if this communicator can have no memory at all.
    #[cold]
    fn make_room(&mut self, room: &Room) -> bool {
        let more = self.kept.capacity().max(FIRST);
        if room.take(more) {
            self.kept.reserve_exact(more);
        } else {
            self.stride *= 2;
            self.kept.retain(|arrival| arrival.number & (self.stride - 1) == 0);
        }
        self.kept.capacity() > 0
    }

    /// Forgets the calls but not their number.
    pub fn reset(&mut self) {
        self.kept.clear();
    }

    /// What this rank, the communicator's `rank`, tells the others; `moment` is when it came to a call by a clock that
    /// all of them share.
    pub fn meetings(&self, rank: u32, moment: impl Fn(&Arrival) -> i64) -> Vec<Meeting> {
        let meeting = |arrival: &Arrival| {
            let moment = moment(arrival);
            let Arrival { number, function, .. } = *arrival;
            Meeting { number, function, latest: moment, last: rank, earliest: moment }
        };
        self.kept.iter().map(meeting).collect()
    }

    /// By cell, which part of the time in its calls was waiting for the last rank: 0 to 1.
    pub fn waiting(
        &self,
        met: &[Meeting],
        moment: impl Fn(&Arrival) -> i64,
        nanoseconds_per_tick: f64,
    ) -> Vec<(u32, f64)> {
        let mut cells: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
        for (arrival, meeting) in both(&self.kept, met) {
            let took = arrival.ticks as f64 * nanoseconds_per_tick;
            let waited = ((meeting.latest - moment(arrival)) as f64).clamp(0.0, took);
            let (waiting, whole) = cells.entry(arrival.cell.number()).or_default();
            (*waiting, *whole) = (*waiting + waited, *whole + took);
        }
        cells
            .into_iter()
            .map(|(cell, (waiting, whole))| (cell, if whole > 0.0 { waiting / whole } else { 0.0 }))
            .collect()
    }
}

/// One call on several ranks of its communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meeting {
    number: u64,
    function: u8,
    /// When the last of them came, nanoseconds.
    latest: i64,
    /// Which that was, by its rank in the communicator.
    last: u32,
    /// When the first of them came.
    earliest: i64,
}

/// The calls that both know, by number. A program whose ranks disagree about a call, after an error perhaps, has none
/// under that number.
pub fn meet(left: &[Meeting], right: &[Meeting]) -> Vec<Meeting> {
    let mut met = Vec::with_capacity(left.len().min(right.len()));
    let mut rest = right;
    for one in left {
        rest = &rest[rest.partition_point(|other| other.number < one.number)..];
        let Some(other) = rest.first().filter(|other| other.number == one.number) else { continue };
        if other.function == one.function {
            // Of two that came at once the lower rank, whichever side it is on.
            let late = |meeting: &Meeting| (meeting.latest, u32::MAX - meeting.last);
            let last = if late(other) > late(one) { other } else { one };
            met.push(Meeting { earliest: one.earliest.min(other.earliest), ..*last });
        }
    }
    met
}

/// How often each rank was the last, most often first; `members` are the world ranks of the communicator's.
pub fn late(met: &[Meeting], members: &[u32]) -> Vec<LateRecord> {
    let mut ranks: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for meeting in met {
        let (calls, waited) = ranks.entry(meeting.last).or_default();
        (*calls, *waited) = (*calls + 1, *waited + (meeting.latest - meeting.earliest) as u64);
    }
    let record = |(rank, (calls, waited_ns)): (u32, (u64, u64))| {
        Some(LateRecord { rank: *members.get(rank as usize)?, calls, waited_ns })
    };
    let mut records: Vec<LateRecord> = ranks.into_iter().filter_map(record).collect();
    records.sort_by_key(|record| std::cmp::Reverse(record.calls));
    records
}

/// Own calls with what became of them on all ranks.
fn both<'a>(own: &'a [Arrival], met: &'a [Meeting]) -> impl Iterator<Item = (&'a Arrival, &'a Meeting)> {
    let mut rest = own;
    met.iter().filter_map(move |meeting| {
        rest = &rest[rest.partition_point(|arrival| arrival.number < meeting.number)..];
        rest.first().filter(|arrival| arrival.number == meeting.number).map(|arrival| (arrival, meeting))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::Operation;
    use crate::monitor::{Bucket, Function, Key, Table};

    fn cell() -> CellId {
        let mut table = Table::new();
        let label = table.label("");
        table.cell(Key { function: Operation::Bcast.into(), bucket: Bucket(0), algorithm: label, decided_by: label })
    }

    fn call(arrivals: &mut Arrivals, room: &Room, enter: u64, ticks: u64) {
        let number = arrivals.next();
        let function = Function::from(Operation::Bcast).number();
        arrivals.keep(Arrival { enter, ticks, number, cell: cell(), function }, room);
    }

    fn numbers(arrivals: &Arrivals) -> Vec<u64> {
        arrivals.kept.iter().map(|arrival| arrival.number).collect()
    }

    #[test]
    fn the_last_rank_is_found_and_the_others_waiting_is_told() {
        let room = Room::new(1 << 20);
        // Rank 1 comes 300 later than the others to every call but the third; all leave 50 after the last.
        let mut ranks: Vec<Arrivals> = (0..3).map(|_| Arrivals::default()).collect();
        for number in 0..10u64 {
            for (rank, arrivals) in ranks.iter_mut().enumerate() {
                let late = if rank == 1 && number != 2 { 300 } else { rank as u64 * 10 };
                let last = if number == 2 { 20 } else { 300 };
                call(arrivals, &room, number * 1_000 + late, last - late + 50);
            }
        }
        let moment = |arrival: &Arrival| arrival.enter as i64;
        let met = ranks.iter().zip(0..).map(|(arrivals, rank)| arrivals.meetings(rank, moment));
        let met = met.reduce(|left, right| meet(&left, &right)).unwrap();
        let late = late(&met, &[7, 5, 3]);
        assert_eq!(
            late,
            [LateRecord { rank: 5, calls: 9, waited_ns: 9 * 300 }, LateRecord { rank: 3, calls: 1, waited_ns: 20 }]
        );
        let share = |rank: usize| ranks[rank].waiting(&met, moment, 1.0)[0].1;
        assert_eq!(share(0), (9.0 * 300.0 + 20.0) / (9.0 * 350.0 + 70.0));
        assert_eq!(share(1), 10.0 / (9.0 * 50.0 + 60.0), "it waited in the third call only");
    }

    #[test]
    fn however_many_calls_memory_stays_and_ranks_keep_common_ones() {
        let (small, large) = (Room::new(100 * size_of::<Arrival>()), Room::new(1000 * size_of::<Arrival>()));
        let (mut few, mut many) = (Arrivals::default(), Arrivals::default());
        for enter in 0..100_000 {
            call(&mut few, &small, enter, 1);
            call(&mut many, &large, enter, 1);
        }
        assert_eq!((few.calls(), few.kept.capacity(), many.kept.capacity()), (100_000, 64, 512));
        assert!(few.kept.len() >= 32 && many.kept.len() >= 256, "{} {}", few.kept.len(), many.kept.len());
        let kept = numbers(&many);
        assert!(numbers(&few).iter().all(|number| kept.contains(number)));
        let moment = |arrival: &Arrival| arrival.enter as i64;
        assert_eq!(meet(&few.meetings(0, moment), &many.meetings(1, moment)).len(), few.kept.len());
    }

    #[test]
    fn without_room_nothing_is_kept_and_nothing_goes_wrong() {
        let (room, mut arrivals) = (Room::new(0), Arrivals::default());
        (0..1_000).for_each(|enter| call(&mut arrivals, &room, enter, 1));
        assert_eq!((arrivals.calls(), arrivals.kept.capacity()), (1_000, 0));
    }

    #[test]
    fn calls_that_ranks_disagree_about_are_left_out() {
        let room = Room::new(1 << 20);
        let (mut left, mut right) = (Arrivals::default(), Arrivals::default());
        (0..4).for_each(|enter| call(&mut left, &room, enter, 1));
        (0..3).for_each(|enter| call(&mut right, &room, enter, 1));
        right.kept[1].function += 1;
        let moment = |arrival: &Arrival| arrival.enter as i64;
        let met = meet(&left.meetings(0, moment), &right.meetings(1, moment));
        assert_eq!(met.iter().map(|meeting| meeting.number).collect::<Vec<_>>(), [0, 2]);
    }
}
