//! Who arrived when: the calls of one communicator on one rank. What all its ranks' together say of waiting is in
//! [`meetings`](super::meetings).
//!
//! A rank keeps when it came to each call and how long it stayed. MPI has all ranks of a communicator call its
//! collectives in one order, so the number of the call tells which belong together. Memory is bounded: when it is used
//! up, half of the calls are let go, then half of the rest: by number, so that all ranks keep the same ones, but in no
//! period that a program's loop may have, too.

use super::CounterId;
use super::meetings::Meeting;
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

    /// Gives memory for so many calls back.
    fn give(&self, calls: usize) {
        self.calls.fetch_add(calls, Ordering::Relaxed);
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
    pub counter: CounterId,
    /// Number of the [`Function`](super::Function).
    pub function: u8,
}

/// The calls of one communicator on one rank.
#[derive(Debug, Default)]
pub struct Arrivals {
    calls: u64,
    /// Those that were to be recorded since the last reset.
    recorded: u64,
    /// How often half of the calls have been let go.
    halvings: u32,
    kept: Vec<Arrival>,
    /// How long the ranks took to agree in the call under way, before anything could tell waiting apart.
    meeting: u64,
    /// Whether they have met for the call that comes next, or is under way, and need not again.
    have_met: bool,
}

impl Arrivals {
    /// Counts a call, which is to be recorded or not. Its number is that of the calls before.
    #[inline]
    pub const fn count(&mut self, recorded: bool) {
        self.recorded += recorded as u64;
        self.calls += 1;
        (self.meeting, self.have_met) = (0, false);
    }

    /// Takes the last one back, which was refused: the ranks have met, or had no need to, for the one in its place.
    pub const fn take_back(&mut self, recorded: bool) {
        self.recorded = self.recorded.saturating_sub(recorded as u64);
        self.calls -= 1;
        self.have_met = true;
    }

    /// Says that the ranks took so many ticks to agree, which is a part of meeting for the call under way.
    pub const fn agreed(&mut self, ticks: u64) {
        self.meeting = ticks;
    }

    /// Says that the ranks have met for the call under way.
    pub const fn met(&mut self) {
        self.have_met = true;
    }

    /// Whether the ranks have met for the call that comes next, and how many ticks they have taken to agree in it.
    pub const fn meeting(&self) -> (bool, u64) {
        (self.have_met, self.meeting)
    }

    /// Calls counted.
    pub const fn calls(&self) -> u64 {
        self.calls
    }

    /// Calls that were to be recorded since the last reset, whether there was room for them or not, and whatever became
    /// of them.
    pub const fn recorded(&self) -> u64 {
        self.recorded
    }

    /// Keeps a call that was counted last, if there is room.
    #[inline]
    pub fn keep(&mut self, arrival: Arrival, room: &Room) {
        while is_kept(arrival.number, self.halvings) {
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
            self.halvings += 1;
            self.kept.retain(|arrival| is_kept(arrival.number, self.halvings));
        }
        self.kept.capacity() > 0
    }

    /// The communicator goes away: what its calls have not filled is there for others.
    pub fn end(&mut self, room: &Room) {
        let before = self.kept.capacity();
        self.kept.shrink_to_fit();
        room.give(before - self.kept.capacity().min(before));
    }

    /// Forgets the calls, and leaves all of their room to others.
    pub fn forget(&mut self, room: &Room) {
        self.reset();
        self.end(room);
    }

    /// Forgets the calls but not their number.
    pub fn reset(&mut self) {
        self.kept.clear();
        self.recorded = 0;
    }

    /// What this rank, the communicator's `rank`, tells the others; `moment` is when it came to a call by a clock that
    /// all of them share.
    pub fn meetings(&self, rank: u32, moment: impl Fn(&Arrival) -> i64) -> Vec<Meeting> {
        let meeting = |arrival: &Arrival| Meeting::of(arrival.number, arrival.function, rank, moment(arrival));
        self.kept.iter().map(meeting).collect()
    }

    /// By counter, which part of the time in its calls was waiting for the last rank: 0 to 1.
    pub fn waiting(
        &self,
        met: &[Meeting],
        moment: impl Fn(&Arrival) -> i64,
        nanoseconds_per_tick: f64,
    ) -> Vec<(u32, f64)> {
        let mut counters: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
        for (arrival, (_, meeting)) in both(&self.kept, met) {
            let took = arrival.ticks as f64 * nanoseconds_per_tick;
            let (waiting, whole) = counters.entry(arrival.counter.number()).or_default();
            (*waiting, *whole) = (*waiting + meeting.waited(moment(arrival), took), *whole + took);
        }
        counters
            .into_iter()
            .map(|(counter, (waiting, whole))| (counter, if whole > 0.0 { waiting / whole } else { 0.0 }))
            .collect()
    }

