//! One algorithm among the leaders of the nodes, another one inside each node.

use crate::algorithm::{Call, Choice, Operation};
use crate::operation::{Comm, Range, View};
use crate::pattern::nodes::Nodes;

/// Broadcasts `message` from the root of `nodes` to the leaders by `leaders`, and from them to their nodes by `node`.
pub fn bcast(comm: &mut dyn Comm, call: &Call, nodes: &Nodes, message: Range, leaders: &Choice, node: &Choice) {
    let lead = nodes.leads(comm.rank());
    if lead && nodes.leaders.len() > 1 {
        let inner = Call { operation: Operation::Bcast, root: nodes.top, nodes: &[], ..*call };
        run(leaders, &mut View::new(comm, &nodes.leaders).receive_at(message), &inner);
    }
    spread(comm, call, nodes, message, node);
}

/// Broadcasts `message` from each leader to its node by `node`.
pub fn spread(comm: &mut dyn Comm, call: &Call, nodes: &Nodes, message: Range, node: &Choice) {
    if nodes.members.len() > 1 {
        let inner = Call { operation: Operation::Bcast, root: nodes.leader, nodes: &[], ..*call };
        run(node, &mut View::of_node(comm, &nodes.members).receive_at(message), &inner);
    }
}

/// Reduces `own` of each node to its leader by `node`; returns where the leader has the result, nothing elsewhere.
///
/// That place is `result` if it is given, and scratch if not; `own` itself where a leader is alone on its node.
pub fn collect(
    comm: &mut dyn Comm,
    call: &Call,
    nodes: &Nodes,
    own: Range,
    result: Option<Range>,
    node: &Choice,
) -> Option<Range> {
    let lead = nodes.leads(comm.rank());
    if nodes.members.len() == 1 {
        return Some(own);
    }
    let inner = Call { operation: Operation::Reduce, root: nodes.leader, nodes: &[], ..*call };
    let place = lead.then(|| result.unwrap_or_else(|| comm.scratch(call.count)));
    let view = View::of_node(comm, &nodes.members).send_at(own);
    let mut view = match place {
        Some(place) => view.receive_at(place),
        None => view,
    };
    run(node, &mut view, &inner);
    place
}

/// Reduces the leaders' `held` to `result`, which only the leader at the top has, by `leaders`.
pub fn reduce_leaders(
    comm: &mut dyn Comm,
    call: &Call,
    nodes: &Nodes,
    held: Range,
    result: Option<Range>,
    leaders: &Choice,
) {
    let inner = Call { operation: Operation::Reduce, root: nodes.top, nodes: &[], ..*call };
    let view = View::new(comm, &nodes.leaders).send_at(held);
    let mut view = match result {
        Some(result) => view.receive_at(result),
        None => view,
    };
    run(leaders, &mut view, &inner);
}

fn run(choice: &Choice, comm: &mut dyn Comm, call: &Call) {
    (choice.algorithm.run)(comm, call, &choice.parameters);
}
