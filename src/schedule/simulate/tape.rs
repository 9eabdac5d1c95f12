//! One rank's program reduced to what costs time: 16 bytes a step, so that tens of thousands of ranks fit into memory.

use crate::operation::{Call, Choice, Shape};
use crate::schedule::action::{Expansion, Primitives};
use crate::schedule::fragments::ends_synchronously;
use crate::schedule::lower::{self, Form, Part};
use crate::schedule::seats::Seats;
use crate::schedule::{Buffer, Comm, Range, Request, Shared};
use std::collections::HashMap;

/// A step that costs time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beat {
    /// Starts a send.
    Send {
        /// Receiving rank.
        to: u32,
        /// Bytes of the message.
        bytes: u64,
        /// Whether it ends when its receive has begun, however short it is.
        synchronous: bool,
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

/// After so many ranks it is asked whether to go on.
const LOOK_EVERY: usize = 1 << 8;

/// All ranks' steps, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tapes {
    pub(super) beats: Vec<Beat>,
    /// Where each rank's steps begin, and where the last ones end.
    pub(super) bounds: Vec<usize>,
    /// Who shares a board with whom.
    pub(super) seats: Seats,
}

impl Tapes {
    /// The steps of `choice` for `call` among `size` ranks, lowered for `form`, or none if there are more than `limit`.
    pub fn record(choice: &Choice, call: &Call, size: usize, form: &Form, limit: usize) -> Option<Self> {
        Self::record_while(choice, call, size, form, limit, &|| true)
    }

    /// The same; none also when `goes_on` says no, which it is asked now and then.
    pub fn record_while(
        choice: &Choice,
        call: &Call,
        size: usize,
        form: &Form,
        limit: usize,
        goes_on: &dyn Fn() -> bool,
    ) -> Option<Self> {
        // A rank's steps are counted as they come, which takes long where they are far more than that. One after another
        // there are about so many; a margin, as formulas may round.
        let cost = choice.cost(&Shape::of(call, size));
        if cost.rounds + cost.notified > 2.0 * limit as f64 {
            return None;
        }
        Self::collect(size, (call.unit, call.nodes), (limit, goes_on), |rank, beats| {
            lower::stream(&Part { choice, call, rank, size }, form, beats);
        })
    }

    /// The steps of `body` on each of `size` ranks, units of `unit` bytes, or none if there are more than `limit`.
    pub fn of(size: usize, unit: usize, limit: usize, body: impl Fn(&mut dyn Comm)) -> Option<Self> {
        Self::collect(size, (unit, &[]), (limit, &|| true), |rank, beats| {
            lower::stream_body(rank, size, unit, &[], &Form::PLAIN, beats, &body);
        })
    }

    fn collect(
        size: usize,
        (unit, nodes): (usize, &[u32]),
        (limit, goes_on): (usize, &dyn Fn() -> bool),
        mut lowered: impl FnMut(usize, &mut Expansion<Beats>),
    ) -> Option<Self> {
        let (mut beats, mut bounds) = (Vec::new(), vec![0]);
        for rank in 0..size {
            if rank % LOOK_EVERY == LOOK_EVERY - 1 && !goes_on() {
                return None;
            }
            let mut expansion = Expansion::new(Beats { beats, limit, started: 0, sent: HashMap::new(), unit });
            lowered(rank, &mut expansion);
            beats = expansion.primitives.beats;
            if beats.len() > limit {
                return None;
            }
            bounds.push(beats.len());
        }
        Some(Self { beats, bounds, seats: Seats::new(nodes, size) })
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
    /// What comes after one more than these is not kept: a single rank's steps may take more memory than there is.
    limit: usize,
    /// Messages of this rank so far.
    started: u32,
    /// Bytes sent to each rank so far.
    sent: HashMap<u32, u64>,
    unit: usize,
}

impl Beats {
    const fn bytes(&self, units: usize) -> u64 {
        units as u64 * self.unit as u64
    }

    /// Starts a send of `units` units to `to`, the last of a message of `whole` units if that was cut.
    fn send(&mut self, to: u32, units: usize, whole: Option<usize>) -> Request {
        let bytes = self.bytes(units);
        let sent = self.sent.entry(to).or_default();
        *sent += bytes;
        let synchronous = whole.is_some_and(|whole| ends_synchronously(*sent, whole as u64 * self.unit as u64));
        self.keep(Beat::Send { to, bytes, synchronous });
        self.started += 1;
        Request(self.started - 1)
    }

    fn keep(&mut self, beat: Beat) {
        if self.beats.len() <= self.limit {
            self.beats.push(beat);
        }
    }
}

impl Primitives for Beats {
    fn start(&mut self, peer: u32, range: Range, outgoing: bool) -> Request {
        if outgoing {
            return self.send(peer, range.len, None);
        }
        self.keep(Beat::Receive { from: peer, bytes: self.bytes(range.len) });
        self.started += 1;
        Request(self.started - 1)
    }

    fn send_last(&mut self, peer: u32, range: Range, whole: usize) -> Request {
        self.send(peer, range.len, Some(whole))
    }

    fn wait(&mut self, request: Request) {
        self.keep(Beat::Wait(request.0));
    }

    fn copy(&mut self, from: Range, into: Range) {
        let bytes = self.bytes(from.len);
        let shared = [from, into].iter().any(|range| range.buffer == Buffer::Shared);
        self.keep(if shared { Beat::Move(bytes) } else { Beat::Copy(bytes) });
    }

    fn fold(&mut self, _: Range, _: Range, into: Range) {
        self.keep(Beat::Fold(self.bytes(into.len)));
    }

    fn shared(&mut self, step: Shared) {
        self.keep(Beat::Shared(step));
    }

    fn is_full(&self) -> bool {
        self.beats.len() > self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::fragments::Fragments;

    #[test]
    fn steps_beyond_the_limit_take_no_memory() {
        let mut beats = Beats { beats: Vec::new(), limit: 3, started: 0, sent: HashMap::new(), unit: 8 };
        for number in 0..10 {
            assert_eq!(beats.start(1, Range::send(0, 2), true), Request(number), "messages are numbered all the same");
        }
        assert_eq!(
            beats.beats,
            [Beat::Send { to: 1, bytes: 16, synchronous: false }; 4],
            "one more than the limit tells that there are more"
        );
        let sends = |comm: &mut dyn Comm| (0..10).for_each(|_| comm.copy(Range::send(0, 2), Range::receive(0, 2)));
        assert_eq!(Tapes::of(1, 8, 9, sends), None);
        assert_eq!(Tapes::of(1, 8, 10, sends).map(|tapes| tapes.rank(0).len()), Some(10));
        let mut expansion =
            Expansion::new(Beats { beats: Vec::new(), limit: 3, started: 0, sent: HashMap::new(), unit: 1 });
        let fragments = Fragments { between_nodes: Some(16), ..Form::PLAIN.fragments };
        let form = Form { fragments, ..Form::PLAIN };
        lower::stream_body(0, 3, 1, &[0, 1, 2], &form, &mut expansion, |comm: &mut dyn Comm| {
            let requests = [1, 2].map(|to| comm.isend(to, Range::send(0, 1 << 20)));
            comm.wait(&requests);
        });
        assert_eq!((expansion.primitives.beats.len(), expansion.requests.len()), (4, 4), "of 131,072 fragments");
    }
}
