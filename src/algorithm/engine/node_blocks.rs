//! Blocks of whole nodes: one algorithm inside each node, a tree or an exchange among the nodes' leaders.
//!
//! Nodes may be of any sizes and their ranks anywhere: in what leaders send, blocks stand in the order of
//! [`NodeOrder`]. Blocks move straight between user buffer and network where that order is a run of ranks.

use crate::algorithm::{Call, Choice, Operation};
use crate::operation::{Buffer, Comm, Range, Requests, View};
use crate::pattern::node_order::NodeOrder;
use crate::pattern::range_tree::RangeTree;
use crate::pattern::turns::Turn;
use smallvec::SmallVec;
use std::ops;

/// Where the blocks of some nodes lie at one leader.
#[derive(Clone, Copy)]
enum Home {
    /// In rank order in this buffer of the user.
    User(Buffer),
    /// In node order in this range, from this place of the order on.
    Held(Range, usize),
}

/// One leader's blocks.
struct Store<'a> {
    order: &'a NodeOrder,
    block: usize,
    home: Home,
    /// Places whose blocks belong in the user's buffer but are no run of ranks there, and where they are instead.
    packed: SmallVec<[(ops::Range<usize>, Range); 8]>,
}

impl<'a> Store<'a> {
    fn new(order: &'a NodeOrder, block: usize, home: Home) -> Self {
        Self { order, block, home, packed: SmallVec::new() }
    }

    /// One range with the blocks of `nodes` in node order.
    fn place(&mut self, comm: &mut dyn Comm, nodes: ops::Range<usize>) -> Range {
        let places = self.order.places(nodes);
        let units = places.len() * self.block;
        match self.home {
            Home::Held(held, first) => held.part((places.start - first) * self.block, units),
            Home::User(buffer) => match self.order.run(places.clone()) {
                Some(ranks) => Range { buffer, start: ranks.start * self.block, len: units },
                None => {
                    let place = comm.scratch(units);
                    self.packed.push((places, place));
                    place
                }
            },
        }
    }

    /// Calls `each` with every run of ranks of a packed place: its range in the user's buffer, and in the packed one.
    fn runs(&self, buffer: Buffer, (places, packed): &(ops::Range<usize>, Range), mut each: impl FnMut(Range, Range)) {
        let mut end = 0;
        for run in self.order.runs(places.clone()) {
            let len = run.len() * self.block;
            each(Range { buffer, start: run.start * self.block, len }, packed.part(end, len));
            end += len;
        }
    }

    /// Puts what was received packed in its places.
    fn unpack(&self, comm: &mut dyn Comm) {
        for packed in &self.packed {
            self.runs(Buffer::Receive, packed, |user, packed| comm.copy(packed, user));
        }
    }

    /// As [`Store::place`], with the blocks there if they had to be packed.
    fn filled(&mut self, comm: &mut dyn Comm, nodes: ops::Range<usize>) -> Range {
        let known = self.packed.len();
        let place = self.place(comm, nodes);
        for packed in &self.packed[known..] {
            self.runs(Buffer::Send, packed, |user, packed| comm.copy(user, packed));
        }
        place
    }
}

/// Gathers all blocks at the root of `call`: by `node` at the nodes' leaders, up `tree` from them.
pub fn gather(comm: &mut dyn Comm, call: &Call, node: &Choice, tree: RangeTree) {
    let order = NodeOrder::new(call.nodes, comm.size(), call.root);
    let own = order.node(comm.rank());
    if comm.rank() != order.leader(own) {
        return inside(comm, call, &order, Operation::Gather, node, Some(Range::send(0, call.count)), None);
    }
    let (subtree, parent) = tree.find(order.number(), own);
    let nodes = subtree.start..subtree.start + subtree.len;
    let home = match parent {
        None => Home::User(Buffer::Receive),
        Some(_) => {
            let places = order.places(nodes.clone());
            Home::Held(comm.scratch(places.len() * call.count), places.start)
        }
    };
    let mut store = Store::new(&order, call.count, home);
    let mut arriving = Requests::new();
    for child in tree.children(subtree) {
        let place = store.place(comm, child.start..child.start + child.len);
        arriving.push(comm.irecv(order.leader(child.node), place));
    }
    let place = store.place(comm, own..own + 1);
    inside(comm, call, &order, Operation::Gather, node, Some(Range::send(0, call.count)), Some(place));
    comm.wait(&arriving);
    store.unpack(comm);
    if let Some(parent) = parent {
        let held = store.place(comm, nodes);
        comm.send(order.leader(parent), held);
    }
}

