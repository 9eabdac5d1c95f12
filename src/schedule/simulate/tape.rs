//! One rank's program reduced to what costs time: 16 bytes a step, so that tens of thousands of ranks fit into memory.

use crate::algorithm::{Call, Choice};
use crate::schedule::{Buffer, Comm, Range, Request};

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
}

/// All ranks' steps, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tapes {
    pub(super) beats: Vec<Beat>,
    /// Where each rank's steps begin, and where the last ones end.
    pub(super) bounds: Vec<usize>,
}

impl Tapes {
    /// The steps of `choice` for `call` among `size` ranks, or none if there are more than `limit`.
    pub fn record(choice: &Choice, call: &Call, size: usize, limit: usize) -> Option<Self> {
        Self::of(size, call.unit, limit, |comm| (choice.algorithm.run)(comm, call, &choice.parameters))
    }

    /// The steps of `body` on each of `size` ranks, units of `unit` bytes, or none if there are more than `limit`.
    pub fn of(size: usize, unit: usize, limit: usize, body: impl Fn(&mut dyn Comm)) -> Option<Self> {
        let mut recorder = Recorder { rank: 0, size, unit, scratch: 0, requests: 0, beats: Vec::new() };
        let mut bounds = vec![0];
        for rank in 0..size {
            (recorder.rank, recorder.scratch, recorder.requests) = (rank, 0, 0);
            body(&mut recorder);
            if recorder.beats.len() > limit {
                return None;
            }
            bounds.push(recorder.beats.len());
        }
        Some(Self { beats: recorder.beats, bounds })
    }

    /// Number of ranks.
    pub fn size(&self) -> usize {
        self.bounds.len() - 1
    }

    /// The steps of one rank.
    pub fn rank(&self, rank: usize) -> &[Beat] {
        &self.beats[self.bounds[rank]..self.bounds[rank + 1]]
    }
}

struct Recorder {
    rank: usize,
    size: usize,
    unit: usize,
    scratch: usize,
    requests: u32,
    beats: Vec<Beat>,
}

impl Recorder {
    const fn bytes(&self, units: usize) -> u64 {
        units as u64 * self.unit as u64
    }

    fn start(&mut self, beat: Beat) -> Request {
        self.beats.push(beat);
        self.requests += 1;
        Request(self.requests - 1)
    }
}

impl Comm for Recorder {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn scratch(&mut self, units: usize) -> Range {
        let start = self.scratch;
        self.scratch += units;
        Range { buffer: Buffer::Scratch, start, len: units }
    }

    fn isend(&mut self, to: usize, from: Range) -> Request {
        let bytes = self.bytes(from.len);
        self.start(Beat::Send { to: to as u32, bytes })
    }

    fn irecv(&mut self, from: usize, into: Range) -> Request {
        let bytes = self.bytes(into.len);
        self.start(Beat::Receive { from: from as u32, bytes })
    }

    fn wait(&mut self, requests: &[Request]) {
        self.beats.extend(requests.iter().map(|request| Beat::Wait(request.0)));
    }

    fn copy(&mut self, from: Range, into: Range) {
        if from.len > 0 && from != into {
            self.beats.push(Beat::Copy(self.bytes(from.len)));
        }
    }

    fn fold(&mut self, _: Range, _: Range, into: Range) {
        if into.len > 0 {
            self.beats.push(Beat::Fold(self.bytes(into.len)));
        }
    }
}
