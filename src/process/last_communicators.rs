//! The communicators that a thread has used last, with what is kept of them: no call of MPI's for those that come back.
//!
//! What is kept is an address and nothing more here; who has it remembered knows what it is the address of.

use crate::threads::Generation;
use mpi_sys::MPI_Comm;
use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};

#[unsafe(link_section = "collie_looked_at")]
static GENERATION: Generation = Generation::new();

/// Communicators that a thread remembers: rows and columns of a grid, their world, and some of a library's own. Quantum
/// ESPRESSO with ScaLAPACK goes round in nine.
const COMMUNICATORS: usize = 16;

/// A communicator as a thread remembers it: its handle, when it was looked at, and what is kept of it.
#[derive(Clone, Copy, Debug)]
struct Known {
    handle: usize,
    generation: u64,
    kept: *const (),
}

/// The communicators that a thread has used last.
#[derive(Debug)]
#[repr(C)]
pub struct LastCommunicators {
    /// The one that was used last.
    latest: Cell<Known>,
    /// The one that has to go next.
    next: Cell<usize>,
    /// Handles apart from the rest, so that few cache lines are looked through for one.
    handles: [Cell<usize>; COMMUNICATORS],
    known: [Cell<Known>; COMMUNICATORS],
}

impl LastCommunicators {
    /// Bytes at its beginning that tell of the communicator that was used last.
    pub const LATEST: usize = size_of::<Known>();

    /// None yet.
    pub const fn none() -> Self {
        Self {
            latest: Cell::new(Known::NOTHING),
            next: Cell::new(0),
            handles: [const { Cell::new(0) }; COMMUNICATORS],
            known: [const { Cell::new(Known::NOTHING) }; COMMUNICATORS],
        }
    }

    /// What is kept of `comm`, if it is one of them and means what it did.
    #[inline(always)]
    pub fn find(&self, comm: MPI_Comm) -> Option<*const ()> {
        let latest = self.latest.get();
        if latest.handle == comm.0 as usize { latest.kept() } else { self.find_earlier(comm) }
    }

    #[inline]
    fn find_earlier(&self, comm: MPI_Comm) -> Option<*const ()> {
        let known = self.known[self.place(comm)?].get();
        let kept = known.kept()?;
        self.latest.set(known);
        Some(kept)
    }

    fn place(&self, comm: MPI_Comm) -> Option<usize> {
        let handle = comm.0 as usize;
        self.handles.iter().position(|known| known.get() == handle)
    }

    /// Remembers what is kept of `comm`, found out in `generation`.
    pub fn add(&self, comm: MPI_Comm, generation: u64, kept: *const ()) {
        let place = self.place(comm).unwrap_or_else(|| {
            let next = self.next.get();
            self.next.set((next + 1) % COMMUNICATORS);
            next
        });
        let known = Known { handle: comm.0 as usize, generation, kept };
        self.handles[place].set(known.handle);
        self.known[place].set(known);
        self.latest.set(known);
    }

    /// The one that was used last.
    pub fn last(&self) -> *const () {
        self.latest.get().kept
    }
}

impl Known {
    /// No communicator, from before the first generation.
    const NOTHING: Self = Self { handle: 0, generation: 0, kept: std::ptr::null() };

    /// What is kept of it, if that has not changed since.
    #[inline(always)]
    fn kept(&self) -> Option<*const ()> {
        (self.generation == GENERATION.now()).then_some(self.kept)
    }
}

/// By a hash of their handles, how many communicators anything is kept of: programs that make thousands of which nothing
/// is kept, and free them, are not to make their threads forget the others each time.
static KEPT: [AtomicU32; 1 << KEPT_BITS] = [const { AtomicU32::new(0) }; 1 << KEPT_BITS];
const KEPT_BITS: u32 = 10;

fn kept_like(comm: MPI_Comm) -> &'static AtomicU32 {
    let hash = (comm.0 as usize as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    &KEPT[(hash >> (u64::BITS - KEPT_BITS)) as usize]
}

/// From now on something may be kept of `comm`: before any thread remembers it.
pub fn is_kept(comm: MPI_Comm) {
    kept_like(comm).fetch_add(1, Ordering::Relaxed);
}

/// From now on nothing is kept of `comm` any more: after all threads were made to forget it.
pub fn is_gone(comm: MPI_Comm) {
    kept_like(comm).fetch_sub(1, Ordering::Relaxed);
}

/// Whether a thread may remember `comm`, which the program is about to free: whoever has called on it has done so before,
/// as far as the program's threads see it.
pub fn may_be_kept(comm: MPI_Comm) -> bool {
    kept_like(comm).load(Ordering::Relaxed) != 0
}

/// What is found out now holds until this changes.
pub fn generation() -> u64 {
    GENERATION.now()
}

/// Makes all threads forget which communicator they saw last.
pub fn invalidate_caches() {
    GENERATION.next();
}
