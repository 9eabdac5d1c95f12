//! The communicators that a thread has used last, with what is kept of them: no call of MPI's for those that come back.
//!
//! What is kept is an address and nothing more here; who has it remembered knows what it is the address of.

use crate::threads::Generation;
use mpi_sys::MPI_Comm;
use std::cell::Cell;

static GENERATION: Generation = Generation::new();

/// Communicators that a thread remembers: rows and columns of a grid, their world, and some of a library's own. Quantum
/// ESPRESSO with ScaLAPACK goes round in nine.
const COMMUNICATORS: usize = 16;

/// What a thread remembers of a communicator: what is kept of it, and when that was found out.
type Known = (u64, *const ());

/// The communicators that a thread has used last.
#[derive(Debug)]
pub struct LastCommunicators {
    /// Apart from the rest, so that few cache lines are looked through for one.
    handles: [Cell<usize>; COMMUNICATORS],
    known: [Cell<Known>; COMMUNICATORS],
    /// The one that was used last, and the one that has to go next.
    last: Cell<usize>,
    next: Cell<usize>,
}

impl LastCommunicators {
    /// None yet.
    pub const fn none() -> Self {
        Self {
            handles: [const { Cell::new(0) }; COMMUNICATORS],
            known: [const { Cell::new((0, std::ptr::null())) }; COMMUNICATORS],
            last: Cell::new(0),
            next: Cell::new(0),
        }
    }

    /// What is kept of `comm`, if it is one of them and means what it did.
    #[inline(always)]
    pub fn find(&self, comm: MPI_Comm) -> Option<*const ()> {
        let last = self.last.get() % COMMUNICATORS;
        if self.handles[last].get() == comm.0 as usize { self.kept(last) } else { self.find_earlier(comm) }
    }

    #[inline]
    fn find_earlier(&self, comm: MPI_Comm) -> Option<*const ()> {
        let place = self.place(comm)?;
        let kept = self.kept(place)?;
        self.last.set(place);
        Some(kept)
    }

    fn place(&self, comm: MPI_Comm) -> Option<usize> {
        let handle = comm.0 as usize;
        self.handles.iter().position(|known| known.get() == handle)
    }

    /// What is kept of the one in that place, if that has not changed since.
    #[inline(always)]
    fn kept(&self, place: usize) -> Option<*const ()> {
        let (generation, kept) = self.known[place].get();
        // Where there is none, it is from before the first generation.
        (generation == GENERATION.now()).then_some(kept)
    }

    /// Remembers what is kept of `comm`, found out in `generation`.
    pub fn add(&self, comm: MPI_Comm, generation: u64, kept: *const ()) {
        let place = self.place(comm).unwrap_or_else(|| {
            let next = self.next.get();
            self.next.set((next + 1) % COMMUNICATORS);
            next
        });
        self.handles[place].set(comm.0 as usize);
        self.known[place].set((generation, kept));
        self.last.set(place);
    }

    /// The one that was used last.
    pub fn last(&self) -> *const () {
        self.known[self.last.get()].get().1
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
