//! Two trees, one over each half of the ranks, whose roots exchange what has come up; up and down go on at once.
//!
//! The lower ⌊p/2⌋ ranks and the upper ⌈p/2⌉ form a post-order binary tree each: below the root of a run of ranks, its
//! last one, lie the two halves of the rest. The vector goes up in segments; the two roots exchange each segment and
//! fold it in rank order, so both have the same bits, and send it down while later ones still come up.
//!
//! State at p = 7, trees 2(0 1) and 6(3 5(4)), one segment (ab = a∘b; `*` has the result):
//!
//! ```text
//! rank       0   1   2     3   4   5    6
//! start      0   1   2     3   4   5    6
//! up         .   .   012   3   .   45   6       2 folds 1, then 0
//! up         .   .   012   .   .   .    3456    6 folds 5, then 3
//! exchange   .   .   *     .   .   .    *
//! down       *   *   *     *   .   *    *
//! down       *   *   *     *   *   *    *
//! ```
//!
//! Cost: at most (3S + 4q − 9 + min(S, q−1))(α + sβ) + (3S + 2q − 5)sγ, for p ≥ 8: every rank has three neighbours, and
//! each segment of the vector takes a message each way with each of them. Needs: nothing. Memory: up to five segments
//! of scratch.
//!
//! Source: J. L. Träff, "A Doubly-pipelined, Dual-root Reduction-to-all Algorithm and Implementation", arXiv
//! 2109.12626, 2021. Departures: 1. messages both ways along an edge need not start together, so a rank that lags holds
//! up only those who need its data.

use crate::algorithm::engine::up_down::{Position, Twin, up_down};
use crate::algorithm::optimum::{Pace, SEGMENT_AUTO};
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::{Comm, Range};
use crate::pattern::hypercube::{ceil_log2, floor_log2};
use crate::pattern::ordered::Postorder;
use crate::pattern::tree::{Tree, depth};

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Allreduce,
    name: "dual_root",
    summary: "Two trees, one over each half of the ranks, whose roots exchange; both directions overlap.",
    parameters: &[SEGMENT_AUTO],
    needs: Needs::NOTHING,
    ordered: true,
    alone: false,
    formula: "at most (3S+4q−9+min(S,q−1))(α+sβ)+(3S+2q−5)sγ, p≥8",
    cost,
    source: "Träff, arXiv 2109.12626, 2021",
    run,
};

/// The busiest ranks have three neighbours. Behind the first segment each level but one holds the others up by a round,
/// since ports are taken in the order of starting; two of those rounds are lost at once, if there are two.
fn pace(p: usize, way: Way) -> Pace {
    let held_up = (ceil_log2(p) as usize).saturating_sub(1);
    let second = held_up.min(1);
    Pace { second, ..Pace::new(way.up + 1 + way.down, period(p)).losing(held_up - second) }
}

/// Messages of a root per segment, each way: one with the other root and one with each child.
fn period(p: usize) -> usize {
    1 + (p - p / 2 - 1).min(2)
}

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    let p = shape.ranks;
    if p == 1 {
        return Cost::default();
    }
    let way = Way::through(p - p / 2);
    let pace = pace(p, way);
    let segments = parameters.segments_of(shape, pace);
    let rounds = pace.rounds(segments.number());
    // The first segment fills the pipeline, and what is left follows at its pace.
    let fill = rounds - pace.period * (segments.number() - 1);
    let first = segments.length() * shape.unit;
    let rest = shape.bytes.saturating_sub(first);
    Cost {
        rounds: rounds as f64,
        bytes: (fill * first + pace.period * rest) as f64,
        folded: ((way.folds + 1) * first + pace.period * rest) as f64,
        ..Cost::default()
    }
}

/// Messages and folds one after the other on a segment's way through a tree.
#[derive(Clone, Copy, Debug, Default)]
struct Way {
    up: usize,
    folds: usize,
    down: usize,
}

impl Way {
    /// Through a tree of `ranks` ranks; messages come up as they are ready and are folded upper child first.
    fn through(ranks: usize) -> Self {
        let [way, _] = Self::through_both(ranks);
        way.unwrap_or_default()
    }

    /// Through a tree of `ranks` ranks, if there are any, and through one of a rank more: what lies below their roots
    /// is one of two trees again, so that there is one step per level.
    fn through_both(ranks: usize) -> [Option<Self>; 2] {
        if ranks == 0 {
            return [None, Some(Self::default())];
        }
        let [smaller, larger] = Self::through_both((ranks - 1) / 2);
        let below = if ranks % 2 == 1 {
            [(smaller, smaller), (smaller, larger)]
        } else {
            [(smaller, larger), (larger, larger)]
        };
        below.map(|(lower, upper)| Some(Self::over(lower, upper)))
    }

    /// Through the root over these two.
    fn over(lower: Option<Self>, upper: Option<Self>) -> Self {
        let Some(upper) = upper else { return Self::default() };
        let Some(lower) = lower else { return Self { up: 1, folds: 1, down: 1 } };
        let (ready, last) = (lower.up.min(upper.up), lower.up.max(upper.up));
        Self {
            up: last.max(ready + 1) + 1,
            folds: lower.folds.max(upper.folds + 1) + 1,
            down: (lower.down + 1).max(upper.down + 2),
        }
    }
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    let (p, r) = (comm.size(), comm.rank());
    let (own, result) = (Range::send(0, call.count), Range::receive(0, call.count));
    if p == 1 {
        comm.copy(own, result);
        return;
    }
    let half = p / 2;
    let segments = parameters.segments(call, pace(p, Way::through(p - half)));
    let (tree, first, other_root) =
        if r < half { (Postorder { ranks: half }, 0, p - 1) } else { (Postorder { ranks: p - half }, half, half - 1) };
    let links = tree.links(r - first).renumbered(|number| number + first);
    let twin = links.parent.is_none().then_some(Twin { rank: other_root, before: other_root < r });
    up_down(
        comm,
        &[Position {
            links,
            depth: depth(&tree, r - first),
            height: floor_log2(p - half) as usize,
            twin,
            own,
            result,
            segments,
        }],
    );
}
