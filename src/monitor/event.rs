//! One call of the per-call log.

use serde::{Deserialize, Serialize};

/// One call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Entry, nanoseconds since 1970 by its node's system clock, which the ranks of a node share.
    pub enter_unix_ns: u64,
    /// From entry to exit, nanoseconds.
    pub duration_ns: u64,
    /// Signature bytes.
    pub bytes: u64,
    /// Place of the communicator in [`RankRecord::communicators`](super::RankRecord::communicators).
    pub communicator: u32,
    /// Number of the [`CounterId`](super::CounterId) in that communicator's table: function, algorithm, what decided
    /// it; or [one without room](super::CounterId::overflow_function), of which the function is known.
    pub counter: u32,
    /// Root; −1 where the function has none.
    pub root: i32,
    /// Thread, numbered per rank in the order of first calls.
    pub thread: u16,
    /// Place of datatype and operation in [`RankRecord::elements`](super::RankRecord::elements).
    pub elements: u16,
}

impl Event {
    /// Bytes of an event in memory and in the file.
    pub const BYTES: usize = 40;

    /// The event as it lies in the file: the fields in order, little-endian.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        for (place, value) in [self.enter_unix_ns, self.duration_ns, self.bytes].into_iter().enumerate() {
            bytes[place * 8..][..8].copy_from_slice(&value.to_le_bytes());
        }
        for (place, value) in
            [self.communicator, self.counter, self.root as u32, u32::from(self.thread) | u32::from(self.elements) << 16]
                .into_iter()
                .enumerate()
        {
            bytes[24 + place * 4..][..4].copy_from_slice(&value.to_le_bytes());
        }
        bytes
    }

    /// The event that [`to_bytes`](Self::to_bytes) wrote.
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        let long = |start: usize| u64::from_le_bytes(std::array::from_fn(|byte| bytes[start + byte]));
        let short = |start: usize| u32::from_le_bytes(std::array::from_fn(|byte| bytes[start + byte]));
        Self {
            enter_unix_ns: long(0),
            duration_ns: long(8),
            bytes: long(16),
            communicator: short(24),
            counter: short(28),
            root: short(32) as i32,
            thread: short(36) as u16,
            elements: (short(36) >> 16) as u16,
        }
    }
}