    /// How long this rank waited in each of the calls for the last rank, nanoseconds.
    pub fn waited(&self, met: &[Meeting], moment: impl Fn(&Arrival) -> i64, nanoseconds_per_tick: f64) -> Vec<f64> {
        let mut waited = vec![0.0; met.len()];
        for (arrival, (place, meeting)) in both(&self.kept, met) {
            waited[place] = meeting.waited(moment(arrival), arrival.ticks as f64 * nanoseconds_per_tick);
        }
        waited
    }

    /// How long this rank stayed in these calls together, nanoseconds.
    pub fn stayed(&self, met: &[Meeting], nanoseconds_per_tick: f64) -> f64 {
        both(&self.kept, met).map(|(arrival, _)| arrival.ticks as f64 * nanoseconds_per_tick).sum()
    }
}

/// Whether a call is among those that are left after so many halvings: by a hash of its number.
const fn is_kept(number: u64, halvings: u32) -> bool {
    // The last steps of MurmurHash3 (Appleby), after which each bit depends on all of the number's.
    let mixed = (number ^ number >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let mixed = (mixed ^ mixed >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    (mixed ^ mixed >> 33).trailing_zeros() >= halvings
}

/// Own calls with what became of them on all ranks, and its place.
fn both<'a>(own: &'a [Arrival], met: &'a [Meeting]) -> impl Iterator<Item = (&'a Arrival, (usize, &'a Meeting))> {
    let mut rest = own;
    met.iter().enumerate().filter_map(move |(place, meeting)| {
        rest = &rest[rest.partition_point(|arrival| arrival.number < meeting.number)..];
        rest.first().filter(|arrival| arrival.number == meeting.number).map(|arrival| (arrival, (place, meeting)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitor::meetings::{late, meet};
    use crate::monitor::{Bucket, Function, Key, LateRecord, Table};
    use crate::operation::Operation;

    fn counter() -> CounterId {
        let mut table = Table::new();
        let label = table.label("");
        table.counter(Key { function: Operation::Bcast.into(), bucket: Bucket(0), algorithm: label, decided_by: label })
    }

    fn call(arrivals: &mut Arrivals, room: &Room, enter: u64, ticks: u64) {
        let number = arrivals.calls();
        arrivals.count(true);
        let function = Function::from(Operation::Bcast).number();
        arrivals.keep(Arrival { enter, ticks, number, counter: counter(), function }, room);
    }

    fn numbers(arrivals: &Arrivals) -> Vec<u64> {
        arrivals.kept.iter().map(|arrival| arrival.number).collect()
    }

    #[test]
    fn a_communicator_that_ends_gives_back_what_it_has_not_filled() {
        let room = Room::new(FIRST * size_of::<Arrival>());
        for _ in 0..FIRST / 2 {
            let mut arrivals = Arrivals::default();
            call(&mut arrivals, &room, 0, 1);
            call(&mut arrivals, &room, 2, 1);
            assert_eq!(numbers(&arrivals), [0, 1]);
            arrivals.end(&room);
            // What is kept of one that has ended leaves less for the next one.
            room.give(2);
        }
        let mut arrivals = Arrivals::default();
        call(&mut arrivals, &room, 0, 1);
        arrivals.end(&room);
        assert!(room.take(FIRST - 1) && !room.take(1));
        room.give(FIRST - 1);
        arrivals.forget(&room);
        assert!(room.take(FIRST) && !room.take(1));
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
        let late = late(&met, None, &[7, 5, 3], 1.0);
        // In nine calls ranks 0 and 2 come at 0 and 20, rank 1 at 300: 20 waited by one rank for two, 280 by two for
        // one.
        assert_eq!(
            late,
            [
                LateRecord { rank: 5, calls: 9, waited_ns: 9 * (10 + 560) + 5 },
                LateRecord { rank: 3, calls: 1, waited_ns: 9 * 10 + 5 + 20 }
            ]
        );
        let share = |rank: usize| ranks[rank].waiting(&met, moment, 1.0)[0].1;
        assert_eq!(share(0), (9.0 * 300.0 + 20.0) / (9.0 * 350.0 + 70.0));
        assert_eq!(share(1), 10.0 / (9.0 * 50.0 + 60.0), "it waited in the third call only");
    }

    /// What four ranks' arrivals say of lateness, each rank coming so much later than the call begins.
    fn late_of<const RANKS: usize>(calls: u64, lateness: impl Fn(u64, u32) -> u64) -> Vec<LateRecord> {
        let room = Room::new(1 << 20);
        let mut ranks: Vec<Arrivals> = (0..RANKS).map(|_| Arrivals::default()).collect();
        for number in 0..calls {
            for (rank, arrivals) in ranks.iter_mut().enumerate() {
                call(arrivals, &room, number << 30 | lateness(number, rank as u32), 1);
            }
        }
        let met = ranks.iter().zip(0..).map(|(arrivals, rank)| arrivals.meetings(rank, |call| call.enter as i64));
        let members: Vec<u32> = (0..RANKS as u32).collect();
        late(&met.reduce(|left, right| meet(&left, &right)).unwrap(), None, &members, 1.0)
    }

    /// A few microseconds that differ from call to call and rank to rank.
    fn jitter(number: u64, rank: u32) -> u64 {
        (number * 4 + u64::from(rank)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52
    }

    #[test]
    fn a_rank_that_is_late_rarely_and_long_comes_before_one_that_is_last_most_often() {
        // Rank 3 is last in 90 of 100 calls by some 5 µs; rank 2 in ten of them by 2 ms.
        let late = late_of::<4>(100, |number, rank| match rank {
            2 if number.is_multiple_of(10) => 2_000_000,
            3 => 5_000 + jitter(number, 3),
            rank => jitter(number, rank),
        });
        assert_eq!((late[0].rank, late[0].calls, late[1].rank, late[1].calls), (2, 10, 3, 90));
        assert!(late[0].waited_ns > 20 * late[1].waited_ns, "{late:?}");
    }

    #[test]
    fn a_rank_that_is_late_often_and_short_comes_before_one_that_was_late_once() {
        let late = late_of::<4>(200, |number, rank| match (rank, number) {
            (1, _) => 100_000,
            (3, 17) => 1_000_000,
            _ => jitter(number, rank),
        });
        assert_eq!((late[0].rank, late[0].calls), (1, 199));
        assert_eq!((late[1].rank, late[1].calls), (3, 1));
    }

    #[test]
    fn of_two_late_ranks_each_has_its_part_also_the_one_that_is_never_last() {
        // Rank 1 comes 10 ms late, rank 2 a millisecond after it.
        let late = late_of::<4>(50, |number, rank| match rank {
            1 => 10_000_000,
            2 => 11_000_000,
            rank => jitter(number, rank),
        });
        assert_eq!((late[0].rank, late[0].calls, late[1].rank, late[1].calls), (2, 50, 1, 0));
        // Two ranks wait 10 ms for both, three 1 ms for rank 2.
        let [first, second] = [0, 1].map(|place| late[place].waited_ns as f64 / 50e6);
        assert!((first - 13.0).abs() < 0.01 && (second - 10.0).abs() < 0.01, "{first} {second}");
        assert!(late[2..].iter().all(|record| record.waited_ns < 1_000_000), "{late:?}");
    }

    #[test]
    fn late_ranks_of_a_slow_node_share_what_the_others_waited() {
        // Eight of 32 ranks are 1 ms late, in an order that changes from call to call.
        let slow = |rank: u32| (8..16).contains(&rank);
        let late = late_of::<32>(400, |number, rank| if slow(rank) { 1_000_000 } else { 0 } + jitter(number, rank));
        assert!(late[..8].iter().all(|record| slow(record.rank)), "{late:?}");
        assert!(late[7].waited_ns * 2 > late[0].waited_ns, "{late:?}");
        let all: u64 = late.iter().map(|record| record.waited_ns).sum();
        let waited = 400.0 * 24.0 * 1e6;
        assert!((all as f64 / waited - 1.0).abs() < 0.02, "all that was waited is charged: {all} of {waited}");
    }

    #[test]
    fn nobody_is_charged_for_ranks_that_did_not_wait() {
        // Rank 0 is the root of a bcast and gone at once, rank 1 stays until rank 2 has come, 5 ms late.
        let room = Room::new(1 << 20);
        let mut ranks: Vec<Arrivals> = (0..3).map(|_| Arrivals::default()).collect();
        for number in 0..100u64 {
            for (rank, (enter, ticks)) in [(0, 300), (0, 5_000_300), (5_000_000, 400)].into_iter().enumerate() {
                call(&mut ranks[rank], &room, number * 10_000_000 + enter, ticks);
            }
        }
        let moment = |arrival: &Arrival| arrival.enter as i64;
        let met = ranks.iter().zip(0..).map(|(arrivals, rank)| arrivals.meetings(rank, moment));
        let met = met.reduce(|left, right| meet(&left, &right)).unwrap();
        let mut all = vec![0.0; met.len()];
        for arrivals in &ranks {
            all.iter_mut().zip(arrivals.waited(&met, moment, 1.0)).for_each(|(all, own)| *all += own);
        }
        let found = late(&met, Some(&all), &[0, 1, 2], 1.0);
        assert_eq!(found, [LateRecord { rank: 2, calls: 100, waited_ns: 100 * (300 + 5_000_000) }]);
    }

    #[test]
    fn however_the_ranks_are_grouped_a_call_says_the_same() {
        let room = Room::new(1 << 20);
        let of = |rank: u32| {
            let mut arrivals = Arrivals::default();
            (0..20).for_each(|number| call(&mut arrivals, &room, jitter(number, rank * 3) / 500, 1));
            arrivals.meetings(rank, |call| call.enter as i64)
        };
        let all: Vec<Vec<Meeting>> = (0..7).map(of).collect();
        let in_a_row = all.clone().into_iter().reduce(|left, right| meet(&left, &right)).unwrap();
        let pairs = all[1..].chunks(2).map(|pair| meet(&pair[1], &pair[0])).reduce(|left, right| meet(&right, &left));
        let by_pairs = meet(&pairs.unwrap(), &all[0]);
        assert_eq!(by_pairs, in_a_row);
        let members: Vec<u32> = (0..7).collect();
        assert_eq!(late(&by_pairs, None, &members, 1.0), late(&in_a_row, None, &members, 1.0));
    }

    #[test]
    fn what_was_waited_in_calls_that_are_not_kept_is_charged_too() {
        // Rank 2 comes 300 later than the others to each of 10,000 calls, few of which are kept.
        let room = Room::new(300 * size_of::<Arrival>());
        let mut ranks: Vec<Arrivals> = (0..3).map(|_| Arrivals::default()).collect();
        for number in 0..10_000u64 {
            for (arrivals, late) in ranks.iter_mut().zip([0, 0, 300]) {
                call(arrivals, &room, number * 1000 + late, 400 - late);
            }
        }
        let moment = |arrival: &Arrival| arrival.enter as i64;
        let met = ranks.iter().zip(0..).map(|(arrivals, rank)| arrivals.meetings(rank, moment));
        let met = met.reduce(|left, right| meet(&left, &right)).unwrap();
        assert!(met.len() < 100, "{}", met.len());
        let (mut all, mut told) = (vec![0.0; met.len()], 0.0);
        for (arrivals, late) in ranks.iter().zip([0, 0, 300]) {
            all.iter_mut().zip(arrivals.waited(&met, moment, 1.0)).for_each(|(all, own)| *all += own);
            told += arrivals.waiting(&met, moment, 1.0)[0].1 * 10_000.0 * f64::from(400 - late);
        }
        let scale = told / all.iter().sum::<f64>();
        let [found] = &late(&met, Some(&all), &[0, 1, 2], scale)[..] else { panic!("one late rank") };
        assert_eq!((found.calls, found.waited_ns), (met.len() as u64, 10_000 * 2 * 300));
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
    fn a_loop_of_several_calls_keeps_some_of_each() {
        let (room, mut arrivals) = (Room::new(4096 * size_of::<Arrival>()), Arrivals::default());
        (0..100_000).for_each(|enter| call(&mut arrivals, &room, enter, 1));
        let kept = numbers(&arrivals);
        for period in [2, 3, 4, 16, 64] {
            let each: Vec<_> =
                (0..period).map(|place| kept.iter().filter(|number| *number % period == place).count()).collect();
            let (least, most) = (each.iter().min().unwrap(), each.iter().max().unwrap());
            assert!(*least > 0 && *most < 4 * least, "{period}: {each:?}");
        }
    }

    #[test]
    fn without_room_nothing_is_kept_and_nothing_goes_wrong() {
        let (room, mut arrivals) = (Room::new(0), Arrivals::default());
        (0..1_000).for_each(|enter| call(&mut arrivals, &room, enter, 1));
        assert_eq!((arrivals.calls(), arrivals.kept.capacity()), (1_000, 0));
    }

    #[test]
    fn of_calls_that_are_not_recorded_or_forgotten_only_the_number_counts() {
        let (room, mut arrivals) = (Room::new(1 << 20), Arrivals::default());
        (0..10).for_each(|enter| call(&mut arrivals, &room, enter, 1));
        for _ in 0..5 {
            arrivals.count(false);
        }
        assert_eq!((arrivals.calls(), arrivals.recorded()), (15, 10));
        arrivals.reset();
        (0..3).for_each(|enter| call(&mut arrivals, &room, enter, 1));
        assert_eq!((arrivals.calls(), arrivals.recorded(), numbers(&arrivals)), (18, 3, vec![15, 16, 17]));
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
