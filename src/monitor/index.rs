//! Equal things of several lists, each once.

use std::collections::HashMap;
use std::hash::Hash;

/// Where equal things are in a list.
pub(super) struct Index<K>(HashMap<K, u32>);

impl<K: Eq + Hash> Index<K> {
    /// Of a list with these keys.
    pub fn of(keys: impl Iterator<Item = K>) -> Self {
        Self(keys.enumerate().map(|(place, key)| (key, place as u32)).collect())
    }

    /// The place of what has that key in `list`; put there if there is none. The other way round, what is there
    /// already.
    pub fn put<T>(&mut self, list: &mut Vec<T>, key: K, item: T) -> (u32, Option<T>) {
        let place = *self.0.entry(key).or_insert(list.len() as u32);
        if place as usize == list.len() {
            list.push(item);
            (place, None)
        } else {
            (place, Some(item))
        }
    }
}
