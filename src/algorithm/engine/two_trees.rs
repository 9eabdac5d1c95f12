//! Two trees at once: half of the message through each, so that every rank is busy in both directions.
//!
//! A rank is an inner one in one tree at most, and a leaf in the other: it receives two segments and sends two segments
//! (or, going up, the reverse) where one binary tree would leave half of the ranks idle in one direction.

use super::up::{Incoming, Inner, passed_on};
use super::{down, paces, up};
use crate::algorithm::{Call, Cost, Parameters, Shape, optimum::Pace};
use crate::operation::{Comm, Range, Request, Requests};
use crate::pattern::chain::Chains;
use crate::pattern::hypercube::ceil_log2;
use crate::pattern::segments::Segments;
use crate::pattern::tree::{Links, Tree};
use crate::pattern::two_tree::TwoTree;
use smallvec::SmallVec;

/// Segments of an inner rank whose receives are posted, or whose sends are unfinished, at any time.
const AHEAD: usize = 4;

/// Segments by which one tree may be ahead of the other at a rank: it is farther from the top in one of them.
fn skew(ranks: usize) -> usize {
    AHEAD + 2 * ceil_log2(ranks) as usize
}

/// The halves of `count` units in segments of equal length, by tree.
#[derive(Clone, Copy)]
struct Halves {
    middle: usize,
    rest: usize,
    segments: [Segments; 2],
}

impl Halves {
    /// The halves of the message of `call` among `ranks` ranks, cut by the parameter `segment`.
    fn new(call: &Call, ranks: usize, parameters: &Parameters) -> Self {
        let middle = call.count.div_ceil(2);
        let rest = call.count - middle;
        let first = parameters.segments(&Call { count: middle, ..*call }, pace(ranks, call.operation.reduces()));
        Self { middle, rest, segments: [first, Segments::new(rest, first.length())] }
    }

    /// Both parts of `message`.
    fn of(&self, message: Range) -> [Range; 2] {
        [message.part(0, self.middle), message.part(self.middle, self.rest)]
    }

    /// The larger number of segments.
    fn number(&self) -> usize {
        self.segments[0].number().max(self.segments[1].number())
    }

    /// Segment `segment` of each part, where it has one.
    fn each(&self, parts: [Range; 2], segment: usize) -> [Option<Range>; 2] {
        [0, 1].map(|tree| {
            let segments = self.segments[tree];
            (segment < segments.number()).then(|| parts[tree].slice(&segments.units(segment)))
        })
    }
}

/// How fast the segments of both halves go through the trees.
///
/// Each tree alone takes the rounds of its first segment and two more for each further one; the second tree begins one
/// round later. While the turns that the ranks take in both trees fall into place, a segment may take one round more,
/// in up to q − 1 segments going down, of which the first is one for some roots unless p is 5 to 8, and about 3q going
/// up, one more among three ranks: counted for all p ≤ 66 and up to 33 segments, where both are reached.
fn pace(ranks: usize, folds: bool) -> Pace {
    let (alone, levels) = (paces::two_trees(ranks), ceil_log2(ranks) as usize);
    if ranks <= 2 {
        return alone;
    }
    let at_first = usize::from(!folds && !(5..=8).contains(&ranks));
    let late = if folds { 3 * levels + 1 + usize::from(ranks == 3) } else { levels - 1 - at_first };
    Pace { first: alone.first + 1 + at_first, ..alone }.losing(late)
}

fn trees(ranks: usize) -> [TwoTree; 2] {
    [false, true].map(|second| TwoTree { ranks, second })
}

/// The tree in which a rank has children; the other one, in which it is a leaf, comes second.
fn roles(links: &[Links; 2]) -> [usize; 2] {
    if links[1].children.is_empty() { [0, 1] } else { [1, 0] }
}

