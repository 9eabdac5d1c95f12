//! Where a call is made.

use super::mpi_library::Mpi;
use crate::algorithm::Call;
use crate::schedule::limits::{ProtocolLimits, Way};

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
    /// Which messages within a node travel in pieces; none where they go through shared memory.
    pub limits: ProtocolLimits,
}

impl Situation {
    /// Whether a message within a node that is as long as what a rank contributes to the call (of a broadcast, as the message) travels
    /// in pieces.
    pub fn cuts(&self, call: &Call) -> bool {
        let way = if call.operation.rooted() { Way::OneWay } else { Way::Exchange };
        self.limits.for_way(way).of_message(call.bytes()).is_some()
    }
}
