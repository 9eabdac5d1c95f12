//! What an algorithm may say: the [`Comm`] trait and the ranges it speaks in.
//!
//! No operation returns data, so no algorithm can let its messages depend on them; that is what lets one body be
//! executed, recorded, verified, simulated and drawn.

use super::shared::Shared;

/// A buffer of the call, as the algorithm sees it: units in a row, whatever the user's memory looks like.
///
/// What [`Send`](Self::Send) and [`Receive`](Self::Receive) hold, and on which ranks, says the row of the operation
/// ([`Row::send`](super::Row::send), [`Row::receive`](super::Row::receive)); blocks for each rank stand in rank order, or
/// where the rank places them. An operation without a contribution has its message in `Receive`, full at the root from the
/// start.
///
/// With `MPI_IN_PLACE`, `Send` and `Receive` share memory, all of it or the own block
/// ([`Row::in_place`](super::Row::in_place)): an algorithm must not write a unit of `Receive` before it has finished
/// reading the unit of `Send` that lies there. Copying a range of `Send` onto itself is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Buffer {
    /// What the rank contributes; never written.
    Send,
    /// Where the result goes; may be used as working space before. Never written at the root of a broadcast.
    Receive,
    /// Working space from [`Comm::scratch`].
    Scratch,
    /// Lengths of blocks, a word each ([`Call::word`](super::Call::word)), where an algorithm needs those of other
    /// ranks: the own ones by rank, then those that its [`Prelude`](super::Prelude) brings. Nothing else uses it.
    Lengths,
    /// Memory that the ranks of a node share, where a call has it ([`Call::shared`](super::Call::shared)): windows and
    /// lines, read by all of them and written by their owner ([`Range::window`], [`Range::line`]), who goes by its
    /// number on the node. No message travels from there or to it.
    Shared,
}

/// Where the rank stands in the start of a range of shared memory, and above it what of the rank's it is.
const RANK: u32 = 36;
const PLACE: u32 = 56;

/// What of a rank's shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// The bank of its window that this call uses.
    Window,
    /// The other bank, which the calls before and after this one use.
    OtherWindow,
    /// The line that this call uses.
    Line,
}

/// `len` units of `buffer` from unit `start` on. A unit is one element in reductions and one byte elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Range {
    /// The buffer.
    pub buffer: Buffer,
    /// First unit.
    pub start: usize,
    /// Number of units.
    pub len: usize,
}

impl Range {
    /// Units `start..start + len` of the send buffer.
    pub const fn send(start: usize, len: usize) -> Self {
        Self { buffer: Buffer::Send, start, len }
    }

    /// Units `start..start + len` of the receive buffer.
    pub const fn receive(start: usize, len: usize) -> Self {
        Self { buffer: Buffer::Receive, start, len }
    }

    /// Units `start..start + len` of the lengths of blocks.
    pub const fn lengths(start: usize, len: usize) -> Self {
        Self { buffer: Buffer::Lengths, start, len }
    }

    /// Units `start..start + len` of the window of `rank`, in the bank of this call or the other one.
    pub const fn window(rank: usize, other: bool, start: usize, len: usize) -> Self {
        let place = if other { Place::OtherWindow } else { Place::Window };
        Self { buffer: Buffer::Shared, start: (place as usize) << PLACE | rank << RANK | start, len }
    }

    /// The first `len` units of the line of `rank`.
    pub const fn line(rank: usize, len: usize) -> Self {
        Self { buffer: Buffer::Shared, start: (Place::Line as usize) << PLACE | rank << RANK, len }
    }

    /// The same range of the shared memory of another rank, which `other` names.
    #[must_use]
    pub fn of_rank(self, other: impl Fn(usize) -> usize) -> Self {
        let rank = Self::place(self.start).1;
        Self { start: self.start - (rank << RANK) + (other(rank) << RANK), ..self }
    }

    /// Where a range of shared memory that starts with `start` lies: what of which rank's, and its first unit there.
    #[inline(always)]
    pub const fn place(start: usize) -> (Place, usize, usize) {
        let place = match start >> PLACE {
            0 => Place::Window,
            1 => Place::OtherWindow,
            _ => Place::Line,
        };
        (place, start >> RANK & ((1 << (PLACE - RANK)) - 1), start & ((1 << RANK) - 1))
    }

    /// One past the last unit.
    pub const fn end(self) -> usize {
        self.start + self.len
    }

