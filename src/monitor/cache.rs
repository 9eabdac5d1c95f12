//! A bounded cache for what is worked out once per kind of call: set-associative, the least recently used entry of a
//! set goes first, and every byte is charged to an account that all caches of the process share.
//!
//! A hit on the most recent entry of a set costs an index and a comparison and writes nothing; one on another entry
//! moves it to the front of its set. Lookups never allocate. The caller hashes, and keeps what an entry's validity
//! rests on in a version: entries of another version are dropped by the cache's owner at its next use, never by
//! somebody else's thread.

use super::Budget;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Entries of a set.
const WAYS: usize = 4;
/// Sets of a table when its first entry comes; it doubles when a set overflows.
const FIRST_SETS: usize = 8;

/// What a value holds on the heap; its own size is counted by the cache.
pub trait HeapBytes {
    /// Bytes on the heap.
    fn heap_bytes(&self) -> usize;
}

/// What the caches of a process share: the memory that is left for them, and what became of their entries.
#[derive(Debug)]
pub struct CacheAccount {
    budget: Budget,
    bound: u64,
    entries: AtomicU64,
    bytes: AtomicU64,
    most_bytes: AtomicU64,
    evicted: AtomicU64,
    refused: AtomicU64,
}

/// An account as it stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheUsage {
    /// Entries held.
    pub entries: u64,
    /// Bytes held, tables included.
    pub bytes: u64,
    /// Most bytes held at any time.
    pub most_bytes: u64,
    /// Bytes that may be held.
    pub bound: u64,
    /// Entries that had to go for others.
    pub evicted: u64,
    /// Entries that there was no room for even so.
    pub refused: u64,
}

impl CacheAccount {
    /// With room for `bytes`.
    pub const fn of(bytes: u64) -> Self {
        const fn zero() -> AtomicU64 {
            AtomicU64::new(0)
        }
        Self {
            budget: Budget::of(bytes),
            bound: bytes,
            entries: zero(),
            bytes: zero(),
            most_bytes: zero(),
            evicted: zero(),
            refused: zero(),
        }
    }

    /// How it stands. The numbers are read one by one while other threads may change them.
    pub fn usage(&self) -> CacheUsage {
        let read = |number: &AtomicU64| number.load(Ordering::Relaxed);
        CacheUsage {
            entries: read(&self.entries),
            bytes: read(&self.bytes),
            most_bytes: read(&self.most_bytes),
            bound: self.bound,
            evicted: read(&self.evicted),
            refused: read(&self.refused),
        }
    }

    /// Forgets what was counted; what is held stays.
    pub fn reset(&self) {
        self.evicted.store(0, Ordering::Relaxed);
        self.refused.store(0, Ordering::Relaxed);
        self.most_bytes.store(self.bytes.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    fn take(&self, bytes: u64) -> bool {
        let taken = self.budget.take(bytes);
        if taken {
            let held = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
            self.most_bytes.fetch_max(held, Ordering::Relaxed);
        }
        taken
    }

    fn give(&self, bytes: u64) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.budget.give(bytes);
    }
}

/// A cache, owned by one thread at a time. Holds no memory before its first entry.
#[derive(Debug)]
pub struct Cache<K, V> {
    /// None, or a power of two; within a set the most recent entry comes first.
    sets: Vec<Set<K, V>>,
    most_sets: usize,
    /// The set whose last entry goes next when memory is short.
    hand: usize,
    version: u64,
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
        Self { sets: Vec::new(), most_sets, hand: 0, version: 0, account }
    }

    /// Whether entries are of this version.
    #[inline]
    pub const fn is_of(&self, version: u64) -> bool {
        self.version == version
    }

