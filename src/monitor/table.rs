//! One communicator's counters on one rank: the hot path of the monitor.
//!
//! A call costs one [`Table::record`]: no lock, no hashing, and no allocation but in the 28th call of a kind, as long as
//! the caller keeps the [`CounterId`] with the decision that it keeps anyway. Durations are in ticks of whatever clock the caller reads; the
//! length of a tick is told once, when the table is turned into records.

use super::durations::{Durations, Steps};
use super::{Bucket, Budget, CounterRecord, Function};
use std::collections::HashMap;
use std::sync::Arc;

/// What a counter takes of the memory, near enough: its numbers, and what finds it.
pub const COUNTER_BYTES: u64 = 3 << 10;

/// A text that many counters share: an algorithm with its parameters, or what decided it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Label(u16);

/// A counter of a [`Table`]; valid as long as the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CounterId(u32);

impl CounterId {
    /// The first of those that the bound on memory left no room for; the last byte is the [`Function`]'s number, which
    /// is all that is known of them.
    const OVERFLOW: u32 = u32::MAX << u8::BITS;

    /// Stands for every counter of `function` that there is no room for.
    pub const fn overflow(function: Function) -> Self {
        Self(Self::OVERFLOW | function.number() as u32)
    }

    /// The function of a counter by that [number](Self::number) that there is no room for; `None` of one that there is.
    pub fn overflow_function(number: u32) -> Option<Function> {
        if number >= Self::OVERFLOW { Function::from_number(number as u8) } else { None }
    }

    /// Its place among the table's counters.
    pub const fn number(self) -> u32 {
        self.0
    }

    /// The number of this counter of a table that is kept apart from the communicator's own: none of that one's
    /// numbers.
    pub const fn apart(self) -> u32 {
        self.0 | 1 << 31
    }
}

/// What the calls of one counter have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// The MPI function.
    pub function: Function,
    /// Size class of the signature bytes that one rank contributes.
    pub bucket: Bucket,
    /// What ran: `binomial:segment=none`, or [`NATIVE`](super::NATIVE).
    pub algorithm: Label,
    /// What decided it: `forced`, `default one_node.rules:12`, `fallback: intercommunicator`.
    pub decided_by: Label,
}

impl Key {
    const fn packed(self) -> u64 {
        (self.function.number() as u64) << 40
            | (self.bucket.0 as u64) << 32
            | (self.algorithm.0 as u64) << 16
            | self.decided_by.0 as u64
    }
}

/// One communicator's counters; owned by one thread at a time, as MPI allows one collective per communicator at a time.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Table {
    counters: Vec<Counter>,
    labels: Vec<Arc<str>>,
    /// Labels of texts beyond the first few.
    label_of: HashMap<Arc<str>, Label>,
    /// Places of counters, where there are more than a few.
    counter_of: HashMap<u64, CounterId>,
    recent: [Option<(u64, CounterId)>; RECENT],
    budget: Arc<Budget>,
    overflow: Overflow,
}

/// Calls whose counters there was no room for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overflow {
    /// Number of calls.
    pub calls: u64,
    /// Signature bytes of all of them.
    pub bytes: u64,
    /// Ticks of all of them.
    pub ticks: u64,
}

impl Overflow {
    /// Adds `other`.
    pub const fn add(&mut self, other: Self) {
        self.calls += other.calls;
        self.bytes = self.bytes.wrapping_add(other.bytes);
        self.ticks += other.ticks;
    }
}

/// Counters found without asking the map: a program's few repeated calls. Asking costs some 20 ns more.
const RECENT: usize = 16;

/// Labels and counters that are looked for one after the other: communicators that are made for a few calls need no map.
const FEW: usize = 16;

/// What is counted of calls of one key. What each call changes is one line of the cache, and one of the durations.
#[derive(Debug)]
#[repr(C, align(64))]
struct Counter {
    calls: u64,
    bytes: u64,
    total: u64,
    shortest: u64,
    longest: u64,
    waiting: Option<u64>,
    durations: Durations,
    key: Key,
}

// The numbers and where the durations are counted are one line; the first few durations and the key are another.
const _: () = assert!(size_of::<Counter>() == 128 && std::mem::offset_of!(Counter, durations) == 56);

