//! Messages that this rank sent, by receiver.

use super::{Budget, TrafficRecord};
use std::sync::Arc;

/// Messages and bytes to each of a number of ranks. What it holds is a matter of how many of them were sent to, not of
/// how many there are: algorithms send to some logarithm of them.
#[derive(Debug, Default)]
pub struct Traffic {
    /// A hash table with a power of two of slots, or, once many were sent to, a slot for each rank.
    slots: Vec<Slot>,
    /// Places in use, as long as it is a hash table.
    used: usize,
    /// Possible receivers.
    ranks: usize,
    /// What is charged for the memory, and how much was.
    budget: Option<Arc<Budget>>,
    charged: u64,
}

/// A receiver and what it was sent; one with no message is none.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    to: u32,
    messages: u64,
    bytes: u64,
}

/// Places of the first hash table.
const FIRST: usize = 8;

impl Traffic {
    /// No messages yet, to `ranks` possible receivers.
    pub fn new(ranks: usize) -> Self {
        let mut traffic = Self::default();
        traffic.ranks = ranks;
        traffic
    }

    /// The same; its memory is charged to `budget` as long as it lasts.
    pub fn within(budget: Arc<Budget>, ranks: usize) -> Self {
        let mut traffic = Self::new(ranks);
        traffic.budget = Some(budget);
        traffic
    }

    /// Counts one message of `bytes` bytes to rank `to`. Receivers outside the world (of spawned processes) have no
    /// place in the matrix and are not counted.
    #[inline]
    pub fn sent(&mut self, to: usize, bytes: u64) {
        self.add_to(to, 1, bytes);
    }

    /// Counts `messages` messages, at least one, of `bytes` bytes in all to rank `to`.
    #[inline]
    pub fn add_to(&mut self, to: usize, messages: u64, bytes: u64) {
        let first = self.first_slot(to);
        match self.slots.get_mut(first) {
            Some(slot) if slot.to as usize == to && slot.messages > 0 => {
                slot.messages += messages;
                slot.bytes += bytes;
            }
            _ => self.add_elsewhere(to, messages, bytes),
        }
    }

    /// Where a receiver is looked for first.
    #[inline]
    fn first_slot(&self, to: usize) -> usize {
        if self.slots.len() == self.ranks { to } else { spread(to) & self.slots.len().wrapping_sub(1) }
    }

    /// Bytes to rank `to`; `None` if it was sent nothing, or is not counted.
    pub fn bytes_to(&self, to: usize) -> Option<u64> {
        let (first, slots) = (self.first_slot(to), self.slots.len());
        let places = (0..slots).map(|next| (first + next) % slots);
        let probed = places.map_while(|at| self.slots.get(at).filter(|slot| slot.messages > 0));
        probed.into_iter().find(|slot| slot.to as usize == to).map(|slot| slot.bytes)
    }

    /// One that is new, or not in its first slot.
    #[cold]
    fn add_elsewhere(&mut self, to: usize, messages: u64, bytes: u64) {
        if to >= self.ranks || messages == 0 {
            return;
        }
        if self.slots.len() < self.ranks && 2 * (self.used + 1) > self.slots.len() {
            self.grow();
        }
        let mut at = self.first_slot(to);
        while self.slots[at].messages > 0 && self.slots[at].to as usize != to {
            at = (at + 1) & (self.slots.len() - 1);
        }
        let slot = &mut self.slots[at];
        self.used += usize::from(slot.messages == 0);
        *slot = Slot { to: to as u32, messages: slot.messages + messages, bytes: slot.bytes + bytes };
    }

    /// Makes room for twice as many receivers; a slot for each where that is no more than the hash table would have.
    fn grow(&mut self) {
        let doubled = (2 * self.slots.len()).max(FIRST);
        let length = if doubled >= self.ranks { self.ranks } else { doubled };
        let more = ((length - self.slots.len()) * size_of::<Slot>()) as u64;
        self.charged += self.budget.as_ref().map_or(0, |budget| budget.charge(more));
        let old = std::mem::replace(&mut self.slots, vec![Slot::default(); length]);
        self.used = 0;
        for slot in old.iter().filter(|slot| slot.messages > 0) {
            self.add_elsewhere(slot.to as usize, slot.messages, slot.bytes);
        }
    }

    /// Adds what another thread of this rank counted.
    pub fn add(&mut self, other: &Self) {
        for slot in &other.slots {
            self.add_to(slot.to as usize, slot.messages, slot.bytes);
        }
    }

    /// Forgets what was counted.
    pub fn reset(&mut self) {
        self.slots.fill(Slot::default());
        self.used = 0;
    }

    /// The receivers that got something, in order.
    pub fn records(&self) -> Vec<TrafficRecord> {
        let receivers = self.slots.iter().filter(|slot| slot.messages > 0);
        let mut records: Vec<_> =
            receivers.map(|&Slot { to, messages, bytes }| TrafficRecord { to, messages, bytes }).collect();
        records.sort_unstable_by_key(|record| record.to);
        records
    }
}

impl Drop for Traffic {
    fn drop(&mut self) {
        if let Some(budget) = &self.budget {
            budget.give(self.charged);
        }
    }
}

/// Receivers of tree and hypercube algorithms differ in one bit: all bits have a part in the slot.
#[inline]
const fn spread(to: usize) -> usize {
    ((to as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn messages_add_up_per_receiver() {
        let mut traffic = Traffic::new(3);
        traffic.sent(2, 10);
        traffic.sent(2, 0);
        traffic.sent(7, 99);
        let mut other = Traffic::new(3);
        other.sent(0, 1);
        traffic.add(&other);
        let expected =
            [TrafficRecord { to: 0, messages: 1, bytes: 1 }, TrafficRecord { to: 2, messages: 2, bytes: 10 }];
        assert_eq!(traffic.records(), expected);
        traffic.reset();
        assert!(traffic.records().is_empty());
        Traffic::default().sent(0, 1);
        assert_eq!(Traffic::default().bytes_to(0), None);
    }

    #[test]
    fn memory_is_charged_and_given_back() {
        let budget = Arc::new(Budget::of(10_000));
        let mut traffic = Traffic::within(Arc::clone(&budget), 1000);
        (0..5).for_each(|to| traffic.sent(to * 200, 1));
        assert!(!budget.has(10_000 - 16 * 24 + 1) && budget.has(10_000 - 16 * 24));
        drop(traffic);
        assert!(budget.has(10_000));
    }

    proptest! {
        #[test]
        fn counts_are_those_of_a_map(ranks in 1usize..70, sent in prop::collection::vec((0usize..80, 0u64..9), 0..300)) {
            let (mut traffic, mut map) = (Traffic::new(ranks), BTreeMap::<u32, (u64, u64)>::new());
            for (to, bytes) in sent {
                traffic.sent(to, bytes);
                if to < ranks {
                    let (messages, sum) = map.entry(to as u32).or_default();
                    (*messages, *sum) = (*messages + 1, *sum + bytes);
                }
            }
            for to in 0..80 {
                prop_assert_eq!(traffic.bytes_to(to), map.get(&(to as u32)).map(|(_, sum)| *sum));
            }
            let expected: Vec<_> =
                map.into_iter().map(|(to, (messages, bytes))| TrafficRecord { to, messages, bytes }).collect();
            prop_assert_eq!(traffic.records(), expected);
        }
    }
}
