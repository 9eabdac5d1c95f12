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
    /// Ranks on the node that has most of them.
    pub most_on_node: usize,
    /// Whether ranks outnumber the cores of some node.
    pub oversubscribed: bool,
    /// The MPI library; another one to each rank, or none that is known, is
    /// [`Implementation::Other`](super::Implementation).
    pub mpi: Mpi,
    /// Which messages within a node travel in pieces; none where they go through shared memory.
    pub limits: ProtocolLimits,
    /// Whether these are another run's to find anew, on which no reduction's result is to depend.
    pub limits_vary: bool,
}

impl Situation {
    /// Among so many ranks on one node, which has a core for each, of no library that is known.
    pub const fn plain(ranks: usize) -> Self {
        let (mpi, limits) = (Mpi::UNKNOWN, ProtocolLimits::NONE);
        let limits_vary = false;
        Self { ranks, one_node: true, most_on_node: ranks, oversubscribed: false, mpi, limits, limits_vary }
    }

    /// The same with its ranks on these nodes, none if it is one.
    #[must_use]
    pub fn on(self, nodes: &[u32]) -> Self {
        Self { one_node: nodes.is_empty(), most_on_node: most_on_node(self.ranks, nodes), ..self }
    }

    /// Whether a message within a node that is as long as what a rank contributes to the call (of a broadcast, as the
    /// message) travels in pieces. Of operations whose counts each rank knows for itself nobody can tell.
    pub fn cuts(&self, call: &Call) -> bool {
        if call.operation.has_own_counts() || self.limits_vary && call.operation.reduces() {
            return false;
        }
        let way = if call.operation.rooted() { Way::OneWay } else { Way::Exchange };
        self.limits.for_way(way).of_message(call.bytes()).is_some()
    }
}

/// Ranks on the node that has most of them, of `ranks` on these nodes, none if it is one.
fn most_on_node(ranks: usize, nodes: &[u32]) -> usize {
    let mut on = vec![0; nodes.iter().max().map_or(0, |last| *last as usize + 1)];
    nodes.iter().for_each(|node| on[*node as usize] += 1);
    on.into_iter().max().unwrap_or(ranks)
}
