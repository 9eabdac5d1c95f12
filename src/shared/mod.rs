//! Memory that the ranks of one node share, as the algorithms that live in it use it.
//!
//! * [`board`]: flags, lines and windows, and what a rank may do with them.
//! * [`memory`]: where they lie.
//!
//! The rules that make it safe, whatever algorithms follow one another:
//!
//! 1. **A flag has one writer, and only grows.** Its value is the number of the call and a step within it, and every rank
//!    counts the calls alike. So nothing is ever reset, and "the flag of that rank says at least this step of this call" stays
//!    true once it is: whether ranks get through does not depend on the order in which they run.
//! 2. **Windows and lines are written by their owner only**, and read after a flag that the owner raised when it had written.
//! 3. **They come in banks that calls use in turns.** A rank writes to one again only when all ranks have begun a call after
//!    the last one that used it: they have left that one then.
//!
//! Nothing here knows MPI, operations or algorithms, or how a rank waits: `tests/board.rs` compiles [`board`] against `loom`
//! and tries the orders of the ranks' steps.

pub mod board;
pub mod memory;

pub use board::{Board, LONGEST_STEP};
pub use memory::{BANKS, LINES, Memory, PAYLOAD};

impl Board {
    /// Bytes of shared memory that the board of so many ranks takes, with two banks of `window` bytes for each.
    #[must_use]
    pub const fn bytes(ranks: usize, window: usize) -> usize {
        Memory::bytes(ranks, window)
    }

    /// The board of `ranks` ranks at `base`, as rank `rank` uses it.
    ///
    /// # Safety
    /// There are [`bytes`](Self::bytes) bytes at `base`, which is a multiple of 64, and all were 0 when the first of the
    /// ranks made its board there. They stay mapped for as long as the board is used, every rank has one board there, and
    /// nothing but these boards touches them.
    #[must_use]
    pub unsafe fn new(base: *mut u8, ranks: usize, rank: usize, window: usize) -> Self {
        // SAFETY: the caller's promise.
        Self::over(unsafe { Memory::new(base, ranks, window) }, ranks, rank)
    }
}

/// What the files of this folder take from the standard library, and their test from `loom`.
mod sync {
    pub use std::sync::atomic::{AtomicU64, Ordering};
}
