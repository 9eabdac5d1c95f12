//! Where a call is made.

use super::mpi_library::Mpi;

/// What a choice may rest on besides the call itself; agreed over the communicator when its private communicator is
/// made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Situation {
    /// p.
    pub ranks: usize,
    /// Whether all ranks share a node.
    pub one_node: bool,
    /// Whether ranks outnumber the cores of some node.
    pub oversubscribed: bool,
    /// The MPI library; another one to each rank, or none that is known, is [`Implementation::Other`](super::Implementation).
    pub mpi: Mpi,
}