impl Counter {
    fn new(key: Key) -> Self {
        Self {
            key,
            calls: 0,
            bytes: 0,
            total: 0,
            shortest: u64::MAX,
            longest: 0,
            waiting: None,
            durations: Durations::new(),
        }
    }

    fn clear(&mut self) {
        (self.calls, self.bytes, self.total, self.waiting) = (0, 0, 0, None);
        (self.shortest, self.longest) = (u64::MAX, 0);
        self.durations.clear();
    }
}

impl Table {
    /// A table without counters; allocates nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// As [`new`](Self::new), but its counters take their memory from `budget`.
    pub fn within(budget: Arc<Budget>) -> Self {
        Self { budget, ..Self::default() }
    }

    /// The label of `text`. Looked up when a decision is made, not per call.
    ///
    /// The 65,536th and later texts share the label of a text that says so.
    pub fn label(&mut self, text: &str) -> Label {
        if let Some(place) = self.labels.iter().take(FEW).position(|known| **known == *text) {
            return Label(place as u16);
        }
        if let Some(label) = self.label_of.get(text) {
            return *label;
        }
        let label = match u16::try_from(self.labels.len()) {
            Ok(number) if number < u16::MAX => Label(number),
            _ => Label(u16::MAX),
        };
        let known: Arc<str> = text.into();
        if usize::from(label.0) >= self.labels.len() {
            let is_last = label.0 == u16::MAX;
            self.labels.push(if is_last { "(too many different labels)".into() } else { Arc::clone(&known) });
        }
        if (FEW..usize::from(u16::MAX)).contains(&usize::from(label.0)) {
            self.label_of.insert(known, label);
        }
        label
    }