/// Broadcasts the message of `call`. Two ranks have but one link, so there it is one tree.
pub fn bcast(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    if comm.size() == 2 {
        let segments = parameters.segments(call, pace(2, false));
        return down::bcast(comm, call, &Chains::one(2), segments);
    }
    let halves = Halves::new(call, comm.size(), parameters);
    let links = trees(comm.size()).map(|tree| tree.rooted(comm.rank(), call.root));
    let parts = halves.of(Range::receive(0, call.count));
    if comm.rank() == call.root {
        send_both(comm, &links, parts, halves);
        return;
    }
    let [inner, leaf] = roles(&links);
    let fan = links[inner].children.len();
    let mut from_above = Arriving::new(comm, &links[inner], parts[inner], halves.segments[inner], AHEAD);
    let ahead = skew(comm.size());
    let mut at_leaf = Arriving::new(comm, &links[leaf], parts[leaf], halves.segments[leaf], ahead);
    let mut sends = Requests::new();
    for segment in 0..halves.number() {
        if let Some(part) = halves.each(parts, segment)[inner] {
            from_above.wait_for(comm, segment);
            if fan > 0 && sends.len() >= AHEAD * fan {
                comm.wait(&sends[..fan]);
                sends.drain(..fan);
            }
            sends.extend(links[inner].children.iter().map(|child| comm.isend(child.number, part)));
        }
        if segment + 1 > ahead {
            at_leaf.wait_for(comm, segment - ahead);
        }
    }
    at_leaf.finish(comm);
    comm.wait(&sends);
}

/// The root's part: the segments of both halves by turns, each to the top of its tree.
fn send_both(comm: &mut dyn Comm, links: &[Links; 2], parts: [Range; 2], halves: Halves) {
    let mut sends = Requests::new();
    for segment in 0..halves.number() {
        if sends.len() >= 2 * AHEAD {
            comm.wait(&sends[..2]);
            sends.drain(..2);
        }
        for (links, part) in links.iter().zip(halves.each(parts, segment)) {
            sends.extend(links.children.iter().zip(part).map(|(top, part)| comm.isend(top.number, part)));
        }
    }
    comm.wait(&sends);
}

/// Segments on their way in from a parent, some of them ahead.
struct Arriving {
    parent: usize,
    into: Range,
    segments: Segments,
    ahead: usize,
    done: usize,
    requests: SmallVec<[Request; 16]>,
}

impl Arriving {
    fn new(comm: &mut dyn Comm, links: &Links, into: Range, segments: Segments, ahead: usize) -> Self {
        let parent = links.parent.expect("only the root has no parent");
        let mut arriving = Self { parent, into, segments, ahead, done: 0, requests: SmallVec::new() };
        arriving.post(comm);
        arriving
    }

    fn post(&mut self, comm: &mut dyn Comm) {
        let posted = self.done + self.requests.len();
        for segment in posted..self.segments.number().min(self.done + self.ahead) {
            self.requests.push(comm.irecv(self.parent, self.into.slice(&self.segments.units(segment))));
        }
    }

    /// Waits until `segment` and all before it have come.
    fn wait_for(&mut self, comm: &mut dyn Comm, segment: usize) {
        while self.done <= segment && self.done < self.segments.number() {
            let next = self.requests.remove(0);
            comm.wait(&[next]);
            self.done += 1;
            self.post(comm);
        }
    }

    fn finish(&mut self, comm: &mut dyn Comm) {
        self.wait_for(comm, self.segments.number() - 1);
    }
}

/// Reduces to the root of `call`, in rank order if the operation needs it: rank 0 is then on top of both trees and
/// passes the result on. Two ranks have but one link, so there it is one tree.
pub fn reduce(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    if comm.size() == 2 {
        let segments = parameters.segments(call, pace(2, true));
        return up::reduce(comm, call, &Chains::one(2), segments, AHEAD);
    }
    let halves = Halves::new(call, comm.size(), parameters);
    let top = if call.commutative { call.root } else { 0 };
    let links = trees(comm.size()).map(|tree| tree.rooted(comm.rank(), top));
    let (own, message) = (Range::send(0, call.count), Range::receive(0, call.count));
    if comm.rank() == top {
        let result = if top == call.root { message } else { comm.scratch(call.count) };
        receive_both(comm, &links, halves, own, result);
        if top != call.root {
            comm.send(call.root, result);
        }
    } else {
        pass_on(comm, &links, halves, halves.of(own));
        if comm.rank() == call.root {
            comm.recv(top, message);
        }
    }
}

