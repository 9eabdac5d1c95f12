//! Which calls a time line shows where it cannot show all: the first, the slowest and the last.

use super::Event;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// How many calls of a rank are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// From its first on.
    pub first: usize,
    /// Those that took longest of the others.
    pub slowest: usize,
    /// Up to its last.
    pub last: usize,
}

impl Parts {
    /// All of them.
    pub const fn sum(&self) -> usize {
        self.first + self.slowest + self.last
    }
}

/// What is shown of a rank's calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// In the order in which they were logged.
    pub events: Vec<Event>,
    /// Calls that are not.
    pub missing: u64,
    /// Nanoseconds since 1970 from the end of the first ones to the entry of the last ones, where calls are missing
    /// between them; no beginning where the very first calls are missing.
    pub between: Option<(Option<u64>, u64)>,
}

/// The first and the slowest of the calls that were offered.
#[derive(Debug)]
pub(super) struct Picked {
    parts: Parts,
    offered: u64,
    first: Vec<Event>,
    slowest: BinaryHeap<Reverse<Slow>>,
}

/// A call by how long it took; of two that took as long the earlier one is worth more.
#[derive(Debug)]
struct Slow {
    number: u64,
    event: Event,
}

impl Slow {
    const fn key(&self) -> (u64, Reverse<u64>) {
        (self.event.duration_ns, Reverse(self.number))
    }
}

impl PartialEq for Slow {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Slow {}

impl PartialOrd for Slow {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Slow {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl Picked {
    /// None yet; all the memory that it will ever have.
    pub fn new(parts: Parts) -> Self {
        let (first, slowest) = (Vec::with_capacity(parts.first), BinaryHeap::with_capacity(parts.slowest + 1));
        Self { parts, offered: 0, first, slowest }
    }

    /// Takes a call in; whether it, or another for it, was thrown away.
    pub fn offer(&mut self, event: Event) -> bool {
        let number = self.offered;
        self.offered += 1;
        if self.first.len() < self.parts.first {
            self.first.push(event);
            return false;
        }
        // Most calls are no slower than the fastest of those that are kept.
        if self.slowest.len() == self.parts.slowest
            && self.slowest.peek().is_none_or(|fastest| event.duration_ns <= fastest.0.event.duration_ns)
        {
            return true;
        }
        self.slowest.push(Reverse(Slow { number, event }));
        self.slowest.len() > self.parts.slowest && self.slowest.pop().is_some()
    }

    /// These and the `last` ones.
    pub fn with(&self, last: impl Iterator<Item = Event>, missing: u64) -> Shown {
        let mut slowest: Vec<&Slow> = self.slowest.iter().map(|Reverse(slow)| slow).collect();
        slowest.sort_by_key(|slow| slow.number);
        let mut last = last.peekable();
        let begin = self.first.last().map(|event| event.enter_unix_ns + event.duration_ns);
        let between = last.peek().filter(|_| missing > 0).map(|event| (begin, event.enter_unix_ns));
        let slowest = slowest.into_iter().map(|slow| slow.event);
        let events = self.first.iter().copied().chain(slowest).chain(last).collect();
        Shown { events, missing, between }
    }
}
