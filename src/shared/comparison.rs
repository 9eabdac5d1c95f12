//! Which way long messages come faster: read out of the sender's memory, with one copy and a system call that finds
//! each page, or through the areas, with two copies that overlap.
//!
//! That is a matter of the machine and of the length. Between 2 cores of an AMD EPYC the areas took half the time of
//! reading from 16 to 256 KiB, 0.6 of it at 2 MiB and a third at 16 MiB; between 2 of an Intel Xeon reading gained 10
//! to 40 % at 16 KiB. It is also a matter of the moment: where something else ran beside, 16 MiB took twenty times as
//! long through the areas, as each of their hundreds of turns waits for the rank that was interrupted. So the receiver
//! lets the first few messages of each length come one way and the other in turns, goes on with the faster one, keeps
//! the times up to date and tries the other one again now and then. No rank but the sender has to know.
//!
//! Along a [track](super::track) the first messages take as long as any memory that nobody has used for a while, and only
//! those after it has been gone along once tell what it is worth: there that way is tried for as long in a row.

use std::time::Duration;

/// Messages that come each way before it is decided.
const EACH: u64 = 4;
/// From this length on fewer are enough, as each takes long and its time is a mean by itself.
const LONG: usize = 4 << 20;
const EACH_LONG: u64 = 2;
/// Messages after which the other way is tried again; twice as many each time that changes nothing, up to [`SELDOM`].
const AGAIN: u64 = 32;
const SELDOM: u64 = 4096;
/// Lengths are told apart by their powers of two, from this length on.
const SHORTEST: usize = 16 << 10;
/// The last class has all from this length on.
const LONGEST: usize = 1 << 30;
/// Shorter ones, to which lending and declining a message is a cost, are not lent for a while once another try has
/// confirmed the areas.
const NEGLIGIBLE: usize = 256 << 10;
const CLASSES: usize = (LONGEST / SHORTEST).ilog2() as usize + 1;

/// How a lent message comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// It is read.
    Read,
    /// Through the areas.
    Areas,
    /// Through the areas, as many others of such a length from now on.
    AreasForWhile,
}

/// What is known of one way.
#[derive(Clone, Copy, Debug, Default)]
struct Time {
    /// Picoseconds per byte, once there is one.
    per_byte: Option<f32>,
}

impl Time {
    /// A message took so long. What is faster counts at once; what is slower, by an eighth and as at most four times as
    /// slow, as it may have been held up.
    fn took(&mut self, per_byte: f32) {
        self.per_byte = Some(match self.per_byte {
            Some(known) if per_byte > known => known + (per_byte.min(4.0 * known) - known) / 8.0,
            _ => per_byte,
        });
    }
}

/// What is known of messages of one length.
#[derive(Clone, Copy, Debug, Default)]
struct Class {
    number: u64,
    read: Time,
    areas: Time,
    /// The number of the message that tries the other way again; 0 before anything is decided.
    again: u64,
    /// After how many it does so.
    after: u64,
    /// Messages that come along the track when that is tried; 0 while there is none.
    along: u64,
    /// How many of them are still to come.
    left: u64,
}

impl Class {
    /// Whether reading is the faster way, by what is known.
    fn is_read(&self) -> bool {
        self.read.per_byte <= self.areas.per_byte
    }

    /// After how many messages the other way is tried again, at first.
    fn soon(&self) -> u64 {
        AGAIN.max(4 * self.along)
    }

    /// Whether another try has confirmed the areas.
    fn is_confirmed(&self) -> bool {
        !self.is_read() && self.after > self.soon() && self.number != self.again
    }

    /// How many messages of `length` bytes come in turns at first, or along the track and then the other way.
    const fn first(&self, length: usize) -> u64 {
        let each = if length < LONG { EACH } else { EACH_LONG };
        if self.along > 0 { self.along + each } else { 2 * each }
    }

    /// Whether the next message is read.
    fn is_next_read(&mut self, length: usize) -> bool {
        if self.number < self.first(length) {
            return if self.along > 0 { self.number >= self.along } else { self.number.is_multiple_of(2) };
        }
        let is_tried = self.number == self.again;
        if is_tried && self.is_read() {
            self.left = self.along.max(1);
        }
        match self.is_read() {
            true => self.left == 0,
            false => is_tried,
        }
    }

    fn took(&mut self, was_read: bool, per_byte: f32, first: u64) {
        let before = self.is_read();
        self.left = self.left.saturating_sub(1);
        let way = if was_read { &mut self.read } else { &mut self.areas };
        way.took(per_byte);
        let changed = self.is_read() != before;
        let soon = self.soon();
        if self.number + 1 == first || (self.number >= first && changed) {
            self.after = soon;
            self.again = self.number + 1 + soon;
            self.left = 0;
        } else if self.number >= first && self.number >= self.again && self.left == 0 {
            self.after = (2 * self.after).min(SELDOM.max(soon));
            self.again = self.number + 1 + self.after;
        }
        self.number += 1;
    }
}