/// The top's part: the halves come in by turns.
fn receive_both(comm: &mut dyn Comm, links: &[Links; 2], halves: Halves, own: Range, result: Range) {
    if comm.size() == 1 {
        return comm.copy(own, result);
    }
    let (own, result) = (halves.of(own), halves.of(result));
    let mut incoming = [0, 1].map(|tree| Incoming::new(comm, &links[tree], halves.segments[tree], AHEAD));
    for segment in 0..halves.number() {
        let places = halves.each(own, segment).into_iter().zip(halves.each(result, segment));
        for (incoming, place) in incoming.iter_mut().zip(places) {
            if let (Some(own), Some(into)) = place {
                incoming.fold(comm, segment, own, into);
            }
        }
    }
}

/// The part of all others: a leaf's segment of one half, an inner rank's of the other one.
fn pass_on(comm: &mut dyn Comm, links: &[Links; 2], halves: Halves, own: [Range; 2]) {
    let [inner, leaf] = roles(links);
    let above = |tree: usize| links[tree].parent.expect("only the top has no parent");
    // The leaf's part waits for nobody: it goes ahead of the inner one, or else either tree would wait for the other.
    let ahead = skew(comm.size());
    let buffers = [2 * AHEAD, AHEAD];
    let mut inner_rank = Inner::new(comm, &links[inner], above(inner), halves.segments[inner], buffers);
    let mut sends = Requests::new();
    let mut sent = 0;
    for segment in 0..halves.number() {
        while let Some(part) = halves.each(own, sent)[leaf].filter(|_| sent < segment + ahead) {
            if sends.len() == 2 * ahead {
                let oldest = sends.remove(0);
                comm.wait(&[oldest]);
            }
            sends.push(comm.isend(above(leaf), part));
            sent += 1;
        }
        if segment < halves.segments[inner].number() {
            inner_rank.pass_on(comm, segment, own[inner]);
        }
    }
    inner_rank.finish(comm);
    comm.wait(&sends);
}

/// Cost of [`bcast`], and of [`reduce`] with everything that is received folded.
pub fn cost(shape: &Shape, parameters: &Parameters, folds: bool) -> Cost {
    if shape.ranks == 1 {
        return Cost::default();
    }
    let whole = shape.bytes / shape.unit;
    let passed_on = if folds { passed_on(shape, 0) } else { Cost::default() };
    if shape.ranks == 2 {
        let segments = parameters.segments_of(shape, pace(2, folds));
        let (rounds, bytes) = (segments.number() as f64, shape.bytes as f64);
        return Cost { rounds, bytes, folded: if folds { bytes } else { 0.0 }, ..Cost::default() } + passed_on;
    }
    let pace = pace(shape.ranks, folds);
    let segments = parameters.segments_of(&Shape { bytes: whole.div_ceil(2) * shape.unit, ..*shape }, pace);
    // The last segment may be shorter.
    let (number, length, last) = (segments.number(), segments.length(), segments.units(segments.number() - 1).len());
    let bytes = |pace: Pace| {
        let before = if number > 1 { pace.rounds(number - 1) } else { 0 };
        ((before * length + (pace.rounds(number) - before) * last) * shape.unit) as f64
    };
    // Folds do not have to share a port, so they fall into place at once.
    let folded = if folds { bytes(pace.losing(0)) } else { 0.0 };
    Cost { rounds: pace.rounds(number) as f64, bytes: bytes(pace), folded, ..Cost::default() } + passed_on
}
