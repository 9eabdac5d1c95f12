//! Reduce-scatter and allgather over a circulant graph.

use crate::pattern::blocks::Blocks;
use crate::pattern::circle::Arc;
use crate::pattern::circulant::rounds;
use crate::schedule::{Comm, Range};

/// A vector cut into one block per rank, with room for what is on its way. Rank r ends a reduce-scatter, and starts an
/// allgather, with block r.
pub struct Circulant {
    blocks: Blocks,
    /// For runs of blocks that pass the last one and are sent as one message.
    packed: Range,
    incoming: Range,
}

impl Circulant {
    /// For vectors of `count` units; sets half of them aside twice.
    pub fn new(comm: &mut dyn Comm, count: usize) -> Self {
        let blocks = Blocks::new(count, comm.size());
        // No run of ⌊p/2⌋ blocks is longer than the first one, since the larger blocks come first.
        let room = blocks.start(comm.size() / 2);
        Self { blocks, packed: comm.scratch(room), incoming: comm.scratch(room) }
    }

    /// Reduce-scatter of `own` into `result`, whole vectors that may share memory. The fold of block b ends with rank b
    /// and keeps no rank order.
    pub fn reduce_scatter(&self, comm: &mut dyn Comm, own: Range, result: Range) {
        let (p, r) = (comm.size(), comm.rank());
        let mut held = own;
        for round in rounds(p) {
            let (to, from) = ((r + round.distance) % p, (r + p - round.distance) % p);
            let outgoing = self.gathered(comm, Arc::new(r + round.distance, round.blocks(), p), held);
            let arriving = Arc::new(r, round.blocks(), p);
            let theirs = self.incoming.part(0, self.units(arriving));
            comm.sendrecv(to, outgoing, from, theirs);
            let mut start = 0;
            for run in arriving.runs() {
                let units = self.blocks.span(run);
                let part = theirs.part(start, units.len());
                comm.fold(part, held.slice(&units), result.slice(&units));
                start += units.len();
            }
            if round.reach == p && !p.is_multiple_of(2) {
                // The one block that is still to be sent and has not been folded into yet.
                let middle = self.blocks.units((r + p / 2) % p);
                comm.copy(own.slice(&middle), result.slice(&middle));
            }
            held = result;
        }
    }

    /// Allgather within `vector`.
    pub fn allgather(&self, comm: &mut dyn Comm, vector: Range) {
        let (p, r) = (comm.size(), comm.rank());
        for round in rounds(p).into_iter().rev() {
            let (to, from) = ((r + p - round.distance) % p, (r + round.distance) % p);
            let outgoing = self.gathered(comm, Arc::new(r, round.blocks(), p), vector);
            let arriving = Arc::new(r + round.distance, round.blocks(), p);
            let [first, second] = arriving.runs();
            if second.is_empty() {
                comm.sendrecv(to, outgoing, from, vector.slice(&self.blocks.span(first)));
                continue;
            }
            let theirs = self.incoming.part(0, self.units(arriving));
            comm.sendrecv(to, outgoing, from, theirs);
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
        let [first, second] = arc.runs();
        let (first, second) = (self.blocks.span(first), self.blocks.span(second));
        if second.is_empty() {
            return vector.slice(&first);
        }
        comm.copy(vector.slice(&first), self.packed.part(0, first.len()));
        comm.copy(vector.slice(&second), self.packed.part(first.len(), second.len()));
        self.packed.part(0, first.len() + second.len())
    }
}
