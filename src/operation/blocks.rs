//! The blocks of a call in which every pair of ranks has one: in rank order and all of one length, or each where its
//! rank put it and as long as its two ranks say.

/// A block in its buffer, in units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Block {
    /// Its first unit.
    pub start: usize,
    /// Its length.
    pub len: usize,
}

impl Block {
    /// One past its last unit.
    pub const fn end(self) -> usize {
        self.start + self.len
    }
}

/// The blocks of one rank, by the rank that they are for or from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct OwnBlocks {
    /// In the send buffer; in place, as in the receive buffer.
    pub send: Box<[Block]>,
    /// In the receive buffer. Those of ranks that send something do not overlap.
    pub receive: Box<[Block]>,
}

/// The blocks of a call, as far as the reader of the algorithm knows them.
#[derive(Clone, Copy, Debug)]
pub enum Blocks<'a> {
    /// All of [`Call::count`](super::Call::count) units, in rank order.
    Alike,
    /// Those of the rank that makes the call: what a rank knows that carries it out.
    Own {
        /// Its own.
        blocks: &'a OwnBlocks,
        /// Lengths of blocks of other ranks, in the order of [`Prelude::lengths`](super::Prelude::lengths); empty
        /// before they are known.
        learned: &'a [usize],
    },
    /// Those of every rank: what the verifier and the simulator know.
    All(&'a AllBlocks),
}

/// The blocks of every rank.
#[derive(Clone, Debug)]
pub struct AllBlocks(Vec<OwnBlocks>);

impl AllBlocks {
    /// By rank. A block is as long where it is received as where it is sent.
    ///
    /// # Panics
    /// If one is not.
    pub fn new(ranks: Vec<OwnBlocks>) -> Self {
        for (from, sender) in ranks.iter().enumerate() {
            for (to, receiver) in ranks.iter().enumerate() {
                assert_eq!(sender.send[to].len, receiver.receive[from].len, "from rank {from} to rank {to}");
            }
        }
        Self(ranks)
    }

    /// Those of one rank.
    pub fn of(&self, rank: usize) -> &OwnBlocks {
        &self.0[rank]
    }
}

/// What belongs where in a result: from `unit` of the contribution of `rank` on, `len` units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Whose.
    pub rank: usize,
    /// The first of them there.
    pub unit: usize,
    /// How many.
    pub len: usize,
}
