//! Own place among the ranks of a communicator, for our messages.

use crate::schedule::fragments::Fragments;
use mpi_sys::MPI_Comm;

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
