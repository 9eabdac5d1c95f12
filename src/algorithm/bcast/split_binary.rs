//! Each half of the message goes down one half of a binary tree; then pairs across the two exchange their halves.
//!
//! Ranks are counted from the root: v = (r − root) mod p. The others are cut in two runs, the first the longer by at
//! most one; the root sends the segments of the first half of the message to the head of the first run, those of the
//! second half to the head of the second, by turns, and each run passes them on down a complete binary tree. At the end
//! the i-th ranks of both runs exchange what they have; one that is left over gets the second half from the root.
//!
//! State at p = 7, one segment per half:
//!
//! ```text
//! v         0  1  2  3  4  5  6
//! start     ab .  .  .  .  .  .
//! round 0   ab a  .  .  .  .  .
//! round 1   ab a  a  .  b  .  .
//! round 2   ab a  a  a  b  b  .
//! round 3   ab a  a  a  b  b  b
//! exchange  ab ab ab ab ab ab ab
//! ```
//!
//! Cost: (⌊log2 ⌈p/2⌉⌋ + ⌊log2(⌈p/2⌉/3)⌋ + 2S)(α + sβ) + α + nβ/2 for p ≥ 3 with S segments of s bytes per half: 3/2 nβ
//! for long messages instead of 2nβ. Needs: nothing. Memory: none.
//!
//! Source: Open MPI, coll/base. Departures: 1. the two trees are complete ones over runs of ranks.

use crate::algorithm::engine::{down, paces};
use crate::algorithm::optimum::{Pace, SEGMENT_AUTO};
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::{Comm, Range, Requests};
use crate::pattern::complete::Complete;
use crate::pattern::segments::Segments;
use crate::pattern::tree::{Links, Tree, rounds};

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Bcast,
    name: "split_binary",
    summary: "Each half of the message goes down one half of a binary tree; then pairs across the two exchange.",
    parameters: &[SEGMENT_AUTO],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "(⌊log2⌈p/2⌉⌋+⌊log2(⌈p/2⌉/3)⌋+2S)(α+sβ)+α+nβ/2, S segments per half, p≥3",
    cost,
    source: "Open MPI coll/base",
    run,
};

/// The root over two complete binary trees on runs of consecutive numbers.
struct Split {
    ranks: usize,
}

impl Split {
    /// Length of the first run.
    const fn first(&self) -> usize {
        self.ranks / 2
    }
}

impl Tree for Split {
    fn ranks(&self) -> usize {
        self.ranks
    }

    fn links(&self, v: usize) -> Links {
        if v == 0 {
            return Links::new(0, None, [1, 1 + self.first()].into_iter().filter(|head| *head < self.ranks));
        }
        let (head, len) =
            if v <= self.first() { (1, self.first()) } else { (1 + self.first(), self.ranks - 1 - self.first()) };
        let mut links = Complete { ranks: len, radix: 2 }.links(v - head).renumbered(|number| number + head);
        links.parent = links.parent.or(Some(0));
        links
    }
}

/// The last half to set out goes down the shorter run, which takes longest among three ranks or more.
fn pace(ranks: usize) -> Pace {
    match ranks {
        1 => Pace::new(0, 0),
        2 => Pace::new(1, 1),
        _ => Pace::new(2 + paces::complete(ranks.div_ceil(2) - 1, 2).first, 2),
    }
}

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    if shape.ranks == 1 {
        return Cost::default();
    }
    let half = (shape.bytes / shape.unit).div_ceil(2) * shape.unit;
    let segments = parameters.segments_of(&Shape { bytes: half, ..*shape }, pace(shape.ranks));
    let count = rounds(&Split { ranks: shape.ranks }, segments.number());
    let bytes = count * segments.length() * shape.unit + half;
    Cost { rounds: (count + 1) as f64, bytes: bytes as f64, ..Cost::default() }
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    let p = comm.size();
    if p == 1 {
        return;
    }
    let tree = Split { ranks: p };
    let (v, first) = ((comm.rank() + p - call.root) % p, tree.first());
    let rank = |v: usize| (v + call.root) % p;
    let (message, middle) = (Range::receive(0, call.count), call.count.div_ceil(2));
    let halves = [message.part(0, middle), message.part(middle, call.count - middle)];
    let longer = parameters.segments(&Call { count: middle, ..*call }, pace(p));
    let segments = [longer, Segments::new(call.count - middle, longer.length())];
    let single = p.is_multiple_of(2).then_some(first);
    if v == 0 {
        send_halves(comm, &tree.rooted(call.root, call.root), halves, segments);
        if let Some(single) = single {
            comm.send(rank(single), halves[1]);
        }
        return;
    }
    let own = usize::from(v > first);
    let links = tree.rooted(comm.rank(), call.root);
    down::down(comm, &links, halves[own], segments[own]);
    if single == Some(v) {
        comm.recv(rank(0), halves[1]);
    } else {
        let partner = rank(if own == 0 { v + first } else { v - first });
        comm.sendrecv(partner, halves[own], partner, halves[1 - own]);
    }
}

/// The root's part: one segment of each half by turns.
fn send_halves(comm: &mut dyn Comm, links: &Links, halves: [Range; 2], segments: [Segments; 2]) {
    let mut sends = Requests::new();
    for segment in 0..segments[0].number() {
        for (child, (half, segments)) in links.children.iter().zip(halves.iter().zip(segments)) {
            if segment < segments.number() {
                sends.push(comm.isend(child.number, half.slice(&segments.units(segment))));
            }
        }
        if sends.len() >= 8 {
            comm.wait(&sends[..4]);
            sends.drain(..4);
        }
    }
    comm.wait(&sends);
}
