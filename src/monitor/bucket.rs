//! Size classes: one per power of two.

use serde::{Deserialize, Serialize};

/// The class of a number of bytes: 0 for no bytes, k for 2^(k−1)..2^k.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Bucket(pub u8);

impl Bucket {
    /// The class that `bytes` bytes belong to.
    pub const fn of(bytes: u64) -> Self {
        Self((u64::BITS - bytes.leading_zeros()) as u8)
    }

    /// Fewest bytes of the class.
    pub const fn first(self) -> u64 {
        if self.0 == 0 { 0 } else { 1 << (self.0 - 1) }
    }

    /// Most bytes of the class.
    pub const fn last(self) -> u64 {
        if self.0 == 0 { 0 } else { u64::MAX >> (u64::BITS - self.0 as u32) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_lies_in_its_class_and_classes_touch() {
        assert_eq!((Bucket::of(0).first(), Bucket::of(0).last()), (0, 0));
        for k in 1..=64u8 {
            let bucket = Bucket(k);
            assert_eq!(Bucket::of(bucket.first()), bucket);
            assert_eq!(Bucket::of(bucket.last()), bucket);
            assert_eq!(Bucket(k - 1).last() + 1, bucket.first());
        }
    }
}
