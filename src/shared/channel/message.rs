//! Messages that are under way through a channel, as either end has them.

/// A message that goes out.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing {
    pub(super) from: *const u8,
    pub(super) length: usize,
    /// Bytes that are in slots or have been.
    pub(super) sent: usize,
    /// The number of the slot that lends it; 0 if none does.
    pub(super) lent: u64,
    /// Whether it goes through the areas since it was declined.
    pub(super) declined: bool,
    /// Whether its fragments are on the track.
    pub(super) tracked: bool,
}

impl Outgoing {
    /// Of `length` bytes at `from`.
    #[inline(always)]
    pub const fn new(from: *const u8, length: usize) -> Self {
        Self { from, length, sent: 0, lent: 0, declined: false, tracked: false }
    }
}

/// A message that comes in.
#[derive(Clone, Copy, Debug)]
pub struct Incoming {
    pub(super) into: *mut u8,
    pub(super) room: usize,
    /// Bytes that have come, those without room included.
    pub(super) received: usize,
    /// Whether its sender has given it up while it lent it.
    pub(super) withdrawn: bool,
}

impl Incoming {
    /// To `into`, where there is room for `room` bytes.
    #[inline(always)]
    pub const fn new(into: *mut u8, room: usize) -> Self {
        Self { into, room, received: 0, withdrawn: false }
    }

    /// Bytes that have come.
    #[inline(always)]
    pub const fn received(&self) -> usize {
        self.received
    }

    /// Whether its sender has given it up: what has come, if anything, may not be the message.
    #[inline(always)]
    pub const fn is_withdrawn(&self) -> bool {
        self.withdrawn
    }

    /// Whether more came than there was room for.
    #[inline(always)]
    pub const fn is_truncated(&self) -> bool {
        self.received > self.room
    }
}
