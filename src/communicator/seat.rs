//! Own place among the ranks of a communicator, and the memory that a thread works in.

use crate::mpi::memory::Pool;
use crate::process::kept::{Kept, Key};
use crate::schedule::fragments::Fragments;
use mpi_sys::MPI_Comm;

static KEY: Key = Key::new();

thread_local! {
    static POOL: Kept<Pool> = const { Kept::nothing(&KEY) };
}

/// Lends the thread's working memory.
#[inline]
pub fn with_pool<T>(action: impl FnOnce(&mut Pool) -> T) -> T {
    POOL.with(|pool| pool.lend(action))
}

/// Own place among the ranks, and how to wait.
#[derive(Clone, Copy, Debug)]
pub struct Seat {
    /// The private communicator.
    pub comm: MPI_Comm,
    /// Own rank.
    pub rank: usize,
    /// Number of ranks.
    pub size: usize,
    /// Whether waiting gives the core away.
    pub yielding: bool,
    /// Which messages travel in fragments.
    pub fragments: Fragments,
}
