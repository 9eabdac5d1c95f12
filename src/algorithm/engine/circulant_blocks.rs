//! Blocks over a circulant graph: in every round a rank sends one block and receives one.

use crate::algorithm::optimum::Pace;
use crate::algorithm::{Call, Cost, Default, Kind, Parameter, Parameters, Shape};
use crate::operation::{Comm, Range, Requests};
use crate::pattern::block_schedule::BlockSchedule;
use crate::pattern::hypercube::ceil_log2;
use crate::pattern::segments::Segments;
use smallvec::{SmallVec, smallvec};

/// `blocks` of both operations.
pub const BLOCKS: Parameter = Parameter {
    name: "blocks",
    kind: Kind::Blocks,
    default: Default::Auto,
    help: "B: blocks into which the message is cut; auto: the optimum of the cost formula, folds not counted",
};

/// The blocks of a message: as many as asked for, or a few less so that all but the last are equal.
fn blocks(shape: &Shape, parameters: &Parameters) -> Segments {
    let Shape { ranks, bytes, unit, half_bandwidth, .. } = *shape;
    let count = bytes / unit;
    match parameters.number("blocks") {
        Some(number) => Segments::new(count, count.div_ceil(number)),
        None => Pace::new(ceil_log2(ranks) as usize, 1).segments(count, unit, half_bandwidth),
    }
}

/// Broadcasts the message of `call`: number 0 of the schedule is the root.
pub fn bcast(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    let (p, root) = (comm.size(), call.root);
    let rank = |v: usize| (v + root) % p;
    let blocks = blocks(&Shape::of(call, p), parameters);
    let schedule = BlockSchedule::new(p, (comm.rank() + p - root) % p);
    let place = |block: usize| Range::receive(0, call.count).slice(&blocks.units(block));
    for round in 0..schedule.rounds(blocks.number()) {
        let exchange = schedule.exchange(round, blocks.number());
        let mut requests = Requests::new();
        requests.extend(exchange.receive.map(|(from, block)| comm.irecv(rank(from), place(block))));
        requests.extend(exchange.send.map(|(to, block)| comm.isend(rank(to), place(block))));
        comm.wait(&requests);
    }
}

/// Reduces to the root of `call` by the schedule backwards: what was received is sent, what was sent comes in and is
/// folded. Every rank passes every block on exactly once, after all that comes to it.
pub fn reduce(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    let (p, root) = (comm.size(), call.root);
    let rank = |v: usize| (v + root) % p;
    let (own, is_root) = (Range::send(0, call.count), comm.rank() == root);
    let folded = if is_root { Range::receive(0, call.count) } else { comm.scratch(call.count) };
    if p == 1 {
        return comm.copy(own, folded);
    }
    let blocks = blocks(&Shape::of(call, p), parameters);
    let schedule = BlockSchedule::new(p, (comm.rank() + p - root) % p);
    let incoming = comm.scratch(blocks.length());
    let mut touched: SmallVec<[bool; 64]> = smallvec![false; blocks.number()];
    for round in (0..schedule.rounds(blocks.number())).rev() {
        let exchange = schedule.exchange(round, blocks.number());
        let held = |touched: &[bool], block: usize| {
            if touched[block] { folded.slice(&blocks.units(block)) } else { own.slice(&blocks.units(block)) }
        };
        let mut requests = Requests::new();
        let arriving = exchange.send.map(|(from, block)| (from, block, incoming.part(0, blocks.units(block).len())));
        requests.extend(arriving.map(|(from, _, into)| comm.irecv(rank(from), into)));
        requests.extend(exchange.receive.map(|(to, block)| comm.isend(rank(to), held(&touched, block))));
        comm.wait(&requests);
        if let Some((_, block, arrived)) = arriving {
            comm.fold(held(&touched, block), arrived, folded.slice(&blocks.units(block)));
            touched[block] = true;
        }
    }
}

/// Cost of [`bcast`], and of [`reduce`] with everything that is received folded.
pub fn cost(shape: &Shape, parameters: &Parameters, folds: bool) -> Cost {
    if shape.ranks == 1 {
        return Cost::default();
    }
    let blocks = blocks(shape, parameters);
    let rounds = blocks.number() - 1 + ceil_log2(shape.ranks) as usize;
    let bytes = (rounds * blocks.length() * shape.unit) as f64;
    Cost { rounds: rounds as f64, bytes, folded: if folds { bytes } else { 0.0 }, ..Cost::default() }
}
