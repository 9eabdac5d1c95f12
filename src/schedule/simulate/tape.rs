//! One rank's program reduced to what costs time: 16 bytes a step, so that tens of thousands of ranks fit into memory.

use crate::operation::{Call, Choice};
use crate::schedule::action::{Expansion, Primitives};
use crate::schedule::lower::{self, Form, Part};
use crate::schedule::{Buffer, Comm, Range, Request, Shared};

/// A step that costs time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beat {
    /// Starts a send.
    Send {
        /// Receiving rank.
        to: u32,
        /// Bytes of the message.
        bytes: u64,
    },
    /// Starts a receive.
    Receive {
        /// Sending rank.
        from: u32,
        /// Bytes of the message.
        bytes: u64,
    },
    /// Waits for the rank's message of that number, sends and receives counted together.
    Wait(u32),
    /// Folds so many bytes into as many.
    Fold(u64),
    /// Copies so many bytes.
    Copy(u64),
    /// Copies so many bytes to or from shared memory.
    Move(u64),
    /// A step on the board.
    Shared(Shared),
}

const _: () = assert!(std::mem::size_of::<Beat>() == 16);

/// All ranks' steps, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tapes {
    pub(super) beats: Vec<Beat>,
    /// Where each rank's steps begin, and where the last ones end.
    pub(super) bounds: Vec<usize>,
}

impl Tapes {
    /// The steps of `choice` for `call` among `size` ranks, lowered for `form`, or none if there are more than `limit`.
    pub fn record(choice: &Choice, call: &Call, size: usize, form: &Form, limit: usize) -> Option<Self> {
        Self::collect(size, call.unit, limit, |rank, beats| {
            lower::stream(&Part { choice, call, rank, size }, form, beats);
        })
    }

    /// The steps of `body` on each of `size` ranks, units of `unit` bytes, or none if there are more than `limit`.
    pub fn of(size: usize, unit: usize, limit: usize, body: impl Fn(&mut dyn Comm)) -> Option<Self> {
        Self::collect(size, unit, limit, |rank, beats| {
            lower::stream_body(rank, size, unit, &[], &Form::PLAIN, beats, &body);
        })
    }

    fn collect(
        size: usize,
        unit: usize,
        limit: usize,
        mut lowered: impl FnMut(usize, &mut Expansion<Beats>),
    ) -> Option<Self> {
        let (mut beats, mut bounds) = (Vec::new(), vec![0]);
        for rank in 0..size {
            let mut expansion = Expansion::new(Beats { beats, started: 0, unit });
            lowered(rank, &mut expansion);
            beats = expansion.primitives.beats;
            if beats.len() > limit {
                return None;
            }
            bounds.push(beats.len());
        }
        Some(Self { beats, bounds })
    }

    /// Number of ranks.
    pub fn size(&self) -> usize {
        self.bounds.len() - 1
    }

    /// Whether some rank takes a step on the board.
    pub fn share_memory(&self) -> bool {
        self.beats.iter().any(|beat| matches!(beat, Beat::Shared(_)))
    }

    /// The steps of one rank.
    pub fn rank(&self, rank: usize) -> &[Beat] {
        &self.beats[self.bounds[rank]..self.bounds[rank + 1]]
    }
}

/// Keeps of the primitives what costs time.
struct Beats {
    beats: Vec<Beat>,
    /// Messages of this rank so far.
    started: u32,
    unit: usize,
}

impl Beats {
    const fn bytes(&self, units: usize) -> u64 {
        units as u64 * self.unit as u64
    }
}

impl Primitives for Beats {
    fn start(&mut self, peer: u32, range: Range, outgoing: bool) -> Request {
        let bytes = self.bytes(range.len);
        self.beats.push(if outgoing { Beat::Send { to: peer, bytes } } else { Beat::Receive { from: peer, bytes } });
        self.started += 1;
        Request(self.started - 1)
    }

    fn wait(&mut self, request: Request) {
        self.beats.push(Beat::Wait(request.0));
    }

    fn copy(&mut self, from: Range, into: Range) {
        let bytes = self.bytes(from.len);
        let shared = [from, into].iter().any(|range| range.buffer == Buffer::Shared);
        self.beats.push(if shared { Beat::Move(bytes) } else { Beat::Copy(bytes) });
    }

    fn fold(&mut self, _: Range, _: Range, into: Range) {
        self.beats.push(Beat::Fold(self.bytes(into.len)));
    }

    fn shared(&mut self, step: Shared) {
        self.beats.push(Beat::Shared(step));
    }
}
