//! Memory that the ranks of one node share (`COLLIE_TRANSPORT=shared`): messages through it, and the board that
//! algorithms live in.
//!
//! * [`mapping`]: an object of shared memory, made under an unguessable name, mapped by several processes, then without
//!   a name.
//! * [`layout`]: what lies where in it. [`segment`]: all of it, as one rank of a communicator has it.
//! * [`cache`]: hints about lines that go from one core to another, and copies past the caches.
//! * [`channel`]: messages from one rank to another, in order. [`ports`]: a rank's ends of its channels, and the
//!   messages that are under way on them. [`track`]: where the fragments of longer ones lie. [`lending`]: reading a
//!   long one out of the sender's memory. [`comparison`]: whether that is faster. [`chunks`]: which part of it the
//!   sender writes.
//! * [`board`]: flags, lines and windows, and what a rank may do with them. [`memory`]: where they lie.
//! * [`waiting`]: what a rank does while it waits for another.
//!
//! The rules that make the board safe, whatever algorithms follow one another:
//!
//! 1. **A flag has one writer, and only grows.** Its value is the number of the call and a step within it, and every
//!    rank counts the calls alike. So nothing is ever reset, and "the flag of that rank says at least this step of this
//!    call" stays true once it is: whether ranks get through does not depend on the order in which they run.
//! 2. **Windows and lines are written by their owner only**, and read after a flag that the owner raised when it had
//!    written.
//! 3. **They come in banks that calls use in turns.** A rank writes to one again only when all ranks have begun a call
//!    after the last one that used it: they have left that one then.
//!
//! Beside its flag and in its line a rank tells the length of what it contributes, so that who reads finds in the same
//! cache line whether all agree on it ([`Board::disagrees`]).
//!
//! Channels number what is put into their slots and never begin anew, for the same reason. What one rank writes for
//! another is published by a release store and looked at after an acquire load, nothing stronger.
//!
//! Nothing here knows MPI, operations or algorithms. `tests/channels.rs` and `tests/board.rs` compile the files that
//! synchronise against `loom` and try the orders of the ranks' steps.

pub mod board;
mod cache;
pub mod channel;
pub mod chunks;
pub mod comparison;
pub mod layout;
pub mod lending;
pub mod mapping;
pub mod memory;
pub mod ports;
pub mod segment;
#[cfg(test)]
mod tests;
pub mod track;
pub mod waiting;

pub use board::{Board, LONGEST_STEP};
pub use memory::{BANKS, LENGTHS, LINES, Memory, PAYLOAD};
pub use ports::{Failed, Ports};
pub use segment::LENT_FROM;
pub use segment::Segment;
use std::ops::Range;
pub use waiting::{Idle, wait_until};

impl Board {
    /// Bytes of shared memory that the board of so many ranks takes, with two banks of `window` bytes for each.
    #[must_use]
    pub const fn bytes(ranks: usize, window: usize) -> usize {
        Memory::bytes(ranks, window)
    }

    /// Where the windows of rank `rank` lie in these.
    #[must_use]
    pub const fn windows(ranks: usize, rank: usize, window: usize) -> Range<usize> {
        Memory::windows(ranks, rank, window)
    }

    /// The board of `ranks` ranks at `base`, as rank `rank` uses it.
    ///
    /// # Safety
    /// There are [`bytes`](Self::bytes) bytes at `base`, which is a multiple of 64, and all were 0 when the first of
    /// the ranks made its board there. They stay mapped for as long as the board is used, every rank has one board
    /// there, and nothing but these boards touches them.
    #[must_use]
    pub unsafe fn new(base: *mut u8, ranks: usize, rank: usize, window: usize) -> Self {
        // SAFETY: the caller's promise.
        Self::over(unsafe { Memory::new(base, ranks, window) }, ranks, rank)
    }
}

/// What the files of this folder take from the standard library, and their tests from `loom`.
mod sync {
    pub use std::hint::spin_loop;
    pub use std::sync::atomic::{AtomicU64, Ordering, fence};
    pub use std::thread::yield_now;

    /// [`std::cell::UnsafeCell`] with the methods of loom's.
    #[derive(Debug)]
    #[repr(transparent)]
    pub struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        pub const fn new(value: T) -> Self {
            Self(std::cell::UnsafeCell::new(value))
        }

        #[inline(always)]
        pub fn with<R>(&self, action: impl FnOnce(*const T) -> R) -> R {
            action(self.0.get())
        }

        #[inline(always)]
        pub fn with_mut<R>(&self, action: impl FnOnce(*mut T) -> R) -> R {
            action(self.0.get())
        }
    }
}