    /// The counter of `key`, made if it is new (the only allocation) and there is room for it.
    #[inline]
    pub fn counter(&mut self, key: Key) -> CounterId {
        let packed = key.packed();
        // Fibonacci hashing: the top bits of the product depend on all bits of the key.
        let place = (packed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - RECENT.ilog2())) as usize;
        match self.recent[place] {
            Some((recent, counter)) if recent == packed => counter,
            _ => {
                let counter = self.find_or_make(packed, key);
                self.recent[place] = Some((packed, counter));
                counter
            }
        }
    }

    #[cold]
    fn find_or_make(&mut self, packed: u64, key: Key) -> CounterId {
        let place = |place| CounterId(place as u32);
        let known = match self.counters.len() {
            0..=FEW => self.counters.iter().position(|counter| counter.key == key).map(place),
            _ => self.counter_of.get(&packed).copied(),
        };
        if let Some(known) = known {
            return known;
        }
        if !self.budget.take(COUNTER_BYTES) {
            return CounterId::overflow(key.function);
        }
        self.counters.push(Counter::new(key));
        if self.counters.len() > FEW {
            let missing = self.counters.iter().enumerate().skip(self.counter_of.len());
            self.counter_of.extend(missing.map(|(number, counter)| (counter.key.packed(), place(number))));
        }
        place(self.counters.len() - 1)
    }

    /// Counts one call of `bytes` signature bytes that took `ticks`.
    #[inline]
    pub fn record(&mut self, counter: CounterId, bytes: u64, ticks: u64) {
        let Some(counter) = self.counters.get_mut(counter.0 as usize) else {
            return self.overflow.add(Overflow { calls: 1, bytes, ticks });
        };
        counter.calls += 1;
        counter.bytes = counter.bytes.wrapping_add(bytes);
        counter.total += ticks;
        counter.shortest = counter.shortest.min(ticks);
        counter.longest = counter.longest.max(ticks);
        counter.durations.record(ticks);
    }

    /// Its counters, in the order of [`records`](Self::records).
    pub fn ids(&self) -> impl Iterator<Item = CounterId> {
        (0..self.counters.len() as u32).map(CounterId)
    }

    /// Algorithm of a counter, and what decided it.
    pub fn texts(&self, counter: CounterId) -> (&str, &str) {
        self.counters
            .get(counter.0 as usize)
            .map_or(("", ""), |counter| (self.text(counter.key.algorithm), self.text(counter.key.decided_by)))
    }

    /// Says that `ticks` of what was recorded for the counter were spent waiting for the last rank to arrive.
    #[inline]
    pub fn waited(&mut self, counter: CounterId, ticks: u64) {
        if let Some(counter) = self.counters.get_mut(counter.0 as usize) {
            *counter.waiting.get_or_insert(0) += ticks;
        }
    }

    /// By [number](CounterId::number), the ticks of each counter's calls, and those of them that were spent waiting as
    /// far as that was [told](Self::waited).
    pub fn times(&self) -> Vec<(u64, u64)> {
        self.counters.iter().map(|counter| (counter.total, counter.waiting.unwrap_or(0))).collect()
    }

    /// Nothing more will be counted: of what its counters took, all is given back but the `bytes` that what is kept of
    /// them takes. Gives what is left taken.
    pub fn settle(&self, bytes: u64) -> u64 {
        let taken = self.counters.len() as u64 * COUNTER_BYTES;
        match taken.checked_sub(bytes) {
            Some(less) => {
                self.budget.give(less);
                bytes
            }
            None => taken + self.budget.charge(bytes - taken),
        }
    }

    /// Forgets what was counted; ids and labels stay valid.
    pub fn reset(&mut self) {
        self.counters.iter_mut().for_each(Counter::clear);
        self.overflow = Overflow::default();
    }

    /// Calls whose counters there was no room for.
    pub const fn overflow(&self) -> Overflow {
        self.overflow
    }

    /// What was counted, a counter's place being its id, with times in nanoseconds. Counters may have no calls.
    pub fn records(&self, nanoseconds_per_tick: f64) -> Vec<CounterRecord> {
        let nanoseconds = |ticks: u64| (ticks as f64 * nanoseconds_per_tick).round() as u64;
        let (mut steps, mut ends) = (Vec::new(), vec![0]);
        for counter in &self.counters {
            counter.durations.append_to(
                &mut steps,
                (counter.shortest.min(counter.longest), counter.longest),
                nanoseconds,
            );
            ends.push(steps.len() as u32);
        }
        let steps = Arc::from(steps);
        let own = |number: usize| Steps::part(&steps, ends[number]..ends[number + 1]);
        self.counters
            .iter()
            .enumerate()
            .map(|(number, counter)| self.record_of(counter, own(number), &nanoseconds))
            .collect()
    }

    fn record_of(&self, counter: &Counter, durations: Steps, nanoseconds: &impl Fn(u64) -> u64) -> CounterRecord {
        CounterRecord {
            function: counter.key.function,
            bucket: counter.key.bucket,
            algorithm: self.shared_text(counter.key.algorithm),
            decided_by: self.shared_text(counter.key.decided_by),
            calls: counter.calls,
            bytes: counter.bytes,
            total_ns: nanoseconds(counter.total),
            min_ns: nanoseconds(counter.shortest.min(counter.longest)),
            max_ns: nanoseconds(counter.longest),
            waiting_ns: counter.waiting.map(nanoseconds),
            durations,
        }
    }

    fn shared_text(&self, label: Label) -> Arc<str> {
        self.labels.get(usize::from(label.0)).or(self.labels.last()).map_or_else(|| "".into(), Arc::clone)
    }

    fn text(&self, label: Label) -> &str {
        self.labels.get(usize::from(label.0)).or(self.labels.last()).map_or("", |text| text)
    }
}

#[cfg(test)]
mod tests {
    use super::super::durations::middle;
    use super::*;
    use crate::operation::Operation;

    fn key(table: &mut Table, bytes: u64, algorithm: &str) -> Key {
        Key {
            function: Operation::Bcast.into(),
            bucket: Bucket::of(bytes),
            algorithm: table.label(algorithm),
            decided_by: table.label("forced"),
        }
    }

    #[test]
    fn a_counter_counts_what_it_is_told_and_nothing_else() {
        let mut table = Table::new();
        let (small, large) = (key(&mut table, 8, "binomial"), key(&mut table, 4096, "binomial"));
        let (small, large) = (table.counter(small), table.counter(large));
        assert_ne!(small, large);
        table.record(small, 8, 100);
        table.record(small, 15, 300);
        table.record(large, 4096, 7);
        table.waited(small, 50);
        let records = table.records(2.0);
        assert_eq!(records.len(), 2);
        let counter = &records[0];
        assert_eq!((counter.calls, counter.bytes, counter.total_ns), (2, 23, 800));
        assert_eq!((counter.min_ns, counter.max_ns, counter.waiting_ns), (200, 600, Some(100)));
        assert_eq!((&*counter.algorithm, &*counter.decided_by), ("binomial", "forced"));
        assert_eq!(counter.durations.iter().map(|(_, count)| count).sum::<u32>(), 2);
    }

