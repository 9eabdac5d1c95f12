//! What a cost formula says of a call that is not simulated.

use super::network::Network;
use crate::operation::{Call, Choice, Cost, Shape};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Nodes of the smaller call by which a formula is judged: with eight, seven of eight messages between any two ranks
/// leave their node. Fewer where that takes too many steps, and then a shorter message.
const NODES: [u32; 3] = [8, 4, 2];
const SHORTER: [usize; 3] = [1, 8, 64];

/// Most ranks of the smaller call.
const MOST_RANKS: usize = 2048;

/// What formulas were scaled by on one network: among more ranks, as many on each node, a call has the same smaller one.
#[derive(Debug, Default)]
pub struct Scales(Mutex<HashMap<(String, usize, usize, bool), f64>>);

impl Scales {
    /// That of a call, found out once.
    fn get(&self, key: (String, usize, usize, bool), find: impl FnOnce() -> f64) -> f64 {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lock().get(&key).copied();
        known.unwrap_or_else(|| {
            // Another thread may find it out at the same time.
            let found = find();
            lock().insert(key, found);
            found
        })
    }
}

/// Seconds of the call by its formula. Formulas take each message to have its ports for itself and to leave its node, or
/// know as much of both as is written in them: where all ranks of a node send at once they say a tenth of what it takes, and
/// where most messages stay within nodes ten times as much. So between nodes the formula is held against a `simulation` (of
/// a call among so many ranks, if that can be had) of the same call on a few of the nodes, and scaled by what that makes of
/// it: among 256 ranks, 16 on a node, it is then within 0.5 to 1.5 of what simulation says.
pub fn seconds(
    choice: &Choice,
    call: &Call,
    size: usize,
    network: &Network,
    scales: &Scales,
    simulation: impl Fn(&Call, usize) -> Option<f64>,
) -> f64 {
    let whole = call.count;
    let beyond = |(shorter, nodes): (usize, u32)| {
        let few: Vec<u32> = call.nodes.iter().copied().filter(|node| *node < nodes).collect();
        let (ranks, root) = (few.len(), if call.root < few.len() { call.root } else { 0 });
        let call = Call { nodes: &few, root, count: call.count.div_ceil(shorter), ..*call };
        // Where there are no more nodes than that, only a shorter message makes a smaller call. Numbers of ranks that an
        // algorithm does not work among have no time.
        let is_smaller = ranks < size || call.count < whole;
        let is_possible = is_smaller && (2..=MOST_RANKS).contains(&ranks) && choice.accepts(&call, ranks).is_ok();
        let simulated = if is_possible { simulation(&call, ranks)? } else { return None };
        let told = alone(choice, &call, ranks, network);
        (told > 0.0).then(|| simulated / told)
    };
    let smaller = SHORTER.into_iter().flat_map(|shorter| NODES.map(|nodes| (shorter, nodes)));
    let few = call.nodes.iter().filter(|node| **node < NODES[0]).count();
    let key = (format!("{} {choice}", call.operation), call.count, few, few < size);
    let scale = scales.get(key, || smaller.map(beyond).find_map(|found| found).unwrap_or(1.0));
    alone(choice, call, size, network) * scale
}

/// The same without scaling.
pub(super) fn alone(choice: &Choice, call: &Call, size: usize, network: &Network) -> f64 {
    let shape = Shape { ports_per_node: network.ports_per_node, ..Shape::of(call, size) };
    let cost = choice.cost(&shape);
    let cost = Cost { bytes: cost.bytes * sharing_ports(choice, call, &shape), ..cost };
    network.seconds(cost, call.nodes.is_empty(), call.shared_by_all().is_some())
}

/// How much longer the bytes of a message take than formulas say that know no ports of nodes: where each pair of ranks has
/// a block of its own, most of what a rank sends leaves its node, and the ranks of the node share its ports. Of other
/// operations the formulas say how much does, where they know; and one that knows nodes counts what passes between them
/// itself.
fn sharing_ports(choice: &Choice, call: &Call, shape: &Shape) -> f64 {
    let row = call.operation.row();
    let knows_nodes = || choice.cost(shape) != choice.cost(&Shape { nodes: &[], ..*shape });
    if !row.send.per_rank() || !row.receive.per_rank() || knows_nodes() { 1.0 } else { shape.sharing_among_all() }
}
