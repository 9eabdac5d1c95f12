//! Blocks for other nodes are collected by leaders, travel from node to node in one message, and are handed out there.
//!
//! Each node has `leaders` leaders at most, its first ranks; leader B mod `leaders` serves node B. Every rank gives
//! each leader all blocks for the nodes that it serves, and exchanges the blocks of its own node directly. A leader
//! sends each of its nodes one message with all blocks from here to there, gets one in turn, and hands each rank its
//! blocks out. With one leader a node sends the fewest messages; with more they share the copying, and with as many as
//! there are ranks everybody talks to other nodes. Where the nodes are not known all ranks count as one node.
//!
//! State at p = 4, nodes {0 1} {2 3}, one leader (blocks held, as from→to; those to oneself not shown):
//!
//! ```text
//! rank       0                    1           2                    3
//! start      0→1 0→2 0→3          1→0 1→2 1→3 2→0 2→1 2→3          3→0 3→1 3→2
//! collected  0→2 0→3 1→2 1→3 1→0  0→1         2→0 2→1 3→0 3→1 3→2  2→3
//! leaders    2→0 2→1 3→0 3→1 1→0  0→1         0→2 0→3 1→2 1→3 3→2  2→3
//! handed     1→0 2→0 3→0          0→1 2→1 3→1 0→2 1→2 3→2          0→3 1→3 2→3
//! ```
//!
//! Cost for N nodes of m ranks with l leaders, h the most nodes that one leader serves (N − 1 if l = 1, else ⌈N/l⌉):
//! the own node (m−1)(α + bβ), and where N > 1, collecting and handing out (m−1)(α + hmbβ) each, the leaders h(α +
//! m²bβ), and α more if l > 1, since leaders get in each other's way once. Needs: nothing. Memory: at leaders about
//! 3·h·m² blocks, elsewhere pb bytes; in place m blocks more.
//!
//! Source: R. Kumar, A. Mamidala, D. K. Panda, "Scaling Alltoall Collective on Multi-core Systems", IPDPS workshops
//! 2008; S. Lockhart, A. Bienz, W. Gropp, L. Olson, "Performance Analysis and Optimal Node-aware Communication for
//! Enlarged Conjugate Gradient Methods", TOPC 10(1), 2023, for several leaders. Departures: 1. nodes may be of any
//! sizes and ranks anywhere on them; 2. leaders part nodes among them, rather than ranks.

mod ranges;

