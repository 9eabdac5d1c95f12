//! The ring that a channel's messages go through, slot after slot, and what stands in a slot.

use super::super::chunks::Chunks;
use super::super::sync::{AtomicU64, UnsafeCell};
use super::super::track::Track;

/// Bytes that a slot's line carries. (With slots of two lines and 112 bytes, and a number in the first one only,
/// messages of 64 and 112 bytes took as long as through the area, and shorter ones between two ranks of an Intel Xeon
/// up to 10 % longer.)
pub const IN_LINE: usize = 48;

/// Lines that a message travels in at most, and at most half of a ring's. Each has a number of its own, so that the
/// receiver has all of them when it has the last one; what is in an area it can ask for only when it has the line:
/// 64 bytes there and back took 185 ns through the area and 171 in two lines (Granite Rapids), 112 bytes 206 and 180,
/// 256 bytes as long.
const MOST_LINES: usize = 4;

/// The longest fragment on a track, in areas. Each fragment costs a line there and back, and of two at least
/// the second is written while the first is read. Between two cores of an EPYC (family 26) 16 KiB took 0.52 µs in
/// fragments of 4 KiB, 0.44 in ones of 8, 0.51 in one; 32 KiB 0.90, 0.71 and in ones of 16 KiB 0.74; 256 KiB 5.7, 4.1
/// and 3.7, in ones of 32 KiB 4.1; 1 MiB 24, 19 and 17. While the cores were far from each other, 32 KiB took 3.0, 2.35
/// and 2.3 µs, 256 KiB 21, 14 and 10.5.
const LONGEST_FRAGMENT: usize = 4;

/// Set in the length of a message that is lent.
pub(super) const LENT: u64 = 1 << 63;

/// Set in the length of a message whose fragments are on the track, and of one that is lent where the track is ready.
pub(super) const TRACKED: u64 = 1 << 62;

/// In the number of a slot that is declined: messages of such a length would be declined for a while.
pub(super) const OF_SUCH_A_LENGTH: u64 = 1 << 62;
/// There: all messages are.
pub(super) const ALL: u64 = 1 << 63;

/// The number of a slot whose message is lent no longer.
pub(super) const WITHDRAWN: u64 = u64::MAX;

/// What one rank writes into a slot's line and the other reads.
#[repr(C)]
#[derive(Debug)]
pub struct Content {
    /// Bytes of the whole message; and whether it is lent, so that the line tells where it is.
    pub(super) length: u64,
    /// Those of a short message.
    pub(super) bytes: [u8; IN_LINE],
}

/// A slot's line. Zeroes are an empty one.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Slot {
    /// Number of what was last put into the slot; 0 if nothing was yet.
    pub(super) number: AtomicU64,
    pub(super) content: UnsafeCell<Content>,
}

impl Slot {
    /// Empty.
    pub fn new() -> Self {
        Self { number: AtomicU64::new(0), content: UnsafeCell::new(Content { length: 0, bytes: [0; IN_LINE] }) }
    }
}

impl Default for Slot {
    fn default() -> Self {
        Self::new()
    }
}

/// What the receiver tells the sender. Zeroes are nothing.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Emptied {
    /// How many slots it has emptied so far.
    pub(super) slots: AtomicU64,
    /// The number of the slot whose message it has declined, and which later ones it will; 0 for none.
    pub(super) declined: AtomicU64,
}

impl Emptied {
    /// Nothing.
    pub fn new() -> Self {
        Self { slots: AtomicU64::new(0), declined: AtomicU64::new(0) }
    }
}

impl Default for Emptied {
    fn default() -> Self {
        Self::new()
    }
}

/// Where a channel lies.
#[derive(Clone, Copy, Debug)]
pub struct Ring<'a> {
    pub(super) slots: &'a [Slot],
    pub(super) emptied: &'a Emptied,
    pub(super) chunks: &'a Chunks,
    pub(super) areas: *mut u8,
    pub(super) area: usize,
    /// Bytes of the longest message that travels in lines.
    pub(super) in_lines: usize,
    pub(super) track: Option<Track>,
}

/// How a message goes through a ring.
#[derive(Clone, Copy)]
pub(super) struct Fragments {
    /// Bytes of each but the last.
    pub(super) most: usize,
    /// Whether they travel in the slots' lines.
    pub(super) in_lines: bool,
}

impl<'a> Ring<'a> {
    /// A power of two of slots, each with `area` bytes from `areas` on, and perhaps a track.
    ///
    /// # Safety
    /// The areas are valid for as long as the ring is used, and nothing but one [`Sender`](super::Sender) and one
    /// [`Receiver`](super::Receiver) uses
    /// slots, areas, `emptied`, `chunks` and the track.
    pub unsafe fn new(
        slots: &'a [Slot],
        (emptied, chunks): (&'a Emptied, &'a Chunks),
        (areas, area): (*mut u8, usize),
        track: Option<Track>,
    ) -> Self {
        assert!(slots.len().is_power_of_two() && area > 0, "a channel has a power of two of slots with room in them");
        let longest = LONGEST_FRAGMENT * area;
        assert!(track.is_none_or(|track| track.holds(slots.len(), longest)), "a track holds what is under way");
        let in_lines = IN_LINE * (slots.len() / 2).clamp(1, MOST_LINES);
        Self { slots, emptied, chunks, areas, area, in_lines, track }
    }

    /// How a message of `length` bytes goes through. (Halves of an area for what fits into two made a bcast of 4 KiB
    /// between two cores of an Intel Xeon 5 % faster, but an exchange 25 % slower: each rank read one half while the
    /// other one wrote the next.)
    #[inline(always)]
    pub(super) const fn fragments(&self, length: usize, tracked: bool) -> Fragments {
        let in_lines = length <= self.in_lines;
        let most = if in_lines {
            IN_LINE
        } else if tracked {
            // Two of them or more, as far as that is one area or more.
            match length / (2 * self.area) {
                0 | 1 => self.area,
                2 | 3 => 2 * self.area,
                _ => LONGEST_FRAGMENT * self.area,
            }
        } else {
            self.area
        };
        Fragments { most, in_lines }
    }

    /// Whether fragments of a message of `length` bytes may be on the track: of one that fills half an area, so that what
    /// it saves shows.
    #[inline(always)]
    pub(super) const fn may_be_tracked(&self, length: usize) -> bool {
        length > self.area / 2
    }

    /// The slot of number `number`, and its area.
    #[inline(always)]
    pub(super) fn slot(&self, number: u64) -> (&'a Slot, *mut u8) {
        let place = number as usize & (self.slots.len() - 1);
        // SAFETY: less than the number of slots, by the mask.
        (unsafe { self.slots.get_unchecked(place) }, self.areas.wrapping_add(place * self.area))
    }
}
