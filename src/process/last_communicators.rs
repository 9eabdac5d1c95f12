//! The communicators that a thread has used last, with what is kept of them: no call of MPI's for those that come back.
//!
//! What is kept is an address and nothing more here; who has it remembered knows what it is the address of.

use crate::threads::Generation;
use mpi_sys::MPI_Comm;
use std::cell::Cell;

static GENERATION: Generation = Generation::new();

/// Communicators that a thread remembers: rows and columns of a grid, their world, and some of a library's own.
const COMMUNICATORS: usize = 8;

/// A communicator as a thread remembers it.
#[derive(Clone, Copy, Debug)]
struct LastCommunicator {
    handle: usize,
    generation: u64,
    kept: *const (),
}

/// The communicators that a thread has used last.
#[derive(Debug)]
pub struct LastCommunicators {
    known: [Cell<LastCommunicator>; COMMUNICATORS],
    /// The one that was used last, and the one that has to go next.
    last: Cell<usize>,
    next: Cell<usize>,
}

impl LastCommunicators {
    /// None yet.
    pub const fn none() -> Self {
        Self {
            known: [const { Cell::new(LastCommunicator::NOTHING) }; COMMUNICATORS],
            last: Cell::new(0),
            next: Cell::new(0),
        }
    }

    /// What is kept of `comm`, if it is one of them and means what it did.
    #[inline(always)]
    pub fn find(&self, comm: MPI_Comm) -> Option<*const ()> {
        let last = self.known[self.last.get() % COMMUNICATORS].get().kept_of(comm);
        if last.is_some() { last } else { self.find_earlier(comm) }
    }

    #[inline]
    fn find_earlier(&self, comm: MPI_Comm) -> Option<*const ()> {
        let handle = comm.0 as usize;
        let place = self.known.iter().position(|known| known.get().handle == handle)?;
        let kept = self.known[place].get().kept_of(comm)?;
        self.last.set(place);
        Some(kept)
    }

    /// Remembers what is kept of `comm`, found out in `generation`.
    pub fn add(&self, comm: MPI_Comm, generation: u64, kept: *const ()) {
        let known = LastCommunicator { handle: comm.0 as usize, generation, kept };
        let place = self.known.iter().position(|other| other.get().handle == known.handle);
        let place = place.unwrap_or_else(|| {
            let next = self.next.get();
            self.next.set((next + 1) % COMMUNICATORS);
            next
        });
        self.known[place].set(known);
        self.last.set(place);
    }

    /// The one that was used last.
    pub fn last(&self) -> *const () {
        self.known[self.last.get()].get().kept
    }
}

impl LastCommunicator {
    /// No communicator.
    const NOTHING: Self = Self { handle: 0, generation: 0, kept: std::ptr::null() };

    /// What is kept of it, if it is `comm` and that has not changed since.
    #[inline]
    fn kept_of(&self, comm: MPI_Comm) -> Option<*const ()> {
        let same = self.handle == comm.0 as usize && self.generation == GENERATION.now();
        same.then_some(self.kept)
    }
}

/// What is found out now holds until this changes.
pub fn generation() -> u64 {
    GENERATION.now()
}

/// Makes all threads forget which communicator they saw last.
pub fn invalidate_caches() {
    GENERATION.next();
}
