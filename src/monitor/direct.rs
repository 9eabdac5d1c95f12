//! A small table that has one line for each hash, for the few calls that a program makes again and again: nothing is
//! followed on the way to a line, and whoever comes later takes the line over.

use super::CacheAccount;
use std::sync::Arc;

/// A table, owned by one thread at a time and charged to the account of the caches. Holds no memory before its first
/// line. It has `LINES` lines, a power of two.
#[derive(Debug)]
pub struct Direct<V, const LINES: usize> {
    lines: Option<Box<[Option<V>; LINES]>>,
    account: Arc<CacheAccount>,
}

impl<V, const LINES: usize> Direct<V, LINES> {
    const BYTES: u64 = size_of::<[Option<V>; LINES]>() as u64;
    const BITS: u32 = {
        assert!(LINES.is_power_of_two() && LINES > 1, "places are the top bits of a hash");
        LINES.trailing_zeros()
    };

    /// Empty; what it comes to hold is charged to `account`.
    pub const fn new(account: Arc<CacheAccount>) -> Self {
        Self { lines: None, account }
    }

    /// What is in the line of a hash that differs between most keys in its top bits; whether it is what is meant has to
    /// be asked.
    #[inline(always)]
    pub fn find(&self, hash: u64) -> Option<&V> {
        self.lines.as_ref()?[Self::place(hash)].as_ref()
    }

    /// Takes the line of a hash over, if there is memory for a table.
    pub fn put(&mut self, hash: u64, value: V) {
        if self.lines.is_none() && self.account.take(Self::BYTES) {
            self.lines = Some(Box::new([const { None }; LINES]));
        }
        if let Some(lines) = &mut self.lines {
            lines[Self::place(hash)] = Some(value);
        }
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        if self.lines.take().is_some() {
            self.account.give(Self::BYTES);
        }
    }

    #[inline(always)]
    const fn place(hash: u64) -> usize {
        (hash >> (u64::BITS - Self::BITS)) as usize
    }
}

impl<V, const LINES: usize> Drop for Direct<V, LINES> {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_holds_what_came_last_and_is_given_back() {
        let account = Arc::new(CacheAccount::of(1 << 20));
        let mut table = Direct::<_, 16>::new(Arc::clone(&account));
        assert_eq!((table.find(1 << 63), account.usage().bytes), (None, 0));
        table.put(1 << 63, "one");
        table.put(3 << 62, "another");
        table.put(1 << 63 | 5, "a third");
        assert_eq!(
            (table.find(1 << 63), table.find(3 << 62), table.find(0)),
            (Some(&"a third"), Some(&"another"), None)
        );
        assert_eq!(account.usage().bytes, Direct::<&str, 16>::BYTES);
        table.clear();
        assert_eq!((table.find(1 << 63), account.usage().bytes), (None, 0));
        table.put(0, "again");
        drop(table);
        assert_eq!(account.usage().bytes, 0);
    }

    #[test]
    fn without_memory_nothing_is_held() {
        let mut table = Direct::<_, 16>::new(Arc::new(CacheAccount::of(8)));
        table.put(0, 7);
        assert_eq!(table.find(0), None);
    }
}
