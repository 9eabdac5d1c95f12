//! Reduce-scatter and allgather of blocks that lie on a circle, one per rank, by turns in which neighbouring ones are
//! sent.
//!
//! An allgather takes the turns as they are. The same turns backwards, with every message the other way round, are a
//! reduce-scatter: since no block is got twice, no contribution is.

use crate::algorithm::{Cost, Shape};
use crate::operation::{Comm, Range};
use crate::pattern::blocks::Blocks;
use crate::pattern::circle::Arc;
use crate::pattern::turns::Turn;
use smallvec::SmallVec;

/// Allreduce of `count` units by `turns` backwards, then forwards. Keeps no rank order.
pub fn allreduce(comm: &mut dyn Comm, count: usize, turns: impl Iterator<Item = Turn>) {
    let (own, result) = (Range::send(0, count), Range::receive(0, count));
    if comm.size() == 1 {
        comm.copy(own, result);
        return;
    }
    let arcs = Arcs::new(comm, count, turns);
    arcs.reduce_scatter(comm, own, result);
    arcs.allgather(comm, result);
}

/// Cost of [`allreduce`] by the `turns` of any rank, in which no rank has to pack arcs of up to `together` blocks.
pub fn allreduce_cost(shape: &Shape, turns: impl Iterator<Item = Turn>, together: usize) -> Cost {
    let blocks = Blocks::new(shape.bytes / shape.unit, shape.ranks);
    let turns: SmallVec<[Turn; 16]> = turns.collect();
    let both_ways = turns.iter().map(|turn| {
        let bytes = (longest(&blocks, turn.outgoing) * shape.unit) as f64;
        // Blocks around the end of the vector are packed on their way in, and packed and unpacked on their way out.
        let packed = if turn.outgoing.len() > together { 3.0 * bytes } else { 0.0 };
        Cost { rounds: 2.0, bytes: 2.0 * bytes, folded: bytes, packed, ..Cost::default() }
    });
    // What the first turn on the way in leaves untouched is copied.
    let left = turns.last().map_or(0, |turn| longest(&blocks, untouched(turn, shape.ranks)));
    both_ways.fold(Cost { packed: (left * shape.unit) as f64, ..Cost::default() }, |sum, turn| sum + turn)
}

/// Units of the longest run of as many blocks as `arc` has: the first ones, since the larger blocks come first.
fn longest(blocks: &Blocks, arc: Arc) -> usize {
    blocks.start(arc.len())
}

/// A vector cut into one block per rank, with room for what is on its way. Rank r ends a reduce-scatter, and starts an
/// allgather, with block r.
pub struct Arcs {
    blocks: Blocks,
    turns: SmallVec<[Turn; 16]>,
    /// For blocks that lie around the end of the vector and are sent as one message.
    packed: Range,
    incoming: Range,
}

impl Arcs {
    /// For vectors of `count` units and the `turns` of this rank.
    pub fn new(comm: &mut dyn Comm, count: usize, turns: impl Iterator<Item = Turn>) -> Self {
        let blocks = Blocks::new(count, comm.size());
        let turns: SmallVec<[Turn; 16]> = turns.collect();
        let room = turns.iter().map(|turn| longest(&blocks, turn.outgoing)).max().unwrap_or(0);
        Self { blocks, turns, packed: comm.scratch(room), incoming: comm.scratch(room) }
    }

    /// Reduce-scatter of `own` into `result`, whole vectors that may share memory.
    pub fn reduce_scatter(&self, comm: &mut dyn Comm, own: Range, result: Range) {
        let mut held = own;
        for turn in self.turns.iter().rev() {
            let outgoing = self.gathered(comm, turn.incoming, held);
            let theirs = self.incoming.part(0, self.units(turn.outgoing));
            comm.sendrecv(turn.from, outgoing, turn.to, theirs);
            let mut start = 0;
            for run in turn.outgoing.runs() {
                let units = self.blocks.span(run);
                comm.fold(theirs.part(start, units.len()), held.slice(&units), result.slice(&units));
                start += units.len();
            }
            if held == own {
                // Blocks that are kept and have nothing folded in yet: from here on all that is held is in the result.
                for run in untouched(turn, comm.size()).runs() {
                    let units = self.blocks.span(run);
                    comm.copy(own.slice(&units), result.slice(&units));
                }
            }
            held = result;
        }
    }

    /// Allgather within `vector`.
    pub fn allgather(&self, comm: &mut dyn Comm, vector: Range) {
        for turn in &self.turns {
            let outgoing = self.gathered(comm, turn.outgoing, vector);
            let [first, second] = turn.incoming.runs();
            if second.is_empty() {
                comm.sendrecv(turn.to, outgoing, turn.from, vector.slice(&self.blocks.span(first)));
                continue;
            }
            let theirs = self.incoming.part(0, self.units(turn.incoming));
            comm.sendrecv(turn.to, outgoing, turn.from, theirs);
            let mut start = 0;
            for run in [first, second] {
                let units = self.blocks.span(run);
                comm.copy(theirs.part(start, units.len()), vector.slice(&units));
                start += units.len();
            }
        }
    }

    fn units(&self, arc: Arc) -> usize {
        arc.runs().into_iter().map(|run| self.blocks.span(run).len()).sum()
    }

    /// The blocks of `arc` in one piece: where they are, if they lie together.
    fn gathered(&self, comm: &mut dyn Comm, arc: Arc, vector: Range) -> Range {
        let [first, second] = arc.runs().map(|run| self.blocks.span(run));
        if second.is_empty() {
            return vector.slice(&first);
        }
        comm.copy(vector.slice(&first), self.packed.part(0, first.len()));
        comm.copy(vector.slice(&second), self.packed.part(first.len(), second.len()));
        self.packed.part(0, first.len() + second.len())
    }
}

/// What is held besides the blocks of `turn.outgoing` when all but those of `turn.incoming` are: the rest of the circle
/// on one side of them.
fn untouched(turn: &Turn, ranks: usize) -> Arc {
    let held = Arc::new(turn.incoming.start() + turn.incoming.len(), ranks - turn.incoming.len(), ranks);
    let rest = held.len() - turn.outgoing.len();
    let starts_held = turn.outgoing.start() == held.start();
    Arc::new(held.start() + if starts_held { turn.outgoing.len() } else { 0 }, rest, ranks)
}