    /// Units `start..start + len` counted from the start of this range.
    ///
    /// # Panics
    /// If the part does not lie inside this range: an algorithm's own mistake.
    pub const fn part(self, start: usize, len: usize) -> Self {
        assert!(start + len <= self.len, "part outside its range");
        Self { buffer: self.buffer, start: self.start + start, len }
    }

    /// The part of this range that a [`std::ops::Range`] of units names, counted from its start.
    pub const fn slice(self, units: &std::ops::Range<usize>) -> Self {
        self.part(units.start, units.end - units.start)
    }

    /// Whether the two ranges have a unit in common.
    pub fn overlaps(self, other: Self) -> bool {
        self.buffer == other.buffer && self.start < other.end() && other.start < self.end()
    }
}

impl std::fmt::Display for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = match self.buffer {
            Buffer::Send => "send",
            Buffer::Receive => "receive",
            Buffer::Scratch => "scratch",
            Buffer::Lengths => "lengths",
            Buffer::Shared => {
                let (place, rank, start) = Self::place(self.start);
                let name = match place {
                    Place::Window => "window",
                    Place::OtherWindow => "other window",
                    Place::Line => "line",
                };
                return write!(f, "{name} of rank {rank}[{start}..{}]", start + self.len);
            }
        };
        write!(f, "{name}[{}..{}]", self.start, self.end())
    }
}

/// A started send or receive. Each is waited for exactly once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use = "a started message has to be waited for"]
pub struct Request(pub u32);

/// The requests an algorithm holds on to; no allocation while they are few.
pub type Requests = smallvec::SmallVec<[Request; 16]>;

/// One rank's end of the messages of one collective call.
///
/// Messages between two ranks match in the order in which they were started (per direction). Messages of zero units
/// are real messages. A range may not be written while a message that reads it is unfinished, nor touched while a
/// message that writes it is; the verifier holds algorithms to that, and to ending with every request waited for.
pub trait Comm {
    /// Own rank, `0..size`.
    fn rank(&self) -> usize;

    /// Number of ranks.
    fn size(&self) -> usize;

    /// Sets `units` units of scratch aside; contents undefined. May be called several times; earlier ranges stay valid.
    fn scratch(&mut self, units: usize) -> Range;

    /// Starts sending `from` to rank `to`.
    fn isend(&mut self, to: usize, from: Range) -> Request;

    /// Starts receiving `into` from rank `from`.
    fn irecv(&mut self, from: usize, into: Range) -> Request;

    /// Waits until all of `requests` are finished.
    fn wait(&mut self, requests: &[Request]);

    /// Copies `from` to `into`, ranges of equal length that are the same or do not overlap.
    fn copy(&mut self, from: Range, into: Range);

    /// `into[i] = left[i] ∘ right[i]`, where `left` holds the contributions of lower ranks if order matters. `into` is
    /// `left`, or `right`, or overlaps neither.
    fn fold(&mut self, left: Range, right: Range, into: Range);

    /// A step on the board, where a call has shared memory; the methods of `dyn Comm` name them.
    fn shared(&mut self, step: Shared);

    /// Sends and waits.
    fn send(&mut self, to: usize, from: Range) {
        let request = self.isend(to, from);
        self.wait(&[request]);
    }

    /// Receives and waits.
    fn recv(&mut self, from: usize, into: Range) {
        let request = self.irecv(from, into);
        self.wait(&[request]);
    }

    /// Sends `outgoing` to `to` while receiving `incoming` from `from`.
    fn sendrecv(&mut self, to: usize, outgoing: Range, from: usize, incoming: Range) {
        let receive = self.irecv(from, incoming);
        let send = self.isend(to, outgoing);
        self.wait(&[receive, send]);
    }
}

/// Steps on the board by name.
impl dyn Comm + '_ {
    /// See [`Shared::Enter`].
    pub fn enter(&mut self, step: usize) {
        self.shared(Shared::Enter { step: step as u32 });
    }

    /// See [`Shared::Signal`].
    pub fn signal(&mut self, step: usize) {
        self.shared(Shared::Signal { step: step as u32 });
    }

    /// See [`Shared::Await`].
    pub fn await_flag(&mut self, rank: usize, step: usize) {
        self.shared(Shared::Await { rank: rank as u32, step: step as u32 });
    }

    /// See [`Shared::Begun`].
    pub fn await_begun(&mut self, before: u32) {
        self.shared(Shared::Begun { before });
    }

    /// See [`Shared::AwaitPost`].
    pub fn await_post(&mut self, rank: usize) {
        self.shared(Shared::AwaitPost { rank: rank as u32 });
    }
}
