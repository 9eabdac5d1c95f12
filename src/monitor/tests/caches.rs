//! The cache and its account, as their users see them.

use crate::monitor::{Cache, CacheAccount, CacheUsage, HeapBytes};
use std::sync::Arc;

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
fn a_cache_that_is_cleared_gives_everything_back() {
    let (mut cache, account) = cache(64, 10_000);
    cache.insert(hash(1), 1, Heavy(100));
    assert!(!cache.is_empty());
    cache.clear();
    assert!(cache.is_empty());
    assert_eq!((account.usage().bytes, account.usage().entries, account.usage().evicted), (0, 0, 0));
    assert!(cache.insert(hash(1), 1, Heavy(100)));
}

#[test]
fn inserting_the_same_key_replaces_its_value() {
    let (mut cache, account) = cache(64, 10_000);
    cache.insert(hash(1), 1, Heavy(100));
    cache.insert(hash(1), 1, Heavy(50));
    assert_eq!((cache.find(hash(1), &1), account.usage().entries), (Some(&mut Heavy(50)), 1));
}