/// What is known of each length.
#[derive(Debug)]
pub struct Comparison {
    /// None where nothing is compared, and everything read.
    classes: Option<[Class; CLASSES]>,
}

impl Comparison {
    /// Nothing is known yet.
    pub fn begin() -> Self {
        Self { classes: Some([Class::default(); CLASSES]) }
    }

    /// Everything is read: where ranks share cores, times say little, and the areas take a change of ranks for each
    /// that is filled.
    pub const fn none() -> Self {
        Self { classes: None }
    }

    /// The number of a length's class: less than 64, and alike for lengths between two powers of two.
    pub const fn class(length: usize) -> u32 {
        usize::BITS - 1 - length.leading_zeros()
    }

    /// That of a length; none of one that always is read.
    fn of(&mut self, length: usize) -> Option<&mut Class> {
        let place = Self::class(length.min(LONGEST)).checked_sub(Self::class(SHORTEST))?;
        self.classes.as_mut()?.get_mut(place as usize)
    }

    /// How a message of `length` bytes, at least one, comes; if through the areas, along a track of `track` bytes, 0
    /// where that is not ready.
    pub fn way(&mut self, length: usize, track: usize) -> Way {
        let Some(class) = self.of(length) else { return Way::Read };
        if track > 0 && class.along == 0 {
            // What is known of the areas does not hold for it.
            *class = Class { along: (track / length) as u64 + EACH, ..Class::default() };
        }
        match class.is_next_read(length) {
            true => Way::Read,
            false if length < NEGLIGIBLE && class.is_confirmed() => {
                // When it is asked again times will be others. A track that has been in use need not be gone along first.
                *class = Class { along: class.along.min(EACH), ..Class::default() };
                Way::AreasForWhile
            }
            false => Way::Areas,
        }
    }

    /// Whether the time of a message of `length` bytes is of use.
    pub fn is_open(&mut self, length: usize) -> bool {
        self.of(length).is_some()
    }

