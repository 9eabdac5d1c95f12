//! Bruck's rounds of an all-to-all: blocks travel by the digits of the distance that they have to go.

use crate::algorithm::{Cost, Shape};
use crate::operation::{Comm, Range};
use std::ops;

/// The blocks whose distance has a certain digit at a certain weight, which all travel that part of it in one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digit {
    radix: usize,
    weight: usize,
    digit: usize,
}

impl Digit {
    /// The messages of each rank among `size` in digits of base `radix`, in order.
    pub fn all(size: usize, radix: usize) -> impl Iterator<Item = Self> {
        let weights = std::iter::successors(Some(1usize), move |weight| weight.checked_mul(radix));
        weights.take_while(move |weight| *weight < size).flat_map(move |weight| {
            let digits = (1..radix).map(move |digit| Self { radix, weight, digit });
            digits.take_while(move |digit| digit.distance() < size)
        })
    }

    /// How far they travel.
    pub const fn distance(self) -> usize {
        self.digit * self.weight
    }

    /// How much of `distance` a block has passed with this message, of which that is so.
    pub const fn passed(self, distance: usize) -> usize {
        match self.weight.checked_mul(self.radix) {
            Some(next) => distance % next,
            None => distance,
        }
    }

    /// The distances of these blocks, as runs below `size`.
    pub fn runs(self, size: usize) -> impl Iterator<Item = ops::Range<usize>> + Clone {
        let starts = (self.distance()..size).step_by(self.weight.saturating_mul(self.radix));
        starts.map(move |start| start..(start + self.weight).min(size))
    }

    /// How many they are: at most half of `size`, since each is above another one whose digit is 0.
    pub fn blocks(self, size: usize) -> usize {
        self.runs(size).map(|run| run.len()).sum()
    }
}

/// The cost of all rounds one after the other, in which `copies` gives how often the blocks of a message are copied to
/// pack and unpack them.
pub fn cost(shape: &Shape, radix: usize, copies: impl Fn(Digit) -> f64) -> Cost {
    let message = |digit: Digit| {
        let bytes = digit.blocks(shape.ranks) as f64 * shape.bytes as f64;
        Cost { rounds: 1.0, bytes, packed: copies(digit) * bytes, ..Cost::default() }
    };
    Digit::all(shape.ranks, radix).map(message).fold(Cost::default(), |sum, one| sum + one)
}

/// How often [`exchange`] copies the blocks of a message among `ranks` ranks whose places are its distances: to pack them,
/// unless they are one run, and to unpack them.
pub fn copies(digit: Digit, ranks: usize) -> f64 {
    if digit.runs(ranks).nth(1).is_some() { 2.0 } else { 1.0 }
}

/// Sends the blocks of `home` in `runs`, `block` units each, to one rank while as many take their places from another.
/// `rooms` have room for them.
pub fn exchange(
    comm: &mut dyn Comm,
    (home, block): (Range, usize),
    runs: impl Iterator<Item = ops::Range<usize>> + Clone,
    (to, from): (usize, usize),
    rooms: [Range; 2],
) {
    let place = |run: &ops::Range<usize>| home.part(run.start * block, run.len() * block);
    let units = runs.clone().map(|run| run.len() * block).sum();
    let [outgoing, incoming] = rooms.map(|room| room.part(0, units));
    let mut several = runs.clone();
    let first = several.next().map(|run| place(&run));
    let outgoing = match (first, several.next()) {
        (Some(only), None) => only,
        _ => {
            let mut end = 0;
            for run in runs.clone() {
                let from = place(&run);
                comm.copy(from, outgoing.part(end, from.len));
                end += from.len;
            }
            outgoing
        }
    };
    comm.sendrecv(to, outgoing, from, incoming);
    let mut end = 0;
    for run in runs {
        let into = place(&run);
        comm.copy(incoming.part(end, into.len), into);
        end += into.len;
    }
}

/// Whose blocks come by `rank` of `size` and for whom, message by message, in the order of their distances.
pub fn coming_by(rank: usize, size: usize, radix: usize) -> impl Iterator<Item = (usize, usize)> {
    Digit::all(size, radix).flat_map(move |digit| {
        digit.runs(size).flatten().map(move |distance| {
            let from = (rank + size - digit.passed(distance)) % size;
            (from, (from + distance) % size)
        })
    })
}

/// The rounds in digits of base `radix` with a word of `word` units in place of each block: its length. Brings the
/// lengths of all blocks that come by.
pub fn bring_lengths(comm: &mut dyn Comm, word: usize, radix: usize) {
    let (p, r) = (comm.size(), comm.rank());
    if p == 1 {
        return;
    }
    let (turned, room) = (comm.scratch(p * word), comm.scratch(p / 2 * word));
    comm.copy(Range::lengths(r * word, (p - r) * word), turned.part(0, (p - r) * word));
    comm.copy(Range::lengths(0, r * word), turned.part((p - r) * word, r * word));
    let mut end = p;
    for digit in Digit::all(p, radix) {
        let partners = ((r + digit.distance()) % p, (r + p - digit.distance()) % p);
        let learned = Range::lengths(end * word, digit.blocks(p) * word);
        exchange(comm, (turned, word), digit.runs(p), partners, [room, learned]);
        end += digit.blocks(p);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_distance_is_travelled_and_no_message_has_more_than_half_of_the_blocks() {
        for size in 1..70 {
            for radix in 2..9 {
                let mut travelled = vec![0; size];
                for digit in Digit::all(size, radix) {
                    assert!(digit.blocks(size) <= size / 2 && digit.blocks(size) > 0);
                    digit.runs(size).flatten().for_each(|distance| travelled[distance] += digit.distance());
                }
                assert!(travelled.into_iter().eq(0..size));
            }
        }
    }

    #[test]
    fn a_block_comes_by_where_it_is_sent_on_or_ends() {
        for (size, radix) in (1..40).flat_map(|size| [2, 3, 5].map(|radix| (size, radix))) {
            let mut ended = vec![0; size * size];
            for rank in 0..size {
                for (from, to) in coming_by(rank, size, radix) {
                    assert_ne!(from, rank, "no block comes back");
                    ended[from * size + to] += usize::from(to == rank);
                }
            }
            let all = (0..size * size).map(|pair| usize::from(pair / size != pair % size));
            assert!(ended.into_iter().eq(all), "each block ends once");
        }
    }
}
