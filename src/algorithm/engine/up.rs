//! Up a tree: every rank folds its children's segments into its own and passes each on as soon as it is complete.

use crate::algorithm::optimum::Pace;
use crate::algorithm::{Call, Cost, Shape};
use crate::operation::{Comm, Range, Request, Requests};
use crate::pattern::segments::Segments;
use crate::pattern::tree::{Links, Tree, widest};
use smallvec::SmallVec;

/// Buffers for incoming segments and for folded ones: while one is being folded or sent, the other is filled.
const BUFFERS: usize = 2;

/// Reduces `own` of all ranks to `result` at the tree's root (elsewhere `result` is not used and may be `None`).
///
/// Children are folded in the reverse of the order of `links`, each on its side, so that trees whose subtrees are runs
/// of consecutive ranks keep rank order. At most `max_requests` sends of a leaf are unfinished at any time.
pub fn up(
    comm: &mut dyn Comm,
    links: &Links,
    own: Range,
    result: Option<Range>,
    segments: Segments,
    max_requests: usize,
) {
    match (links.parent, result) {
        (Some(parent), _) if links.children.is_empty() => leaf(comm, parent, own, segments, max_requests),
        (Some(parent), _) => {
            let mut inner = Inner::new(comm, links, parent, segments, [BUFFERS; 2]);
            for segment in 0..segments.number() {
                inner.pass_on(comm, segment, own);
            }
            inner.finish(comm);
        }
        (None, Some(result)) if links.children.is_empty() => comm.copy(own, result),
        (None, Some(result)) => {
            let mut incoming = Incoming::new(comm, links, segments, BUFFERS);
            for segment in 0..segments.number() {
                let units = segments.units(segment);
                incoming.fold(comm, segment, own.slice(&units), result.slice(&units));
            }
        }
        (None, None) => unreachable!("the root of a reduction has a place for the result"),
    }
}

/// Sends all segments, at most `max_requests` at a time.
fn leaf(comm: &mut dyn Comm, parent: usize, own: Range, segments: Segments, max_requests: usize) {
    let mut sends = Requests::new();
    for segment in 0..segments.number() {
        if sends.len() == max_requests {
            let oldest = sends.remove(0);
            comm.wait(&[oldest]);
        }
        sends.push(comm.isend(parent, own.slice(&segments.units(segment))));
    }
    comm.wait(&sends);
}

/// A rank with a parent and with children: folds each segment in scratch and passes it on.
pub(super) struct Inner<'a> {
    parent: usize,
    segments: Segments,
    incoming: Incoming<'a>,
    folded: Range,
    buffers: usize,
    sends: SmallVec<[Request; 8]>,
}

impl<'a> Inner<'a> {
    /// With so many buffers for incoming segments and for folded ones.
    pub(super) fn new(
        comm: &mut dyn Comm,
        links: &'a Links,
        parent: usize,
        segments: Segments,
        [incoming, buffers]: [usize; 2],
    ) -> Self {
        let folded = comm.scratch(segments.number().min(buffers) * segments.length());
        let incoming = Incoming::new(comm, links, segments, incoming);
        Self { parent, segments, incoming, folded, buffers, sends: SmallVec::new() }
    }

    /// Folds `segment` of the children with that of `own` and starts sending it.
    pub(super) fn pass_on(&mut self, comm: &mut dyn Comm, segment: usize, own: Range) {
        if self.sends.len() == self.buffers {
            let oldest = self.sends.remove(0);
            comm.wait(&[oldest]);
        }
        let units = self.segments.units(segment);
        let into = self.folded.part(segment % self.buffers * self.segments.length(), units.len());
        self.incoming.fold(comm, segment, own.slice(&units), into);
        self.sends.push(comm.isend(self.parent, into));
    }

    pub(super) fn finish(self, comm: &mut dyn Comm) {
        comm.wait(&self.sends);
    }
}

/// The children's segments on their way in: for each segment all children in turn, some receives ahead of the fold.
pub(super) struct Incoming<'a> {
    links: &'a Links,
    segments: Segments,
    buffers: Range,
    number: usize,
    posted: usize,
    arriving: SmallVec<[Request; 8]>,
}

impl<'a> Incoming<'a> {
    /// With room for `number` messages.
    pub(super) fn new(comm: &mut dyn Comm, links: &'a Links, segments: Segments, number: usize) -> Self {
        let messages = segments.number() * links.children.len();
        let buffers = comm.scratch(messages.min(number) * segments.length());
        Self { links, segments, buffers, number, posted: 0, arriving: SmallVec::new() }
    }

    /// Where message number `message` of all goes.
    fn place(&self, message: usize) -> Range {
        let units = self.segments.units(message / self.links.children.len());
        self.buffers.part(message % self.number * self.segments.length(), units.len())
    }

