//! Blocks that travel one by one along a chain of ranks: every rank relays what comes from behind.
//!
//! A rank is a stage with three kinds of messages: those that it sends from a buffer of the user before all others,
//! those that it relays, and those that it receives to keep after all others.

use crate::operation::{Comm, Range, Request};
use crate::pattern::segments::Segments;
use smallvec::SmallVec;

/// Relayed messages that are under way in or out at a time: two come in while two go out, so that both links stay busy
/// although a message's buffer is free again only when the message is gone.
const BUFFERS: usize = 4;

/// Sends under way at a time.
const SENDS: usize = 2;

/// What one rank does. All blocks are cut into `segments`, each of which is a message.
pub struct Stage<S, R> {
    /// Who sends to this rank, if anyone does.
    pub from: Option<usize>,
    /// To whom this rank sends, if to anyone.
    pub to: Option<usize>,
    /// Number of blocks sent first.
    pub sent: usize,
    /// Place of each of them.
    pub source: S,
    /// Number of blocks relayed.
    pub relayed: usize,
    /// Number of blocks kept.
    pub kept: usize,
    /// Place of each of them.
    pub sink: R,
    /// Segments of every block.
    pub segments: Segments,
}

impl<S: Fn(usize) -> Range, R: Fn(usize) -> Range> Stage<S, R> {
    /// Carries out the stage.
    pub fn run(&self, comm: &mut dyn Comm) {
        let per_block = self.segments.number();
        let (sent, relayed) = (self.sent * per_block, self.relayed * per_block);
        let room = comm.scratch(relayed.min(BUFFERS) * self.segments.length());
        let mut arrivals = Arrivals { stage: self, room, posted: 0, under_way: SmallVec::new() };
        for _ in 0..BUFFERS {
            arrivals.post(comm);
        }
        let mut sends = SmallVec::<[Request; SENDS]>::new();
        let mut finished = 0;
        for message in 0..sent + relayed {
            if sends.len() == SENDS {
                let oldest = sends.remove(0);
                comm.wait(&[oldest]);
                finished += 1;
                if finished > sent {
                    arrivals.post(comm);
                }
            }
            let part = if message < sent {
                (self.source)(message / per_block).slice(&self.segments.units(message % per_block))
            } else {
                arrivals.next(comm);
                arrivals.place(message - sent)
            };
            sends.push(comm.isend(self.to.expect("who relays has a successor"), part));
        }
        while !arrivals.under_way.is_empty() {
            arrivals.next(comm);
            arrivals.post(comm);
        }
        comm.wait(&sends);
    }
}

/// The messages on their way in, in the order in which they come.
struct Arrivals<'a, S, R> {
    stage: &'a Stage<S, R>,
    room: Range,
    posted: usize,
    under_way: SmallVec<[Request; BUFFERS]>,
}

impl<S: Fn(usize) -> Range, R: Fn(usize) -> Range> Arrivals<'_, S, R> {
    /// Where message number `message` goes: into the buffers by turns if it is relayed.
    fn place(&self, message: usize) -> Range {
        let segments = &self.stage.segments;
        let (block, units) = (message / segments.number(), segments.units(message % segments.number()));
        if block < self.stage.relayed {
            self.room.part(message % BUFFERS * segments.length(), units.len())
        } else {
            (self.stage.sink)(block - self.stage.relayed).slice(&units)
        }
    }

    /// Starts the next receive, if there is one.
    fn post(&mut self, comm: &mut dyn Comm) {
        let all = (self.stage.relayed + self.stage.kept) * self.stage.segments.number();
        if self.posted < all {
            let from = self.stage.from.expect("who receives has a predecessor");
            self.under_way.push(comm.irecv(from, self.place(self.posted)));
            self.posted += 1;
        }
    }

    /// Waits for the oldest message under way.
    fn next(&mut self, comm: &mut dyn Comm) {
        let oldest = self.under_way.remove(0);
        comm.wait(&[oldest]);
    }
}
