//! Each half of the vector goes up and down a binary tree of its own; whoever has children in one is a leaf of the
//! other.
//!
//! Both trees are in-order binary trees over all ranks, the second one seen from the other end (for odd p without rank
//! 0, which hangs below its root). The halves are cut into segments; while later segments come up, the finished ones go
//! down, in both trees at once. As inner ranks of one tree are leaves of the other, everyone has as much to do.
//!
//! The trees, children in parentheses behind their parent:
//!
//! ```text
//! p = 6    0(4(2(1 3) 5))      5(1(0 3(2 4)))
//! p = 7    0(4(2(1 3) 6(5)))   1(0 5(3(2 4) 6))
//! p = 8    0(4(2(1 3) 6(5 7))) 7(3(1(0 2) 5(4 6)))
//! ```
//!
//! Cost: at most (4S + 4q − 5)(α + sβ) + (2S + 2q − 3)sγ for S segments of a half and p ≥ 4, that is 2nβ + nγ and what
//! filling the pipeline takes. Needs: nothing. Memory: up to four segments of scratch.
//!
//! Source: P. Sanders, J. Speck, J. L. Träff, "Two-tree Algorithms for Full Bandwidth Broadcast, Reduction and Scan",
//! Parallel Computing 35(12), 2009. Departures: 1. reduction and broadcast overlap; 2. messages are sent as soon as
//! their data are there, in no fixed two-coloured order; 3. no rank is left over, whatever p is.

use crate::algorithm::engine::up_down::{Position, up_down};
use crate::algorithm::optimum::{Pace, SEGMENT_AUTO};
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::{Comm, Range};
use crate::pattern::blocks::Blocks;
use crate::pattern::hypercube::ceil_log2;
use crate::pattern::tree::{Tree, depth};
use crate::pattern::two_tree::{Opposite, TwoTree};

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Allreduce,
    name: "double_tree",
    summary: "Each half of the vector goes up and down a tree of its own; inner ranks of one are leaves of the other.",
    parameters: &[SEGMENT_AUTO],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "at most (4S+4q−5)(α+sβ)+(2S+2q−3)sγ, S=⌈n/2s⌉, p≥4",
    cost,
    source: "Sanders, Speck, Träff, Parallel Computing 35(12), 2009",
    run,
};

/// A rank gets two messages as an inner rank of one tree from below and one from above, and one as a leaf of the other.
///
/// The rounds of the first segment are those of a power of two, which no number of ranks below it exceeds; the two
/// trees of eight ranks get in each other's way once. Among more ranks further segments do: counted for all p ≤ 66 and
/// up to 33 segments.
fn pace(p: usize) -> Pace {
    let first = (4 * ceil_log2(p) as usize).saturating_sub(2);
    match p {
        8 => Pace::new(first + 1, 4),
        _ => Pace::new(first, p.min(4)).losing(if p > 8 { 1 } else { 0 }),
    }
}

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    if shape.ranks == 1 {
        return Cost::default();
    }
    let (pace, levels) = (pace(shape.ranks), ceil_log2(shape.ranks) as usize);
    let half = Blocks::new(shape.bytes / shape.unit, 2).units(0).len();
    let segments = parameters.segments_of(&Shape { bytes: half * shape.unit, ..*shape }, pace);
    let rounds = pace.rounds(segments.number());
    // The first segment fills the pipeline, and what is left follows at its pace.
    let fill = rounds - pace.period * (segments.number() - 1);
    let (first, rest) = (segments.length() * shape.unit, half.saturating_sub(segments.length()) * shape.unit);
    let bytes = fill * first + pace.period * rest;
    let folded = (2 * levels - 1) * first + (shape.ranks - 1).min(2) * rest;
    Cost { rounds: rounds as f64, bytes: bytes as f64, folded: folded as f64, ..Cost::default() }
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    let (ranks, r) = (comm.size(), comm.rank());
    let halves = Blocks::new(call.count, 2);
    let trees: [&dyn Tree; 2] = [&TwoTree { ranks, second: false }, &Opposite { ranks }];
    let places = [0, 1].map(|half| {
        let units = halves.units(half);
        let part = Call { count: units.len(), ..*call };
        Position {
            links: trees[half].links(r),
            depth: depth(trees[half], r),
            height: ceil_log2(ranks) as usize,
            twin: None,
            own: Range::send(units.start, units.len()),
            result: Range::receive(units.start, units.len()),
            segments: parameters.segments(&part, pace(ranks)),
        }
    });
    up_down(comm, &places);
}
