//! What the cost formulas say of calls of a group, on the preset of its place.

use super::group::Group;
use super::losses::plain;
use crate::algorithm::{Call, Choice, Shape};
use crate::schedule::simulate::Network;

/// The formulas for calls of one group.
pub struct Formula<'a> {
    group: &'a Group,
    network: Network,
}

impl<'a> Formula<'a> {
    /// For calls of `group`.
    pub fn of(group: &'a Group) -> Self {
        let name = if group.is_on_one_node() { "shared_memory" } else { "ethernet" };
        Self { group, network: Network::preset(name).expect("it is a preset") }
    }

    /// Seconds of a call among so many ranks that each contribute so many bytes; none if it is not accepted.
    pub fn seconds(&self, choice: &Choice, ranks: usize, bytes: usize) -> Option<f64> {
        let Self { group, network } = self;
        let unit = if group.operation.reduces() { 8 } else { 1 };
        let bytes = if group.operation.has_data() { bytes.div_ceil(unit) * unit } else { 0 };
        let plain = Call { commutative: group.is_commutative(), ..plain(group.operation, bytes, &[]) };
        let call = if group.shares_memory() { network.with_shared_memory(&plain, &[]) } else { plain };
        choice.accepts(&call, ranks).ok()?;
        let half_bandwidth = network.half_bandwidth(group.is_on_one_node());
        let cost = choice.cost(&Shape { half_bandwidth, ..Shape::of(&call, ranks) });
        Some(network.seconds(cost, group.is_on_one_node(), group.shares_memory()))
    }
}
