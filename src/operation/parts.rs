//! What the parts of a call's buffers are: which range is whose block, what is contributed, and what belongs where in
//! the end.

use super::comm::Range;
use super::{Block, Blocks, Call, Origin, OwnBlocks};

impl Call<'_> {
    /// The block that `rank` sends to `to`.
    pub fn outgoing(&self, rank: usize, to: usize) -> Range {
        let Block { start, len } = match self.blocks {
            Blocks::Alike => Block { start: to * self.count, len: self.count },
            Blocks::Own { blocks, .. } => blocks.send[to],
            Blocks::All(all) => all.of(rank).send[to],
        };
        Range::send(start, len)
    }

    /// The block that `rank` receives from `from`.
    pub fn incoming(&self, rank: usize, from: usize) -> Range {
        let Block { start, len } = match self.blocks {
            Blocks::Alike => Block { start: from * self.count, len: self.count },
            Blocks::Own { blocks, .. } => blocks.receive[from],
            Blocks::All(all) => all.of(rank).receive[from],
        };
        Range::receive(start, len)
    }

    /// Length of the block of `from` for `to`, which is the one of that number that the prelude brings.
    ///
    /// # Panics
    /// If the prelude has not run, or brings fewer.
    pub fn learned(&self, number: usize, (from, to): (usize, usize)) -> usize {
        match self.blocks {
            Blocks::Alike => self.count,
            Blocks::Own { learned, .. } => learned[number],
            Blocks::All(all) => all.of(from).send[to].len,
        }
    }

    /// Units that a length takes in the buffer of lengths, eight bytes or more.
    pub const fn word(&self) -> usize {
        8usize.div_ceil(self.unit)
    }

    /// Units of the send and the receive buffer of `rank` among `size`, where they exist.
    pub fn buffers(&self, rank: usize, size: usize) -> [Option<usize>; 2] {
        let end = |blocks: &[Block]| blocks.iter().map(|block| block.end()).max().unwrap_or(0);
        match self.blocks_of(rank) {
            Some(own) => [&own.send, &own.receive].map(|blocks| Some(end(blocks))),
            None => {
                let sides = self.operation.row().sides();
                sides.map(|side| side.blocks(size, rank == self.root).map(|blocks| blocks * self.count))
            }
        }
    }

    /// What `rank` among `size` contributes.
    pub fn contributions(&self, rank: usize, size: usize) -> Vec<Range> {
        match self.blocks_of(rank) {
            Some(own) => own.send.iter().map(|block| Range::send(block.start, block.len)).collect(),
            None => self.operation.row().contribution(self.count, size, rank == self.root).into_iter().collect(),
        }
    }

    /// What belongs in the receive buffer of `rank` among `size`: the parts that the call sets.
    pub fn results(&self, rank: usize, size: usize) -> Vec<Range> {
        match self.blocks_of(rank) {
            Some(own) => own.receive.iter().map(|block| Range::receive(block.start, block.len)).collect(),
            None => self.buffers(rank, size)[1].map(|units| Range::receive(0, units)).into_iter().collect(),
        }
    }

    /// What belongs at `unit` of the result of `rank`, and on from there, for operations that fold nothing; `None`
    /// where nothing does.
    pub fn origin(&self, unit: usize, rank: usize) -> Option<Origin> {
        match self.blocks {
            Blocks::Alike => {
                let (of, there) = self.operation.row().origin(unit, self.count, rank, self.root);
                Some(Origin { rank: of, unit: there, len: self.count - unit % self.count })
            }
            Blocks::Own { .. } => None,
            Blocks::All(all) => {
                let blocks = all.of(rank).receive.iter().enumerate();
                let holds = |block: &Block| block.start <= unit && unit < block.end();
                let (from, block) = blocks.into_iter().find(|(_, block)| holds(block))?;
                let (passed, start) = (unit - block.start, all.of(from).send[rank].start);
                Some(Origin { rank: from, unit: start + passed, len: block.len - passed })
            }
        }
    }

    fn blocks_of(&self, rank: usize) -> Option<&OwnBlocks> {
        match self.blocks {
            Blocks::Alike => None,
            Blocks::Own { blocks, .. } => Some(blocks),
            Blocks::All(all) => Some(all.of(rank)),
        }
    }
}
