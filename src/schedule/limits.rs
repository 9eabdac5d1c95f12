//! Lengths beyond which a message within a node takes another, slower way through the MPI library.

use smallvec::SmallVec;

/// Such lengths, bytes. A message that is longer than one of them, and no longer than twice that, travels as two.
///
/// Open MPI 4.1.4 (ob1, vader) hands up to 256 bytes over together with their header, and up to 4,040 through a queue of
/// buffers; more waits for its receive. One way between two ranks of an AMD EPYC 4,040 bytes take 0.9 to 1.0 us, 4,044
/// bytes 2.5 to 2.9, and 1.3 to 1.8 as two messages; an exchange 1.4, 3.4 and 1.4 to 1.7. MPICH 4.0.2 (UCX) has such a step
/// between 8,160 bytes (0.45 us) and 8,320 (2.9 us). Three pieces gain less and may lose; five of Open MPI's fill the queue,
/// and a rank that shares its core then waits for a slice of the scheduler's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProtocolLimits([u32; ProtocolLimits::MOST]);

impl ProtocolLimits {
    /// As many as there are: a message of two pieces never is cut again, so that they do not meet.
    pub const MOST: usize = 2;
    /// None.
    pub const NONE: Self = Self([0; Self::MOST]);

    /// These; `None` if they are too many, too long, or not in ascending order from 1 on.
    pub fn of(bytes: impl IntoIterator<Item = usize>) -> Option<Self> {
        let bytes: Option<SmallVec<[u32; 4]>> = bytes.into_iter().map(|bytes| u32::try_from(bytes).ok()).collect();
        let bytes = bytes.filter(|bytes| bytes.len() <= Self::MOST && bytes.first().is_none_or(|first| *first > 0))?;
        if !bytes.is_sorted_by(|a, b| a < b) {
            return None;
        }
        let mut limits = Self::NONE;
        limits.0[..bytes.len()].copy_from_slice(&bytes);
        Some(limits)
    }

    /// The lengths, ascending.
    pub fn bytes(self) -> impl Iterator<Item = usize> {
        self.0.into_iter().take_while(|bytes| *bytes > 0).map(|bytes| bytes as usize)
    }

    /// How long the first of the two pieces of a message of `bytes` is; `None` if it travels whole.
    #[inline]
    pub fn piece(self, bytes: usize) -> Option<usize> {
        self.0.into_iter().map(|step| step as usize).find(|step| *step < bytes && bytes <= 2 * step)
    }

    /// As one word.
    pub const fn word(self) -> u64 {
        (self.0[1] as u64) << 32 | self.0[0] as u64
    }

    /// What [`word`](Self::word) was made from.
    pub const fn from_word(word: u64) -> Self {
        Self([word as u32, (word >> 32) as u32])
    }
}

#[cfg(test)]
mod tests {
    use super::ProtocolLimits;

    #[test]
    fn what_is_no_more_than_twice_as_long_travels_as_two() {
        let limits = ProtocolLimits::of([256, 4040]).unwrap();
        let cut = [256, 257, 512, 513, 4040, 4041, 8080, 8081].map(|bytes| limits.piece(bytes));
        assert_eq!(cut, [None, Some(256), Some(256), None, None, Some(4040), Some(4040), None]);
        assert_eq!(ProtocolLimits::NONE.piece(1), None);
        assert_eq!(ProtocolLimits::of([300, 400]).unwrap().piece(500), Some(300));
    }

    #[test]
    fn bad_ones_are_refused_and_words_come_back() {
        for wrong in [&[1, 2, 3][..], &[0], &[5, 5], &[6, 5], &[1 << 40]] {
            assert_eq!(ProtocolLimits::of(wrong.iter().copied()), None, "{wrong:?}");
        }
        for right in [&[][..], &[7], &[256, 4040]] {
            let limits = ProtocolLimits::of(right.iter().copied()).unwrap();
            assert_eq!(ProtocolLimits::from_word(limits.word()), limits);
            assert!(limits.bytes().eq(right.iter().copied()));
        }
    }
}
