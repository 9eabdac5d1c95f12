//! A bounded cache for what is worked out once per kind of call: set-associative, the least recently used entry of a
//! set goes first, and every byte is charged to an account that all caches of the process share.
//!
//! A hit on the most recent entry of a set costs an index and a comparison and writes nothing; one on another entry
//! moves it to the front of its set. Lookups never allocate. The caller hashes. When what entries rest on has changed,
//! the cache's owner clears it at its next use; somebody else's thread never does.

use super::CacheAccount;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Entries of a set.
const WAYS: usize = 4;
/// Sets of a table when its first entry comes; it doubles when a set overflows.
const FIRST_SETS: usize = 8;

/// What a value holds on the heap; its own size is counted by the cache.
pub trait HeapBytes {
    /// Bytes on the heap.
    fn heap_bytes(&self) -> usize;
}

/// A cache, owned by one thread at a time. Holds no memory before its first entry.
#[derive(Debug)]
pub struct Cache<K, V> {
    /// None, or a power of two; within a set the most recent entry comes first.
    sets: Vec<Set<K, V>>,
    most_sets: usize,
    /// The set whose last entry goes next when memory is short.
    hand: usize,
    account: Arc<CacheAccount>,
}

/// Entries of which any may be where a key belongs; free places come last.
type Set<K, V> = [Option<Box<Entry<K, V>>>; WAYS];

#[derive(Debug)]
struct Entry<K, V> {
    hash: u64,
    key: K,
    /// What it was charged.
    bytes: u64,
    value: V,
}

impl<K: PartialEq, V> Entry<K, V> {
    #[inline]
    fn is(&self, hash: u64, key: &K) -> bool {
        self.hash == hash && self.key == *key
    }
}

impl<K: PartialEq, V: HeapBytes> Cache<K, V> {
    const SET_BYTES: u64 = size_of::<Set<K, V>>() as u64;

    /// A cache of at most `entries` entries (rounded up to a table size, 32 at least), charged to `account`.
    pub fn new(entries: usize, account: Arc<CacheAccount>) -> Self {
        let most_sets = entries.div_ceil(WAYS).next_power_of_two().max(FIRST_SETS);
        Self { sets: Vec::new(), most_sets, hand: 0, account }
    }

    /// The value of `key`, whose hash depends on all of it in its top bits.
    #[inline]
    pub fn find(&mut self, hash: u64, key: &K) -> Option<&mut V> {
        let place = self.place(hash);
        let set = self.sets.get_mut(place)?;
        if !set[0].as_ref().is_some_and(|entry| entry.is(hash, key)) && !bring_to_front(set, hash, key) {
            return None;
        }
        set[0].as_mut().map(|entry| &mut entry.value)
    }

    /// Keeps a value, in place of the one that `key` had; at the cost of others if there is no room. False if there is
    /// none even so.
    pub fn insert(&mut self, hash: u64, key: K, value: V) -> bool {
        drop(self.remove(hash, &key));
        let bytes = Self::charge(&value);
        self.put(Box::new(Entry { hash, key, bytes: 0, value }), bytes)
    }

    /// Changes a value, which may come to hold more or less memory; `None` if there is none. The entry is gone
    /// afterwards if there is no room for what it became.
    pub fn change<R>(&mut self, hash: u64, key: &K, change: impl FnOnce(&mut V) -> R) -> Option<R> {
        let mut entry = self.remove(hash, key)?;
        let result = change(&mut entry.value);
        let bytes = Self::charge(&entry.value);
        self.put(entry, bytes);
        Some(result)
    }

    /// Drops all entries.
    pub fn clear(&mut self) {
        release(&mut self.sets, &self.account);
    }

