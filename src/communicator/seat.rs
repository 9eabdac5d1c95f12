//! Own place among the ranks of a communicator, for our messages.

use crate::schedule::fragments::Fragments;
use crate::shared::Segment;
use mpi_sys::MPI_Comm;
use std::rc::Rc;

/// Own place among the ranks, and how to wait.
#[derive(Clone, Copy, Debug)]
pub struct Seat<'a> {
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
    /// The memory shared with the other ranks of the node, where messages to them go through it.
    pub segment: Option<&'a Rc<Segment>>,
}