use crate::algorithm::engine::pairs;
use crate::algorithm::{Algorithm, Call, Cost, Default, Kind, Needs, Operation, Parameter, Parameters, Shape};
use crate::operation::{Comm, Range, Requests};
use crate::pattern::node_order::NodeOrder;
use ranges::{Ranges, copy, packed, push, units};
use smallvec::SmallVec;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Alltoall,
    name: "hierarchical",
    summary: "Blocks for other nodes are collected by leaders, travel between nodes in one message, and are distributed.",
    parameters: &[Parameter {
        name: "leaders",
        kind: Kind::Count { least: 1 },
        default: Default::Count(1),
        help: "l: leaders of each node, which share its messages to other nodes",
    }],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "(p−1)(α+bβ), N nodes of m ranks; N>1, h=N−1: (m−1)(α+bβ)+2(m−1)(α+hmbβ)+h(α+m²bβ); \
              N>1, m>1, l>1, h=⌈N/min(l,m)⌉: (m−1)(α+bβ)+2(m−1)(α+hmbβ)+h(α+m²bβ)+α",
    cost,
    source: "Kumar, Mamidala, Panda, IPDPS workshops 2008",
    run,
};

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    let (nodes, widest) = shape.nodes();
    let leaders = parameters.count("leaders").min(widest);
    let remote_nodes = match leaders {
        _ if nodes == 1 => 0,
        1 => nodes - 1,
        _ => nodes.div_ceil(leaders),
    };
    let [m, n, b] = [widest as f64, remote_nodes as f64, shape.bytes as f64];
    let cost = |messages: f64, blocks: f64| Cost { rounds: messages, bytes: messages * blocks * b, ..Cost::default() };
    let inside = if remote_nodes == 0 { Cost::default() } else { cost(m - 1.0, n * m) };
    // Several leaders get in each other's way once: a port takes what comes first.
    let delay = Cost { rounds: if leaders > 1 && remote_nodes > 0 { 1.0 } else { 0.0 }, ..Cost::default() };
    // Blocks are packed to be collected, leaders pack them for each node and for each of their ranks, where they are
    // unpacked.
    let collected = if leaders > 1 { 2.0 } else { 1.0 } * (nodes - 1) as f64 * m;
    let packed = match widest {
        // Nobody is to be collected from; what has arrived is copied to its places.
        1 => b * n,
        _ => b * (collected + n * m * m + if remote_nodes > 1 { n * m * m } else { n * m }),
    };
    cost(m - 1.0, 1.0) + inside + cost(n, m * m) + inside + delay + Cost { packed, ..Cost::default() }
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    let order = NodeOrder::new(call.nodes, comm.size(), 0);
    let own = order.node(comm.rank());
    let index = order.members(own).iter().position(|rank| *rank == comm.rank()).expect("it is on its own node");
    let node = Node { order: &order, own, index, most: parameters.count("leaders"), block: call.count };
    let mut collecting = Requests::new();
    let collected = node.collect(comm, &mut collecting);
    let members = order.members(own);
    let partners = pairs::by_distance(index, members.len());
    pairs::exchange(comm, call, partners.map(|(to, from)| (members[to], members[from])), usize::MAX);
    comm.wait(&collecting);
    let arrived = node.exchange(comm, &collected);
    node.hand_out(comm, &collected, &arrived);
}

/// What a rank knows of its node.
struct Node<'a> {
    order: &'a NodeOrder,
    own: usize,
    /// Own place among the node's ranks.
    index: usize,
    /// Leaders of a node at most.
    most: usize,
    block: usize,
}

