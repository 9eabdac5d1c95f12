//! Which way long messages come faster: read out of the sender's memory, with one copy and a system call that finds each page, or
//! through the areas, with two copies that overlap.
//!
//! That is a matter of the machine and of the length. Between 2 cores of an AMD EPYC the areas took half the time of reading from
//! 16 to 256 KiB and 0.6 of it at 2 MiB; between 2 of an Intel Xeon reading gained 10 to 40 % at 16 KiB. So the receiver lets the first
//! few messages of each length come one way and the other in turns, and stays with the faster one. No rank but the sender has to know.

use std::time::Duration;

/// Messages that come each way before it is decided, the fastest of which counts.
const EACH: u8 = 4;
/// Lengths are told apart by their powers of two, from this length on.
const SHORTEST: usize = 16 << 10;
/// From this one on all are read: 16 MiB came three times as fast through the areas on a quiet machine, but twenty times slower where
/// something else ran beside, as each of their hundreds of turns waits for the rank that was interrupted.
const ALWAYS_READ: usize = 4 << 20;
const CLASSES: usize = (ALWAYS_READ / SHORTEST).ilog2() as usize;

/// How a lent message comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// It is read.
    Read,
    /// Through the areas, to see how long that takes.
    Areas,
    /// Through the areas, as all others of such a length from now on.
    AreasForGood,
}

/// What is known of messages of one length.
#[derive(Clone, Copy, Debug, Default)]
struct Class {
    number: u8,
    /// Least picoseconds per byte of those that were read, and of those that came through the areas.
    read: Option<u32>,
    areas: Option<u32>,
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

    /// Everything is read: where ranks share cores, times say little, and the areas take a change of ranks for each that is filled.
    pub const fn none() -> Self {
        Self { classes: None }
    }

    /// The number of a length's class: less than 64, and alike for lengths between two powers of two.
    pub const fn class(length: usize) -> u32 {
        usize::BITS - 1 - length.leading_zeros()
    }

    /// That of a length; none of one that always is read.
    fn of(&mut self, length: usize) -> Option<&mut Class> {
        let place = Self::class(length).checked_sub(Self::class(SHORTEST))?;
        self.classes.as_mut()?.get_mut(place as usize)
    }

    /// How a message of `length` bytes, at least one, comes.
    pub fn way(&mut self, length: usize) -> Way {
        let Some(class) = self.of(length) else { return Way::Read };
        match (class.read, class.areas) {
            (Some(read), Some(areas)) if class.number >= 2 * EACH => {
                if read <= areas {
                    Way::Read
                } else {
                    Way::AreasForGood
                }
            }
            _ if class.number.is_multiple_of(2) => Way::Read,
            _ => Way::Areas,
        }
    }

    /// Whether the time of a message of `length` bytes is of use.
    pub fn is_open(&mut self, length: usize) -> bool {
        self.of(length).is_some_and(|class| class.number < 2 * EACH)
    }

    /// A message of `length` bytes took `time`, by reading it or through the areas.
    pub fn took(&mut self, length: usize, was_read: bool, time: Duration) {
        let Some(class) = self.of(length) else { return };
        let per_byte = u32::try_from(time.as_nanos() * 1000 / length as u128).unwrap_or(u32::MAX);
        let least = if was_read { &mut class.read } else { &mut class.areas };
        *least = Some(least.map_or(per_byte, |least| least.min(per_byte)));
        class.number = class.number.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::{Comparison, Way};
    use std::time::Duration;

    /// Messages of `length` bytes take so many nanoseconds, read and through the areas; the ways that they came.
    fn ways(comparison: &mut Comparison, length: usize, [read, areas]: [u64; 2], number: usize) -> Vec<Way> {
        let mut came = || {
            let way = comparison.way(length);
            if comparison.is_open(length) {
                let was_read = way == Way::Read;
                comparison.took(length, was_read, Duration::from_nanos(if was_read { read } else { areas }));
            }
            way
        };
        (0..number).map(|_| came()).collect()
    }

    #[test]
    fn each_length_comes_the_faster_way() {
        let mut comparison = Comparison::begin();
        let slow = ways(&mut comparison, 32 << 10, [4000, 2000], 10);
        assert_eq!(slow[..8], [Way::Read, Way::Areas].repeat(4));
        assert_eq!(slow[8..], [Way::AreasForGood; 2]);
        assert_eq!(ways(&mut comparison, 40 << 10, [1, 1], 1), [Way::AreasForGood], "of the same power of two");
        assert_eq!(ways(&mut comparison, 64 << 10, [2000, 4000], 10)[8..], [Way::Read; 2]);
    }

    #[test]
    fn the_fastest_of_each_counts() {
        let mut comparison = Comparison::begin();
        for ns in [[9000, 3000], [2000, 9000], [9000, 9000], [9000, 9000]] {
            ways(&mut comparison, 1 << 20, ns, 2);
        }
        assert_eq!(comparison.way(1 << 20), Way::Read);
    }

    #[test]
    fn without_comparison_everything_is_read() {
        let mut comparison = Comparison::none();
        assert_eq!(ways(&mut comparison, 1 << 20, [9000, 1], 20), [Way::Read; 20]);
        for length in [1, super::SHORTEST - 1, super::ALWAYS_READ, usize::MAX] {
            assert_eq!(ways(&mut Comparison::begin(), length, [9000, 1], 20), [Way::Read; 20]);
        }
    }
}
