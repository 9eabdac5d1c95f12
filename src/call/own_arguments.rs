//! Counts and displacements that each rank passes for itself, understood: which elements of the program's buffers are
//! whose block, and where the blocks lie for an algorithm.

use crate::communicator::fallback::Fallback;
use crate::mpi::datatype::Datatype;
use crate::mpi::passed::Arrays;
use crate::operation::{Block, OwnBlocks};
use crate::schedule::overlap::Reach;

/// One of the two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// What is sent.
    Send = 0,
    /// What is received.
    Receive = 1,
}

/// A block in the program's buffer, in elements of the side's type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Placed {
    /// The first of them, counted from the address that was passed; 0 where there is none.
    pub first: isize,
    /// How many.
    pub number: usize,
}

/// Counts and displacements of a call.
#[derive(Debug)]
pub struct OwnArguments {
    /// As passed, to compare the next call with; of the send side nothing in place.
    passed: [Box<[[i64; 2]]>; 2],
    /// By side and rank; in place the sides are alike.
    placed: [Box<[Placed]>; 2],
    /// Bytes from the address that was passed to unit 0 of the side's blocks, where they lie in the program's memory.
    offsets: [isize; 2],
    /// The blocks, in bytes of the signature: where they lie in the program's memory if the type is contiguous, else
    /// one behind the other in a row of working memory.
    pub blocks: OwnBlocks,
    /// Signature bytes that the rank sends.
    pub bytes: usize,
    /// Whether the rank sends itself more than it receives, which no buffer need have room for.
    pub truncated: bool,
}

impl OwnArguments {
    /// Of a call among `ranks` ranks with these arrays and types; without those of the send side it is in place.
    ///
    /// # Errors
    /// Counts below 0, missing arrays, and places that no memory reaches to.
    pub fn of(send: Option<(Arrays, &Datatype)>, receive: (Arrays, &Datatype), ranks: usize) -> Result<Self, Fallback> {
        let taken = read(receive.0, ranks)?;
        let to_receive = placed(&taken)?;
        let (passed, sent) = match send {
            Some((arrays, datatype)) => {
                let given = read(arrays, ranks)?;
                let sent = (placed(&given)?, *datatype);
                ([given, taken], sent)
            }
            None => ([Box::default(), taken], (to_receive.clone(), *receive.1)),
        };
        let (sent_blocks, sent_offset) = blocks(&sent.0, &sent.1)?;
        let (received_blocks, received_offset) = blocks(&to_receive, receive.1)?;
        let bytes = total(&sent_blocks);
        Ok(Self {
            passed,
            placed: [sent.0, to_receive],
            offsets: [sent_offset, received_offset],
            blocks: OwnBlocks { send: sent_blocks, receive: received_blocks },
            bytes,
            truncated: false,
        })
    }

    /// Makes note of the own rank, and of how the sides lie to each other.
    pub fn settle(&mut self, rank: usize, in_place: bool, out_of_the_way: bool) {
        if in_place {
            self.blocks.send = self.blocks.receive.clone();
            self.offsets[0] = self.offsets[1];
            self.placed[0] = self.placed[1].clone();
        } else if out_of_the_way {
            self.blocks.send = packed(&self.blocks.send);
        }
        self.truncated = self.blocks.send[rank].len > self.blocks.receive[rank].len;
    }

    /// Whether the arrays hold the same: those of the send side are looked at unless this one is in place.
    #[inline(always)]
    pub fn is_of(&self, [send, receive]: [Arrays; 2]) -> bool {
        let [sent, received] = &self.passed;
        // SAFETY: both have an entry for each rank of the communicator, of which the arrays here were read.
        unsafe { send.hold(sent) && receive.hold(received) }
    }

    /// Whether the two sides' blocks have the same counts and displacements.
    pub fn sides_are_alike(&self) -> bool {
        self.placed[0] == self.placed[1]
    }

    /// The blocks of a side that hold something: their ranks, and their elements.
    pub fn filled(&self, side: Side) -> impl Iterator<Item = (usize, Placed)> {
        self.placed[side as usize].iter().copied().enumerate().filter(|(_, placed)| placed.number > 0)
    }