impl Node<'_> {
    fn members(&self) -> &[usize] {
        self.order.members(self.own)
    }

    fn leaders(&self, node: usize) -> usize {
        self.most.min(self.order.members(node).len())
    }

    /// The nodes that the own node's leader `leader` serves, in an order in which all leaders may go through theirs
    /// without two of them meeting at a third.
    fn remote_nodes(&self, leader: usize) -> impl Iterator<Item = usize> + Clone {
        let (own, number, leaders) = (self.own, self.order.number(), self.leaders(self.own));
        let turns = number.div_ceil(leaders);
        let nodes = (0..turns).map(move |turn| leader + leaders * ((own / leaders + turn) % turns));
        nodes.filter(move |node| *node < number && *node != own)
    }

    /// Members of the nodes that `leader` serves.
    fn outside(&self, leader: usize) -> usize {
        self.remote_nodes(leader).map(|node| self.order.members(node).len()).sum()
    }

    /// The rank of the leader of `node` that serves `other`.
    fn speaker(&self, node: usize, other: usize) -> usize {
        self.order.members(node)[other % self.leaders(node)]
    }

    /// Whether that member of the own node is a leader with any nodes to serve.
    fn leads(&self, member: usize) -> bool {
        member < self.leaders(self.own) && self.remote_nodes(member).next().is_some()
    }

    /// The other members of the own node, from the next one on.
    fn ahead(&self) -> impl Iterator<Item = usize> {
        let (index, width) = (self.index, self.members().len());
        (1..width).map(move |distance| (index + distance) % width)
    }

    /// The same from the one before on, downwards.
    fn behind(&self) -> impl Iterator<Item = usize> {
        let (index, width) = (self.index, self.members().len());
        (1..width).map(move |distance| (index + width - distance) % width)
    }

    /// The blocks of `buffer` for, or from, the nodes that `leader` serves.
    fn blocks_of(&self, buffer: fn(usize, usize) -> Range, leader: usize) -> Ranges {
        let mut ranges = Ranges::new();
        for rank in self.remote_nodes(leader).flat_map(|node| self.order.members(node)) {
            push(&mut ranges, buffer(rank * self.block, self.block));
        }
        ranges
    }

    /// Starts sending the leaders their blocks, and receiving what is for oneself: gives where that arrives, by member
    /// (nothing for oneself).
    fn collect(&self, comm: &mut dyn Comm, messages: &mut Requests) -> SmallVec<[Range; 16]> {
        let mut collected = SmallVec::from_elem(Range::send(0, 0), self.members().len());
        if self.leads(self.index) {
            for member in self.behind() {
                let room = comm.scratch(self.outside(self.index) * self.block);
                collected[member] = room;
                messages.push(comm.irecv(self.members()[member], room));
            }
        }
        for leader in self.ahead().filter(|member| self.leads(*member)) {
            let blocks = self.blocks_of(Range::send, leader);
            let blocks = packed(comm, &blocks, |comm| comm.scratch(units(&blocks)));
            messages.push(comm.isend(self.members()[leader], blocks));
        }
        collected
    }

    /// Exchanges the blocks of whole nodes with the other nodes' leaders: gives where those of each node in turn
    /// arrive, for each own rank those of each of theirs. Nothing if this rank is no leader.
    fn exchange(&self, comm: &mut dyn Comm, collected: &[Range]) -> SmallVec<[Range; 16]> {
        let (width, b) = (self.members().len(), self.block);
        let mut messages = Requests::new();
        let mut arrived = SmallVec::new();
        if !self.leads(self.index) {
            return arrived;
        }
        let mut before = 0;
        for node in self.remote_nodes(self.index) {
            let theirs = self.order.members(node);
            let room = comm.scratch(theirs.len() * width * b);
            arrived.push(room);
            let mut blocks = Ranges::new();
            for (place, rank) in theirs.iter().enumerate() {
                for (member, collected) in collected.iter().enumerate() {
                    push(
                        &mut blocks,
                        match member == self.index {
                            true => Range::send(rank * b, b),
                            false => collected.part((before + place) * b, b),
                        },
                    );
                }
            }
            before += theirs.len();
            let blocks = packed(comm, &blocks, |comm| comm.scratch(units(&blocks)));
            let speaker = self.speaker(node, self.own);
            messages.push(comm.irecv(speaker, room));
            messages.push(comm.isend(speaker, blocks));
        }
        comm.wait(&messages);
        arrived
    }

    /// Gives the own node's ranks what arrived for them, and takes one's own.
    fn hand_out(&self, comm: &mut dyn Comm, collected: &[Range], arrived: &[Range]) {
        let mut messages = Requests::new();
        let mut packed_there = SmallVec::<[(Range, Ranges); 4]>::new();
        for leader in self.behind().filter(|member| self.leads(*member)) {
            let places = self.blocks_of(Range::receive, leader);
            let room = match places[..] {
                [only] => only,
                _ => {
                    let room = comm.scratch(units(&places));
                    packed_there.push((room, places));
                    room
                }
            };
            messages.push(comm.irecv(self.members()[leader], room));
        }
        if self.leads(self.index) {
            for member in self.ahead() {
                // What was collected in this room has left.
                let blocks = packed(comm, &self.arrived_for(member, arrived), |_| collected[member]);
                messages.push(comm.isend(self.members()[member], blocks));
            }
            let own = self.arrived_for(self.index, arrived);
            copy(comm, &own, &self.blocks_of(Range::receive, self.index));
        }
        comm.wait(&messages);
        for (room, places) in packed_there {
            copy(comm, &Ranges::from_slice(&[room]), &places);
        }
    }

    /// What arrived at this leader for a member of the own node.
    fn arrived_for(&self, member: usize, arrived: &[Range]) -> Ranges {
        let mut ranges = Ranges::new();
        for room in arrived {
            let theirs = room.len / self.members().len();
            push(&mut ranges, room.part(member * theirs, theirs));
        }
        ranges
    }
}