    /// A message of `length` bytes took `time`, by reading it or through the areas.
    pub fn took(&mut self, length: usize, was_read: bool, time: Duration) {
        // Of a clock that has not moved nothing would be slower for ever.
        let per_byte = (time.max(Duration::from_nanos(1)).as_secs_f64() * 1e12 / length as f64) as f32;
        if let Some(class) = self.of(length) {
            let first = class.first(length);
            class.took(was_read, per_byte, first);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{AGAIN, Comparison, Way};
    use std::time::Duration;

    /// Messages of `length` bytes take so many nanoseconds, read and through the areas; the ways that they came.
    fn ways(comparison: &mut Comparison, length: usize, [read, areas]: [u64; 2], number: usize) -> Vec<Way> {
        let mut came = || {
            let way = comparison.way(length, 0);
            if comparison.is_open(length) && way != Way::AreasForWhile {
                let was_read = way == Way::Read;
                comparison.took(length, was_read, Duration::from_nanos(if was_read { read } else { areas }));
            }
            way
        };
        (0..number).map(|_| came()).collect()
    }

    #[test]
    fn a_track_is_judged_by_what_comes_after_the_first_time_along_it() {
        let length = 128 << 10;
        let mut comparison = Comparison::begin();
        assert_eq!(ways(&mut comparison, length, [12_000, 15_000], 100)[8..10], [Way::Read; 2]);
        let mut along = 0;
        let mut came = |comparison: &mut Comparison, warm: u64| {
            let way = comparison.way(length, 2 << 20);
            if way == Way::AreasForWhile {
                return way;
            }
            along += u64::from(way == Way::Areas);
            let ns = if way == Way::Read {
                12_000
            } else if along <= 16 {
                20_000
            } else {
                warm
            };
            comparison.took(length, way == Way::Read, Duration::from_nanos(ns));
            way
        };
        let first: Vec<_> = (0..30).map(|_| came(&mut comparison, 5_000)).collect();
        assert_eq!(first[..24], [[Way::Areas; 20].as_slice(), &[Way::Read; 4]].concat());
        assert_eq!(first[24..], [Way::Areas; 6]);
        let later: Vec<_> = (0..200).map(|_| came(&mut comparison, 5_000)).collect();
        assert!(later.contains(&Way::AreasForWhile));
        // Where it is no gain it is tried as long, but seldom.
        let mut comparison = Comparison::begin();
        let all: Vec<_> = (0..10_000).map(|_| came(&mut comparison, 13_000)).collect();
        let tries = all.iter().filter(|way| **way == Way::Areas).count();
        assert!(tries <= 20 * 8 && tries % 20 == 0, "{tries}");
        assert_eq!(all.last(), Some(&Way::Read));
    }

    const A_WHILE: usize = AGAIN as usize;

    #[test]
    fn each_length_comes_the_faster_way() {
        let mut comparison = Comparison::begin();
        let slow = ways(&mut comparison, 32 << 10, [4000, 2000], 10);
        assert_eq!(slow[..8], [Way::Read, Way::Areas].repeat(4));
        assert_eq!(slow[8..], [Way::Areas; 2]);
        assert_eq!(ways(&mut comparison, 40 << 10, [4000, 2000], 1), [Way::Areas], "of the same power of two");
        assert_eq!(ways(&mut comparison, 64 << 10, [2000, 4000], 10)[8..], [Way::Read; 2]);
        let long = ways(&mut comparison, 16 << 20, [4_000_000, 2_000_000], 6);
        assert_eq!(long, [Way::Read, Way::Areas, Way::Read, Way::Areas, Way::Areas, Way::Areas]);
        assert_eq!(ways(&mut comparison, usize::MAX, [1, 2], 1), [Way::Read]);
    }

    #[test]
    fn short_ones_are_not_lent_for_a_while_once_another_try_has_confirmed_the_areas() {
        let mut comparison = Comparison::begin();
        let mut expected = [Way::Read, Way::Areas].repeat(4);
        expected.extend([Way::Areas].repeat(A_WHILE));
        // Then it begins anew.
        expected.extend([Way::Read, Way::AreasForWhile, Way::Read]);
        assert_eq!(ways(&mut comparison, 32 << 10, [4000, 2000], A_WHILE + 11), expected);
        let long = ways(&mut comparison, 256 << 10, [40_000, 20_000], 10_000);
        assert!(!long.contains(&Way::AreasForWhile), "its place can be taken at any time");
        let reads = long[8..].iter().filter(|way| **way == Way::Read).count();
        assert!((5..=10).contains(&reads), "{reads} tries of the other way");
    }

    #[test]
    fn the_fastest_of_each_counts() {
        let mut comparison = Comparison::begin();
        for ns in [[9000, 3000], [2000, 9000], [9000, 9000], [9000, 9000]] {
            ways(&mut comparison, 1 << 20, ns, 2);
        }
        assert_eq!(comparison.way(1 << 20, 0), Way::Read);
    }

    #[test]
    fn what_was_decided_wrongly_is_corrected_by_another_try() {
        let mut comparison = Comparison::begin();
        assert_eq!(
            ways(&mut comparison, 512 << 10, [40_000, 80_000], 10)[8..],
            [Way::Read; 2],
            "all four were held up"
        );
        let later = ways(&mut comparison, 512 << 10, [40_000, 20_000], A_WHILE + 10);
        assert_eq!(later[A_WHILE..], [Way::Areas; 10]);
    }

    #[test]
    fn one_that_is_held_up_changes_nothing_and_several_do() {
        let mut comparison = Comparison::begin();
        ways(&mut comparison, 16 << 20, [6_000_000, 2_000_000], 10);
        assert_eq!(ways(&mut comparison, 16 << 20, [6_000_000, 70_000_000], 1), [Way::Areas]);
        assert_eq!(ways(&mut comparison, 16 << 20, [6_000_000, 2_000_000], 2), [Way::Areas; 2]);
        let disturbed = ways(&mut comparison, 16 << 20, [6_000_000, 70_000_000], 8);
        assert_eq!(disturbed, [[Way::Areas; 4], [Way::Read; 4]].concat());
        let quiet = ways(&mut comparison, 16 << 20, [6_000_000, 2_000_000], A_WHILE + 8);
        assert_eq!(quiet[A_WHILE..], [Way::Areas; 8]);
    }

    #[test]
    fn a_clock_that_has_not_moved_once_decides_nothing_for_ever() {
        let mut comparison = Comparison::begin();
        assert_eq!(ways(&mut comparison, 1 << 20, [10_000, 0], 10)[8..], [Way::Areas; 2]);
        assert_eq!(*ways(&mut comparison, 1 << 20, [10_000, 1_000_000], 200).last().unwrap(), Way::Read);
    }

    #[test]
    fn without_comparison_everything_is_read() {
        let mut comparison = Comparison::none();
        assert_eq!(ways(&mut comparison, 1 << 20, [9000, 1], 20), [Way::Read; 20]);
        for length in [1, super::SHORTEST - 1] {
            assert_eq!(ways(&mut Comparison::begin(), length, [9000, 1], 20), [Way::Read; 20]);
        }
    }
}