    #[test]
    fn the_same_key_is_the_same_counter_also_after_a_reset() {
        let mut table = Table::new();
        let key = key(&mut table, 0, "native");
        let counter = table.counter(key);
        table.record(counter, 0, 5);
        table.reset();
        assert_eq!(table.counter(key), counter);
        let [forgotten] = &table.records(1.0)[..] else { panic!("one counter") };
        assert_eq!((forgotten.calls, forgotten.min_ns, forgotten.max_ns), (0, 0, 0));
        table.record(counter, 0, u64::MAX >> 8);
        assert_eq!(table.records(1.0)[0].calls, 1);
    }

    #[test]
    fn counters_stay_the_same_however_many_there_are() {
        let mut table = Table::new();
        let keys: Vec<_> = (0..3 * FEW).map(|number| key(&mut table, 8, &format!("algorithm {number}"))).collect();
        let made: Vec<_> = keys.iter().map(|key| table.counter(*key)).collect();
        for (number, (key, counter)) in keys.iter().zip(&made).enumerate().rev() {
            assert_eq!((table.counter(*key), counter.number()), (*counter, number as u32));
            assert_eq!(table.texts(*counter), (&*format!("algorithm {number}"), "forced"));
        }
    }

    #[test]
    fn without_room_calls_are_counted_together() {
        let budget = Arc::new(Budget::of(2 * COUNTER_BYTES + 100));
        let (mut table, mut other) = (Table::within(Arc::clone(&budget)), Table::within(budget));
        for bytes in [1, 2, 4, 4, 2] {
            let key = key(&mut table, bytes, "native");
            let counter = table.counter(key);
            table.record(counter, bytes, 10);
        }
        let key = key(&mut other, 1, "native");
        let counter = other.counter(key);
        other.record(counter, 1, 7);
        assert_eq!(table.records(1.0).iter().map(|counter| counter.calls).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(table.overflow(), Overflow { calls: 2, bytes: 8, ticks: 20 });
        assert!(other.records(1.0).is_empty());
        assert_eq!((other.overflow().calls, other.texts(counter)), (1, ("", "")));
        // Its number still tells the function.
        for number in [counter.number(), counter.apart()] {
            assert_eq!(CounterId::overflow_function(number), Some(Operation::Bcast.into()));
        }
        assert_eq!(CounterId::overflow_function(CounterId(1).apart()), None);
        table.reset();
        assert_eq!(table.overflow(), Overflow::default());
    }

    #[test]
    fn what_counters_took_is_given_back_but_for_what_is_kept() {
        let budget = Arc::new(Budget::of(2 * COUNTER_BYTES));
        for _ in 0..5 {
            let mut table = Table::within(Arc::clone(&budget));
            let key = key(&mut table, 8, "native");
            let counter = table.counter(key);
            table.record(counter, 8, 10);
            assert_eq!(table.settle(100), 100);
        }
        assert!(budget.has(2 * COUNTER_BYTES - 500) && !budget.has(2 * COUNTER_BYTES - 499));
        // What is more than the counters is charged as far as there is room.
        let table = Table::within(Arc::clone(&budget));
        assert_eq!((table.settle(1_000), table.settle(u64::MAX)), (1_000, 2 * COUNTER_BYTES - 1_500));
    }

    #[test]
    fn a_duration_is_kept_within_one_sixteenth() {
        for duration in (0..48).flat_map(|k| [1u64 << k, (1 << k) + (1 << k) / 3, (2 << k) - 1]) {
            let mut table = Table::new();
            let key = key(&mut table, 1, "native");
            let counter = table.counter(key);
            table.record(counter, 1, duration);
            let kept = middle(usize::from(table.records(1.0)[0].durations[0].0)) as f64;
            assert!((kept / duration as f64 - 1.0).abs() <= 1.0 / 16.0, "{duration} became {kept}");
        }
    }

    #[test]
    fn texts_beyond_the_last_label_share_one() {
        let mut table = Table::new();
        let last = (0..70_000).map(|number| table.label(&number.to_string())).last();
        assert_eq!(last, Some(Label(u16::MAX)));
        assert_eq!(table.text(Label(u16::MAX)), "(too many different labels)");
        assert_eq!(table.label("17"), Label(17));
    }
}