/// Scatters the blocks of the root of `call`: down `tree` to the nodes' leaders, by `node` from them.
pub fn scatter(comm: &mut dyn Comm, call: &Call, node: &Choice, tree: RangeTree) {
    let order = NodeOrder::new(call.nodes, comm.size(), call.root);
    let own = order.node(comm.rank());
    let block = Range::receive(0, call.count);
    if comm.rank() != order.leader(own) {
        return inside(comm, call, &order, Operation::Scatter, node, None, Some(block));
    }
    let (subtree, parent) = tree.find(order.number(), own);
    let home = match parent {
        None => Home::User(Buffer::Send),
        Some(parent) => {
            let places = order.places(subtree.start..subtree.start + subtree.len);
            let held = comm.scratch(places.len() * call.count);
            comm.recv(order.leader(parent), held);
            Home::Held(held, places.start)
        }
    };
    let mut store = Store::new(&order, call.count, home);
    let mut sends = Requests::new();
    for child in tree.children(subtree) {
        let place = store.filled(comm, child.start..child.start + child.len);
        sends.push(comm.isend(order.leader(child.node), place));
    }
    let place = store.filled(comm, own..own + 1);
    if parent.is_some() {
        inside(comm, call, &order, Operation::Scatter, node, Some(place), Some(block));
    } else {
        // In place, the block lies in the send buffer, which is not written, not even with a copy of itself.
        let root = member(&order, call.root);
        let itself = place.part(root * call.count, call.count);
        inside(comm, call, &order, Operation::Scatter, node, Some(place), Some(itself));
        comm.copy(Range::send(call.root * call.count, call.count), block);
    }
    comm.wait(&sends);
}

/// Allgather: by `gather` at the nodes' leaders, by `turns` (of the leaders, in node order) among them, by `bcast`
/// back.
pub fn allgather<I: Iterator<Item = Turn>>(
    comm: &mut dyn Comm,
    call: &Call,
    (gather, bcast): (&Choice, &Choice),
    turns: impl FnOnce(usize, usize) -> I,
) {
    let p = comm.size();
    let order = NodeOrder::new(call.nodes, p, 0);
    let (own, block) = (order.node(comm.rank()), Range::send(0, call.count));
    let all = Range::receive(0, p * call.count);
    if comm.rank() == order.leader(own) {
        let in_order = order.run(0..p).is_some();
        let held = if in_order { all } else { comm.scratch(p * call.count) };
        let mut store = Store::new(&order, call.count, Home::Held(held, 0));
        let place = store.place(comm, own..own + 1);
        inside(comm, call, &order, Operation::Gather, gather, Some(block), Some(place));
        for turn in turns(order.number(), own) {
            exchange(comm, &mut store, &turn);
        }
        if !in_order {
            store.packed.push((0..p, held));
            store.unpack(comm);
        }
    } else {
        inside(comm, call, &order, Operation::Gather, gather, Some(block), None);
    }
    let whole = Call { count: p * call.count, ..*call };
    inside(comm, &whole, &order, Operation::Bcast, bcast, None, Some(all));
}

/// One turn among the leaders; nodes that pass the last one are a message of their own.
fn exchange(comm: &mut dyn Comm, store: &mut Store, turn: &Turn) {
    let mut messages = Requests::new();
    for nodes in turn.incoming.runs().into_iter().filter(|nodes| !nodes.is_empty()) {
        let place = store.place(comm, nodes);
        messages.push(comm.irecv(store.order.leader(turn.from), place));
    }
    for nodes in turn.outgoing.runs().into_iter().filter(|nodes| !nodes.is_empty()) {
        let place = store.place(comm, nodes);
        messages.push(comm.isend(store.order.leader(turn.to), place));
    }
    comm.wait(&messages);
}

/// Runs `choice` inside the own node, rooted at its leader, with the buffers given.
fn inside(
    comm: &mut dyn Comm,
    call: &Call,
    order: &NodeOrder,
    operation: Operation,
    choice: &Choice,
    send: Option<Range>,
    receive: Option<Range>,
) {
    let node = order.node(comm.rank());
    let members = order.members(node);
    let root = member(order, order.leader(node));
    let view = View::of_node(comm, members);
    let view = match send {
        Some(send) => view.send_at(send),
        None => view,
    };
    let mut view = match receive {
        Some(receive) => view.receive_at(receive),
        None => view,
    };
    (choice.algorithm.run)(&mut view, &Call { operation, root, nodes: &[], ..*call }, &choice.parameters);
}

/// The number of a rank among those of its node.
fn member(order: &NodeOrder, rank: usize) -> usize {
    order.members(order.node(rank)).binary_search(&rank).expect("a rank is on its own node")
}
