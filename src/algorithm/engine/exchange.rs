//! Allgather by rounds in which every rank sends blocks that it holds and receives blocks that it lacks.
//!
//! Blocks lie in rank order in the receive buffer from the start, so nothing is rotated at the end. A set of blocks
//! that is no single run of ranks is packed into one message.

use crate::algorithm::{Cost, Shape};
use crate::operation::{Comm, Range};
use crate::pattern::hypercube::ceil_log2;
use crate::pattern::turns::Turn;
use std::ops;

/// Cost where the blocks that a rank holds double in every round, as far as there are more. `rounds` gives to whom a rank
/// sends how many of them.
pub fn doubling_cost<I: Iterator<Item = (usize, usize)>>(shape: &Shape, rounds: impl Fn(usize) -> I) -> Cost {
    let (others, block) = ((shape.ranks - 1) as f64, shape.bytes as f64);
    let of_rank = |rank| rounds(rank).map(|(to, blocks)| (to, blocks as f64 * block));
    let bytes = shape.bytes_over_ports(others * block, of_rank);
    Cost { rounds: f64::from(ceil_log2(shape.ranks)), bytes, ..Cost::default() }
}

/// The same where more than `together` blocks of a message may lie apart at both ends: packed there, and unpacked.
pub fn packed_cost<I: Iterator<Item = (usize, usize)>>(
    shape: &Shape,
    together: usize,
    rounds: impl Fn(usize) -> I,
) -> Cost {
    let several: usize = rounds(0).map(|(_, blocks)| blocks).filter(|blocks| *blocks > together).sum();
    Cost { packed: (2 * several * shape.bytes) as f64, ..doubling_cost(shape, rounds) }
}

/// The blocks of an allgather in the receive buffer, with room for packed messages.
pub struct Exchange {
    block: usize,
    packed: Option<[Range; 2]>,
}

impl Exchange {
    /// Blocks of `block` units. The own block is put in its place.
    pub fn new(comm: &mut dyn Comm, block: usize) -> Self {
        comm.copy(Range::send(0, block), Range::receive(comm.rank() * block, block));
        Self { block, packed: None }
    }

    /// Carries out one turn of an allgather of arcs.
    pub fn turn(&mut self, comm: &mut dyn Comm, turn: &Turn) {
        let (outgoing, incoming) = (turn.outgoing.runs(), turn.incoming.runs());
        self.round(comm, (turn.to, outgoing.into_iter()), (turn.from, incoming.into_iter()));
    }

    /// Sends the blocks of the ranks in `outgoing` to `to` and receives those in `incoming` from `from`. Both are runs
    /// of ranks, at most half of all; `from` sends its runs in the order in which they are received here.
    pub fn round(
        &mut self,
        comm: &mut dyn Comm,
        (to, outgoing): (usize, impl Iterator<Item = ops::Range<usize>> + Clone),
        (from, incoming): (usize, impl Iterator<Item = ops::Range<usize>> + Clone),
    ) {
        let (sent, received) = (self.single(outgoing.clone()), self.single(incoming.clone()));
        let sent = sent.unwrap_or_else(|| {
            let [room, _] = self.room(comm);
            let mut end = 0;
            for run in outgoing {
                let place = self.place(run);
                comm.copy(place, room.part(end, place.len));
                end += place.len;
            }
            room.part(0, end)
        });
        match received {
            Some(place) => comm.sendrecv(to, sent, from, place),
            None => {
                let [_, room] = self.room(comm);
                let len = incoming.clone().map(|run| run.len() * self.block).sum();
                comm.sendrecv(to, sent, from, room.part(0, len));
                let mut end = 0;
                for run in incoming {
                    let place = self.place(run);
                    comm.copy(room.part(end, place.len), place);
                    end += place.len;
                }
            }
        }
    }

    fn place(&self, ranks: ops::Range<usize>) -> Range {
        Range::receive(ranks.start * self.block, ranks.len() * self.block)
    }

    /// The place of the runs if they are one.
    fn single(&self, runs: impl Iterator<Item = ops::Range<usize>>) -> Option<Range> {
        let mut runs = runs.filter(|run| !run.is_empty());
        let first = runs.next().unwrap_or(0..0);
        runs.next().is_none().then(|| self.place(first))
    }

    /// Room for a message out and one in; no rank gets more than half of the blocks at once.
    fn room(&mut self, comm: &mut dyn Comm) -> [Range; 2] {
        let units = comm.size() / 2 * self.block;
        *self.packed.get_or_insert_with(|| [comm.scratch(units), comm.scratch(units)])
    }
}