    /// Elements of a side.
    pub fn elements(&self, side: Side) -> usize {
        self.placed[side as usize].iter().map(|placed| placed.number).sum()
    }

    /// Bytes from the address passed to unit 0 of a side's blocks.
    pub const fn offset(&self, side: Side) -> isize {
        self.offsets[side as usize]
    }

    /// Units of a side's row in working memory.
    pub fn row(&self, side: Side) -> usize {
        total(match side {
            Side::Send => &self.blocks.send,
            Side::Receive => &self.blocks.receive,
        })
    }

    /// The bytes between the first and the last byte in use of a side.
    pub fn reach(&self, side: Side, datatype: &Datatype) -> Reach {
        let Datatype { true_lower, true_extent, extent, .. } = *datatype;
        let reaches = self.filled(side).map(|(_, Placed { first, number })| {
            Reach::of(number, true_lower, true_extent, extent).moved(first * extent)
        });
        reaches.reduce(Reach::and).unwrap_or_default()
    }

    /// Bytes of memory that it takes.
    pub fn heap_bytes(&self) -> usize {
        let ranks = self.placed[1].len();
        let passed: usize = self.passed.iter().map(|passed| size_of_val::<[[i64; 2]]>(passed)).sum();
        size_of::<Self>() + passed + 2 * ranks * (size_of::<Placed>() + size_of::<Block>())
    }
}

/// A number that arrays with other contents are unlikely to have; 0 for none.
#[inline]
pub fn digest(arrays: Arrays, ranks: usize) -> u64 {
    if ranks == 0 || arrays.are_missing() {
        return 0;
    }
    let mix = |hash: u64, word: i64| (hash.rotate_left(5) ^ word as u64).wrapping_mul(0x517C_C1B7_2722_0A95);
    // SAFETY: both arrays have an entry for each of the communicator's ranks.
    let entries = unsafe { arrays.each(ranks) };
    entries.fold(0, |hash, [count, displacement]| mix(mix(hash, count), displacement))
}

fn read(arrays: Arrays, ranks: usize) -> Result<Box<[[i64; 2]]>, Fallback> {
    if arrays.are_missing() {
        return Err(Fallback::InvalidArgument);
    }
    // SAFETY: they are there, with an entry for each rank of the communicator.
    Ok(unsafe { arrays.each(ranks) }.collect())
}

fn placed(passed: &[[i64; 2]]) -> Result<Box<[Placed]>, Fallback> {
    let one = |[count, displacement]: &[i64; 2]| {
        let number = usize::try_from(*count).map_err(|_| Fallback::InvalidArgument)?;
        // Of nothing the place says nothing.
        Ok(if number == 0 { Placed::default() } else { Placed { first: *displacement as isize, number } })
    };
    passed.iter().map(one).collect()
}

/// The blocks of a side and the offset of their unit 0.
fn blocks(placed: &[Placed], datatype: &Datatype) -> Result<(Box<[Block]>, isize), Fallback> {
    let lowest = placed.iter().filter(|placed| placed.number > 0).map(|placed| placed.first).min().unwrap_or(0);
    let one = |placed: &Placed| {
        if placed.number == 0 {
            return Some(Block::default());
        }
        let (start, len) = (placed.first.checked_sub(lowest)? as usize, placed.number);
        let block = Block { start: start.checked_mul(datatype.size)?, len: len.checked_mul(datatype.size)? };
        block.start.checked_add(block.len).map(|_| block)
    };
    let blocks: Option<Box<[Block]>> = placed.iter().map(one).collect();
    let blocks = blocks.ok_or(Fallback::InvalidArgument)?;
    let offset = lowest.checked_mul(datatype.extent).ok_or(Fallback::InvalidArgument)?;
    Ok(if datatype.contiguous { (blocks, offset) } else { (packed(&blocks), 0) })
}

/// The same blocks one behind the other.
fn packed(blocks: &[Block]) -> Box<[Block]> {
    let mut end = 0;
    let mut next = |block: &Block| {
        let start = end;
        end += block.len;
        Block { start, len: block.len }
    };
    blocks.iter().map(&mut next).collect()
}

fn total(blocks: &[Block]) -> usize {
    blocks.iter().map(|block| block.len).fold(0, usize::saturating_add)
}