    /// Folds all children's parts of `segment` with `own` into `into`.
    pub(super) fn fold(&mut self, comm: &mut dyn Comm, segment: usize, own: Range, into: Range) {
        let fan = self.links.children.len();
        let all = self.segments.number() * fan;
        let mut held = own;
        for (place, child) in self.links.children.iter().rev().enumerate() {
            let message = segment * fan + place;
            while self.posted < all.min(message + self.number) {
                let from = self.links.children[fan - 1 - self.posted % fan].number;
                self.arriving.push(comm.irecv(from, self.place(self.posted)));
                self.posted += 1;
            }
            let arrived = self.arriving.remove(0);
            comm.wait(&[arrived]);
            let (left, right) = if child.before { (self.place(message), held) } else { (held, self.place(message)) };
            comm.fold(left, right, into);
            held = into;
        }
    }
}

/// Reduces the send buffers of `call` to the receive buffer of its root through `tree`, turned to that root.
///
/// Where order matters the tree must not be turned: it then reduces to its own root, which passes the result on.
pub fn reduce(comm: &mut dyn Comm, call: &Call, tree: &dyn Tree, segments: Segments, max_requests: usize) {
    if call.commutative {
        let links = tree.rooted(comm.rank(), call.root);
        let result = (comm.rank() == call.root).then(|| Range::receive(0, call.count));
        up(comm, &links, Range::send(0, call.count), result, segments, max_requests);
    } else {
        reduce_in_order(comm, call, tree, segments, max_requests);
    }
}

/// Reduces through `tree` as it is, numbers being ranks, and passes the result on from its root to the call's.
///
/// The result is passed on only when it is complete: the call's root cannot take it in before its own part is done.
pub fn reduce_in_order(comm: &mut dyn Comm, call: &Call, tree: &dyn Tree, segments: Segments, max_requests: usize) {
    let (rank, inner_root) = (comm.rank(), tree.root());
    let message = Range::receive(0, call.count);
    let result = match rank == inner_root {
        true if rank == call.root => Some(message),
        true => Some(comm.scratch(call.count)),
        false => None,
    };
    up(comm, &tree.links(rank), Range::send(0, call.count), result, segments, max_requests);
    if inner_root == call.root {
        return;
    }
    if let Some(result) = result {
        comm.send(call.root, result);
    } else if rank == call.root {
        comm.recv(inner_root, message);
    }
}

/// Rounds that a segmented reduction may lose where a child that is ready early takes the port right before the one
/// whose turn it is: counted for all p ≤ 66 and up to 66 segments, and for some p up to 300. More are lost in Fibonacci
/// trees (three among 40 ranks, seven among 300) and in binomial ones (two among 47 ranks with two segments only, three
/// among 192).
const LOST: usize = 2;

/// How fast segments come up a tree down which they go at `pace`.
pub fn pace(pace: Pace) -> Pace {
    if pace.period > 1 { pace.losing(LOST) } else { pace }
}

/// Cost of [`up`] through the whole of `tree`: that of the way down, with everything that is received folded.
fn through(shape: &Shape, tree: &dyn Tree, segments: Segments) -> Cost {
    let down = super::down::cost_through(shape, tree, segments);
    let lost = if widest(tree) > 1 { LOST.min(segments.number() - 1) } else { 0 };
    let lost_bytes = lost * segments.length() * shape.unit;
    Cost {
        rounds: down.rounds + lost as f64,
        bytes: down.bytes + lost_bytes as f64,
        folded: down.bytes,
        ..Cost::default()
    }
}

/// Cost of [`reduce`].
pub fn cost(shape: &Shape, tree: &dyn Tree, segments: Segments) -> Cost {
    through(shape, tree, segments) + passed_on(shape, tree.root())
}

/// Cost of [`reduce_in_order`] through a tree up which segments come at `pace` to its root, number `end`; segments that
/// only have to be folded, at the pace of `folds`.
pub fn cost_in_order(shape: &Shape, [pace, folds]: [Pace; 2], segments: Segments, end: usize) -> Cost {
    let number = segments.number();
    let bytes = |pace: Pace| {
        let units = match number {
            1 => pace.first * segments.units(0).len(),
            _ => pace.rounds(number - 1) * segments.length() + pace.period * segments.units(number - 1).len(),
        };
        (units * shape.unit) as f64
    };
    let lost = pace.late.min(number - 1) * segments.length() * shape.unit;
    let through = Cost {
        rounds: pace.rounds(number) as f64,
        bytes: bytes(pace.losing(0)) + lost as f64,
        folded: bytes(folds),
        ..Cost::default()
    };
    through + passed_on(&Shape { commutative: false, ..*shape }, end)
}

/// What it costs that the result of a reduction in which order matters is complete at rank `end` and is then passed on
/// to the call's root. Where order does not matter, ranks are counted from the root, and it is complete there.
pub fn passed_on(shape: &Shape, end: usize) -> Cost {
    let messages = if shape.commutative || end == shape.root { 0.0 } else { 1.0 };
    Cost { rounds: messages, bytes: messages * shape.bytes as f64, ..Cost::default() }
}
