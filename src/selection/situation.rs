//! Where a call is made.

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
}
