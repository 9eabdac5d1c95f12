//! Lists with one entry per rank of a communicator, kept once for all communicators that have the same one: duplicates
//! of `MPI_COMM_WORLD` have its members and its nodes.

use super::Budget;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Deref;
use std::sync::{Arc, Weak};

/// A list that others may share; charged for as long as anybody has it.
#[derive(Debug)]
pub struct SharedList {
    entries: Box<[u32]>,
    budget: Arc<Budget>,
    charged: u64,
}

impl Deref for SharedList {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        &self.entries
    }
}

impl Drop for SharedList {
    fn drop(&mut self) {
        self.budget.give(self.charged);
    }
}

/// The lists that somebody has.
#[derive(Debug)]
pub struct SharedLists {
    budget: Arc<Budget>,
    /// By digest.
    known: Mutex<HashMap<u64, Weak<SharedList>>>,
}

impl SharedLists {
    /// None yet; charged to `budget`.
    pub fn within(budget: Arc<Budget>) -> Self {
        Self { budget, known: Mutex::default() }
    }

    /// That list, the same for all who ask for equal ones.
    pub fn of(&self, entries: Vec<u32>) -> Arc<SharedList> {
        let mut hasher = DefaultHasher::new();
        entries.hash(&mut hasher);
        let digest = hasher.finish();
        let mut known = self.known.lock();
        if let Some(list) = known.get(&digest).and_then(Weak::upgrade)
            && **list == *entries
        {
            return list;
        }
        // The table holds no more of the dead than of the living.
        if known.len() == known.capacity() {
            known.retain(|_, list| list.strong_count() > 0);
        }
        let charged = self.budget.charge(size_of_val(entries.as_slice()) as u64);
        let list = SharedList { entries: entries.into(), budget: Arc::clone(&self.budget), charged };
        let list = Arc::new(list);
        known.insert(digest, Arc::downgrade(&list));
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_lists_are_one_and_charged_once() {
        let budget = Arc::new(Budget::of(1000));
        let lists = SharedLists::within(Arc::clone(&budget));
        let (first, second, other) = (lists.of(vec![1, 2, 3]), lists.of(vec![1, 2, 3]), lists.of(vec![3, 2]));
        assert!(Arc::ptr_eq(&first, &second) && !Arc::ptr_eq(&first, &other));
        assert!(budget.has(980) && !budget.has(981));
        drop((first, second));
        assert!(budget.has(992));
        assert_eq!(**lists.of(vec![1, 2, 3]), [1, 2, 3]);
        assert_eq!(**other, [3, 2]);
    }

    #[test]
    fn lists_that_are_gone_take_no_place() {
        let lists = SharedLists::within(Arc::default());
        for number in 0..10_000 {
            lists.of(vec![number]);
        }
        assert!(lists.known.lock().capacity() < 100);
    }
}
