//! Where the flags, lines and windows of a board lie.

use super::sync::AtomicU64;
use std::ops::Range;

/// Banks of a rank's window. Calls use them in turns; one that needs more room than a bank uses the other one as well,
/// and has to see to it itself that it is left.
pub const BANKS: usize = 2;
/// Lines of a rank, which calls use in turns.
pub const LINES: usize = 8;
/// Bytes that a line carries beside its flag, in the same cache line: whoever sees the flag has the data.
pub const PAYLOAD: usize = 48;
/// Calls whose lengths stand beside the flag of a rank, as many as its cache line has room for.
pub const LENGTHS: usize = 7;
/// Bytes of a cache line: flags of different writers never share one.
const CACHE_LINE: usize = 64;
/// Where the payload of a line begins, behind its flag and aligned for every element.
const PAYLOAD_AT: usize = 16;
/// The counter of arrivals and its flag.
const HEAD: usize = 2 * CACHE_LINE;
/// A rank's own flag, the one by which it is released, and its lines.
const PER_RANK: usize = (2 + LINES) * CACHE_LINE;
/// Windows begin on a page, so that their memory is that of the ranks that allocate them.
const PAGE: usize = 4096;

const _: () = assert!((1 + LENGTHS) * size_of::<AtomicU64>() == CACHE_LINE && 2 * size_of::<AtomicU64>() == PAYLOAD_AT);

/// A mapped board.
#[derive(Debug)]
pub struct Memory {
    base: *mut u8,
    windows: *mut u8,
    window: usize,
}

// SAFETY: what is shared is atomic or handed from one rank to another by flags that are; the pointers are just
// addresses.
unsafe impl Send for Memory {}

impl Memory {
    /// Bytes that a bank of `window` bytes takes.
    const fn rounded(window: usize) -> usize {
        window.next_multiple_of(CACHE_LINE)
    }

    /// Bytes of flags and lines.
    const fn flags(ranks: usize) -> usize {
        (HEAD + ranks * PER_RANK).next_multiple_of(PAGE)
    }

    /// Where the windows of a rank lie, behind those of the ranks before it and all flags.
    #[must_use]
    pub const fn windows(ranks: usize, rank: usize, window: usize) -> Range<usize> {
        let bytes = BANKS * Self::rounded(window);
        let begin = Self::flags(ranks) + rank * bytes;
        begin..begin + bytes
    }

    /// Bytes of all of it.
    #[must_use]
    pub const fn bytes(ranks: usize, window: usize) -> usize {
        Self::flags(ranks) + ranks * BANKS * Self::rounded(window)
    }

    /// At `base`.
    ///
    /// # Safety
    /// As [`Board::new`](super::Board::new) says.
    #[must_use]
    pub unsafe fn new(base: *mut u8, ranks: usize, window: usize) -> Self {
        Self { base, windows: base.wrapping_add(Self::flags(ranks)), window: Self::rounded(window) }
    }

    #[inline(always)]
    fn flag(&self, at: usize) -> &AtomicU64 {
        // SAFETY: it lies in the flags of the board, aligned as a cache line, and only as an atomic is it ever touched.
        unsafe { &*self.base.wrapping_add(at).cast::<AtomicU64>() }
    }

    const fn of(rank: usize) -> usize {
        HEAD + rank * PER_RANK
    }

    const fn line_at(rank: usize, line: usize) -> usize {
        Self::of(rank) + (2 + line) * CACHE_LINE
    }

    /// How many arrivals there have been, ever.
    #[inline(always)]
    pub fn arrivals(&self) -> &AtomicU64 {
        self.flag(0)
    }

    /// The flag of those who have all arrived.
    #[inline(always)]
    pub fn arrived(&self) -> &AtomicU64 {
        self.flag(CACHE_LINE)
    }

    /// The flag of a rank.
    #[inline(always)]
    pub fn own(&self, rank: usize) -> &AtomicU64 {
        self.flag(Self::of(rank))
    }

    /// What a rank has told of its length in a call, in the line of its flag.
    #[inline(always)]
    pub fn length(&self, rank: usize, place: usize) -> &AtomicU64 {
        self.flag(Self::of(rank) + (1 + place) * size_of::<AtomicU64>())
    }

    /// The flag by which rank 0 releases a rank.
    #[inline(always)]
    pub fn release(&self, rank: usize) -> &AtomicU64 {
        self.flag(Self::of(rank) + CACHE_LINE)
    }

    /// The flag of a line of a rank.
    #[inline(always)]
    pub fn line(&self, rank: usize, line: usize) -> &AtomicU64 {
        self.flag(Self::line_at(rank, line))
    }

    /// What a rank has told of the length of what is in a line of its own, in that line.
    #[inline(always)]
    pub fn line_length(&self, rank: usize, line: usize) -> &AtomicU64 {
        self.flag(Self::line_at(rank, line) + size_of::<AtomicU64>())
    }

    /// The first byte of what a line of a rank carries.
    #[inline(always)]
    pub fn payload(&self, rank: usize, line: usize) -> *mut u8 {
        self.base.wrapping_add(Self::line_at(rank, line) + PAYLOAD_AT)
    }

    /// The first byte of a bank of a rank's window.
    #[inline(always)]
    pub fn window(&self, rank: usize, bank: usize) -> *mut u8 {
        self.windows.wrapping_add((rank * BANKS + bank) * self.window)
    }
}