    /// Entries held.
    pub fn len(&self) -> usize {
        self.sets.iter().flatten().flatten().count()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn charge(value: &V) -> u64 {
        (size_of::<Entry<K, V>>() + value.heap_bytes()) as u64
    }

    /// The set of a hash: its top bits.
    #[inline]
    fn place(&self, hash: u64) -> usize {
        // The rotation is by the logarithm of a power of two; by 0 where there is no table yet.
        hash.rotate_left(self.sets.len().trailing_zeros()) as usize & self.sets.len().wrapping_sub(1)
    }

    /// Forgets a value; whether there was one.
    pub fn forget(&mut self, hash: u64, key: &K) -> bool {
        self.remove(hash, key).is_some()
    }

    /// Takes an entry out and gives its memory back.
    fn remove(&mut self, hash: u64, key: &K) -> Option<Box<Entry<K, V>>> {
        self.find(hash, key)?;
        let place = self.place(hash);
        let set = &mut self.sets[place];
        let entry = set[0].take()?;
        set.rotate_left(1);
        self.account.give(entry.bytes);
        self.account.entries.fetch_sub(1, Ordering::Relaxed);
        Some(entry)
    }

    fn put(&mut self, mut entry: Box<Entry<K, V>>, bytes: u64) -> bool {
        let room = self.make_place(entry.hash) && self.make_room(bytes);
        if !room {
            self.account.refused.fetch_add(1, Ordering::Relaxed);
            return false;
        }
        entry.bytes = bytes;
        self.account.entries.fetch_add(1, Ordering::Relaxed);
        let place = self.place(entry.hash);
        let set = &mut self.sets[place];
        set.rotate_right(1);
        debug_assert!(set[0].is_none(), "a place was made");
        set[0] = Some(entry);
        true
    }

    /// Makes a place in the set of `hash`; false if there is no table and no memory for one.
    fn make_place(&mut self, hash: u64) -> bool {
        if self.sets.is_empty() {
            if !self.account.take(FIRST_SETS as u64 * Self::SET_BYTES) {
                return false;
            }
            self.sets.resize_with(FIRST_SETS, Default::default);
        }
        while self.sets[self.place(hash)][WAYS - 1].is_some() {
            if !self.double() {
                let place = self.place(hash);
                self.evict(place);
            }
        }
        true
    }

    /// Doubles the table, if it may be and there is memory for it.
    fn double(&mut self) -> bool {
        let sets = self.sets.len();
        if sets >= self.most_sets || !self.account.take(sets as u64 * Self::SET_BYTES) {
            return false;
        }
        let entries: Vec<_> = std::mem::take(&mut self.sets).into_iter().flatten().flatten().collect();
        self.sets.resize_with(2 * sets, Default::default);
        // From the most recent of a set on, so that each new set, which holds part of one old set, is in order too.
        for entry in entries {
            let place = self.place(entry.hash);
            let free = self.sets[place].iter_mut().find(|way| way.is_none());
            *free.expect("an old set is split between two") = Some(entry);
        }
        true
    }

    /// Charges `bytes`, for which others may have to go.
    fn make_room(&mut self, bytes: u64) -> bool {
        // What would not fit even alone drives nobody out.
        if bytes > self.account.bound() {
            return false;
        }
        let mut visited = 0;
        while !self.account.take(bytes) {
            if visited == self.sets.len() {
                return false;
            }
            self.hand = (self.hand + 1) & (self.sets.len() - 1);
            visited = if self.evict(self.hand) { 0 } else { visited + 1 };
        }
        true
    }

    /// Drops the least recently used entry of a set, if it has any.
    fn evict(&mut self, place: usize) -> bool {
        let Some(entry) = self.sets[place].iter_mut().rev().find_map(Option::take) else { return false };
        self.account.give(entry.bytes);
        self.account.entries.fetch_sub(1, Ordering::Relaxed);
        self.account.evicted.fetch_add(1, Ordering::Relaxed);
        true
    }
}

/// Moves the entry of `key` to the front, if it is in the set.
fn bring_to_front<K: PartialEq, V>(set: &mut Set<K, V>, hash: u64, key: &K) -> bool {
    let found = set.iter().position(|way| way.as_ref().is_some_and(|entry| entry.is(hash, key)));
    if let Some(way) = found {
        set[..=way].rotate_right(1);
    }
    found.is_some()
}

/// Gives back all that a table holds.
fn release<K, V>(sets: &mut Vec<Set<K, V>>, account: &CacheAccount) {
    let mut bytes = size_of_val(&**sets) as u64;
    let mut entries = 0;
    for entry in std::mem::take(sets).into_iter().flatten().flatten() {
        bytes += entry.bytes;
        entries += 1;
    }
    account.give(bytes);
    account.entries.fetch_sub(entries, Ordering::Relaxed);
}

impl<K, V> Drop for Cache<K, V> {
    fn drop(&mut self) {
        release(&mut self.sets, &self.account);
    }
}