    /// Makes this the version of what comes, and drops all entries of another.
    #[inline]
    pub fn set_version(&mut self, version: u64) {
        if self.version != version {
            self.version = version;
            self.clear();
        }
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
        if bytes > self.account.bound {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A value of that many bytes on the heap.
    #[derive(Debug, PartialEq)]
    struct Heavy(usize);

    impl HeapBytes for Heavy {
        fn heap_bytes(&self) -> usize {
            self.0
        }
    }

    const fn hash(key: u64) -> u64 {
        key.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    fn cache(entries: usize, bytes: u64) -> (Cache<u64, Heavy>, Arc<CacheAccount>) {
        let account = Arc::new(CacheAccount::of(bytes));
        (Cache::new(entries, Arc::clone(&account)), account)
    }

    fn held(cache: &mut Cache<u64, Heavy>, keys: std::ops::Range<u64>) -> Vec<u64> {
        keys.filter(|key| cache.find(hash(*key), key).is_some()).collect()
    }

    #[test]
    fn what_is_kept_is_found_and_nothing_else() {
        let (mut cache, account) = cache(1024, 1 << 20);
        assert!(cache.find(hash(1), &1).is_none());
        assert_eq!(account.usage().bytes, 0);
        for key in 0..300 {
            assert!(cache.insert(hash(key), key, Heavy(key as usize)));
        }
        for key in 0..300 {
            assert_eq!(cache.find(hash(key), &key), Some(&mut Heavy(key as usize)));
        }
        assert_eq!(cache.find(hash(300), &300), None);
        // Equal hashes do not make equal keys.
        assert_eq!(cache.find(hash(1), &2), None);
        assert_eq!((cache.len(), account.usage().entries, account.usage().evicted), (300, 300, 0));
    }

    #[test]
    fn a_full_set_drops_its_least_recently_used_entry() {
        // One set of four: all hashes are the same, and the table may not grow.
        let (mut cache, account) = cache(1, 1 << 20);
        for key in 0..4 {
            cache.insert(7, key, Heavy(0));
        }
        assert!(cache.find(7, &0).is_some());
        assert!(cache.find(7, &1).is_some());
        cache.insert(7, 4, Heavy(0));
        cache.insert(7, 5, Heavy(0));
        let kept: Vec<u64> = (0..6).filter(|key| cache.find(7, key).is_some()).collect();
        assert_eq!((kept, account.usage().evicted), (vec![0, 1, 4, 5], 2));
    }

    #[test]
    fn the_number_of_entries_is_bounded() {
        let (mut cache, account) = cache(64, 1 << 30);
        for key in 0..10_000 {
            cache.insert(hash(key), key, Heavy(0));
        }
        let usage = account.usage();
        assert!(cache.len() <= 64 && cache.len() > 32, "{}", cache.len());
        assert_eq!((usage.entries, usage.evicted + usage.entries, usage.refused), (cache.len() as u64, 10_000, 0));
    }

    #[test]
    fn bytes_are_bounded_over_all_caches_and_given_back() {
        let (mut first, account) = cache(1024, 20_000);
        let mut second = Cache::new(1024, Arc::clone(&account));
        for key in 0..100 {
            first.insert(hash(key), key, Heavy(1000));
            assert!(account.usage().bytes <= 20_000);
        }
        let usage = account.usage();
        assert!(usage.entries >= 15 && usage.evicted == 100 - usage.entries, "{usage:?}");
        assert!(held(&mut first, 0..100).contains(&99), "the last one is there");
        // No room for the second, which has nothing that could go.
        assert!(!second.insert(hash(1), 1, Heavy(3000)));
        assert_eq!(account.usage().refused, 1);
        drop(first);
        assert!(second.insert(hash(1), 1, Heavy(3000)));
        drop(second);
        let usage = account.usage();
        assert_eq!((usage.entries, usage.bytes), (0, 0));
        assert!(usage.most_bytes > 15_000 && usage.most_bytes <= 20_000);
        account.reset();
        assert_eq!(account.usage(), CacheUsage { bound: 20_000, ..CacheUsage::default() });
    }

    #[test]
    fn what_does_not_fit_even_alone_drives_nobody_out() {
        let (mut cache, account) = cache(64, 10_000);
        cache.insert(hash(1), 1, Heavy(100));
        assert!(!cache.insert(hash(2), 2, Heavy(1 << 20)));
        assert_eq!((held(&mut cache, 0..3), account.usage().evicted), (vec![1], 0));
    }

    #[test]
    fn a_value_that_grows_is_charged_again() {
        let (mut cache, account) = cache(64, 10_000);
        for key in 0..4 {
            cache.insert(hash(key), key, Heavy(1000));
        }
        let before = account.usage().bytes;
        assert_eq!(cache.change(hash(2), &2, |value| std::mem::replace(value, Heavy(1500))), Some(Heavy(1000)));
        assert_eq!((account.usage().bytes, account.usage().evicted), (before + 500, 0));
        // Others go for it; and itself if that does not help.
        cache.change(hash(2), &2, |value| value.0 = 8000);
        assert!(account.usage().evicted > 0 && cache.find(hash(2), &2).is_some());
        cache.change(hash(2), &2, |value| value.0 = 20_000);
        assert_eq!((cache.find(hash(2), &2), account.usage().refused), (None, 1));
        assert_eq!(cache.change(hash(9), &9, |_| ()), None);
    }

    #[test]
    fn entries_of_another_version_are_dropped() {
        let (mut cache, account) = cache(64, 10_000);
        cache.set_version(3);
        cache.insert(hash(1), 1, Heavy(100));
        cache.set_version(3);
        assert!(cache.is_of(3) && !cache.is_empty());
        cache.set_version(4);
        assert!(cache.is_of(4) && cache.is_empty());
        assert_eq!((account.usage().bytes, account.usage().evicted), (0, 0));
        assert!(cache.insert(hash(1), 1, Heavy(100)));
    }

    #[test]
    fn inserting_the_same_key_replaces_its_value() {
        let (mut cache, account) = cache(64, 10_000);
        cache.insert(hash(1), 1, Heavy(100));
        cache.insert(hash(1), 1, Heavy(50));
        assert_eq!((cache.find(hash(1), &1), account.usage().entries), (Some(&mut Heavy(50)), 1));
    }
}
