//! Up and down trees at once: while later segments are still folded on their way up, the finished ones come down.
//!
//! A rank may be in several trees, each for its part of the vector. All go through rounds t = 0, 1, …, numbered alike.
//! With h levels below the root, a rank at depth d sends segment t − (h − d) up in round t, and segment t − (h + d)
//! down. So what it needs was sent to it in the round before, and no round waits for another one of its own number
//! anywhere, however deep the trees are. Two ranks may be neighbours in both trees; each starts the receives of a round
//! in the order in which the other one starts its sends.

use crate::operation::{Comm, Range, Request, Requests};
use crate::pattern::segments::Segments;
use crate::pattern::tree::Links;
use smallvec::SmallVec;

/// Segments that may be on their way down to the children before the first of them has to be taken.
const AHEAD: usize = 2;

/// Places for a child's segments: while one is folded, the next one comes in.
const BUFFERS: usize = 2;

/// The other root with which a root folds what has come up, where there are two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Twin {
    /// Its rank.
    pub rank: usize,
    /// Whether its part stands on the left.
    pub before: bool,
}

/// One rank's place in one tree, and the part of the vector that goes through it.
#[derive(Clone, Debug)]
pub struct Position {
    /// Neighbours.
    pub links: Links,
    /// Edges between the rank and its root.
    pub depth: usize,
    /// No rank is deeper than this; the same number on all ranks that exchange messages in any of the trees.
    pub height: usize,
    /// At a root that has one.
    pub twin: Option<Twin>,
    /// Own contribution to the part.
    pub own: Range,
    /// Where the result of the part goes; may share memory with `own`.
    pub result: Range,
    /// The segments of both.
    pub segments: Segments,
}

/// Allreduce through all of `positions`.
pub fn up_down(comm: &mut dyn Comm, positions: &[Position]) {
    let mut streams: SmallVec<[Stream; 2]> = positions.iter().map(|position| Stream::new(comm, position)).collect();
    let rounds = positions
        .iter()
        .map(|position| position.segments.number() + position.height + position.depth)
        .max()
        .unwrap_or(0);
    for round in 0..rounds {
        for stream in &mut streams {
            stream.expect_below(comm, round);
        }
        for stream in &mut streams {
            stream.expect_above(comm, round);
        }
        for stream in &mut streams {
            stream.up(comm, round);
        }
        for stream in &mut streams {
            stream.down(comm, round);
        }
    }
    for stream in &streams {
        comm.wait(&stream.down_sends);
    }
}

struct Stream<'a> {
    position: &'a Position,
    /// Room for what the children send, and for what the twin sends.
    incoming: Range,
    twin: Range,
    up_receives: SmallVec<[Request; 4]>,
    up_sends: SmallVec<[Request; 8]>,
    down_receives: SmallVec<[Request; 4]>,
    down_sends: Requests,
}

impl<'a> Stream<'a> {
    fn new(comm: &mut dyn Comm, position: &'a Position) -> Self {
        let segments = position.segments;
        let buffers = position.links.children.len() * segments.number().min(BUFFERS);
        Self {
            position,
            incoming: comm.scratch(buffers * segments.length()),
            twin: comm.scratch(if position.twin.is_some() { segments.length() } else { 0 }),
            up_receives: SmallVec::new(),
            up_sends: SmallVec::new(),
            down_receives: SmallVec::new(),
            down_sends: Requests::new(),
        }
    }

    /// The segment whose turn it is `delay` rounds after round 0, if there is one.
    fn segment(&self, round: usize, delay: usize) -> Option<usize> {
        round.checked_sub(delay).filter(|segment| *segment < self.position.segments.number())
    }

    /// Where a child's segment arrives; `place` counts the children in the order in which they are folded.
    fn arrival(&self, segment: usize, position: usize) -> Range {
        let (segments, fan) = (self.position.segments, self.position.links.children.len());
        self.incoming.part((segment % BUFFERS * fan + position) * segments.length(), segments.units(segment).len())
    }

    /// Starts the receives of what the children send in `round`.
    fn expect_below(&mut self, comm: &mut dyn Comm, round: usize) {
        let Position { links, depth, height, .. } = self.position;
        if links.children.is_empty() {
            return;
        }
        let Some(segment) = self.segment(round, height - depth - 1) else { return };
        for (position, child) in links.children.iter().rev().enumerate() {
            self.up_receives.push(comm.irecv(child.number, self.arrival(segment, position)));
        }
    }

    /// Starts the receive of what the parent sends in `round`, when what went up from its place is gone.
    fn expect_above(&mut self, comm: &mut dyn Comm, round: usize) {
        let Position { links, depth, height, result, segments, .. } = self.position;
        let Some(parent) = links.parent else { return };
        let Some(segment) = self.segment(round, height + depth - 1) else { return };
        let sent = self.up_sends.remove(0);
        comm.wait(&[sent]);
        self.down_receives.push(comm.irecv(parent, result.slice(&segments.units(segment))));
    }

    /// Folds what the children sent in the round before, and sends it up.
    fn up(&mut self, comm: &mut dyn Comm, round: usize) {
        let Position { links, depth, height, segments, .. } = self.position;
        let Some(segment) = self.segment(round, height - depth) else { return };
        let units = segments.units(segment);
        let result = self.position.result.slice(&units);
        let mut held = self.position.own.slice(&units);
        for (position, child) in links.children.iter().rev().enumerate() {
            let arrived = self.up_receives.remove(0);
            comm.wait(&[arrived]);
            let theirs = self.arrival(segment, position);
            let (left, right) = if child.before { (theirs, held) } else { (held, theirs) };
            comm.fold(left, right, result);
            held = result;
        }
        match (links.parent, self.position.twin) {
            (Some(parent), _) => self.up_sends.push(comm.isend(parent, held)),
            (None, Some(twin)) => {
                let theirs = self.twin.part(0, units.len());
                comm.sendrecv(twin.rank, held, twin.rank, theirs);
                let (left, right) = if twin.before { (theirs, held) } else { (held, theirs) };
                comm.fold(left, right, result);
            }
            (None, None) => comm.copy(held, result),
        }
    }

    /// Sends down what the parent sent in the round before, or what a root has just finished.
    fn down(&mut self, comm: &mut dyn Comm, round: usize) {
        let Position { links, depth, height, result, segments, .. } = self.position;
        let Some(segment) = self.segment(round, height + depth) else { return };
        if links.parent.is_some() {
            let arrived = self.down_receives.remove(0);
            comm.wait(&[arrived]);
        }
        let fan = links.children.len();
        if fan > 0 && self.down_sends.len() == AHEAD * fan {
            comm.wait(&self.down_sends[..fan]);
            self.down_sends.drain(..fan);
        }
        let finished = result.slice(&segments.units(segment));
        self.down_sends.extend(links.children.iter().map(|child| comm.isend(child.number, finished)));
    }
}
