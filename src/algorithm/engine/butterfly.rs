//! Exchanges in pairs: whole vectors folded in every step, or blocks halved on the way in and doubled on the way out.

use crate::algorithm::Cost;
use crate::pattern::blocks::Blocks;
use crate::pattern::butterfly::Step;
use crate::schedule::{Comm, Range};
use std::ops;

/// Everything held is exchanged and folded in every step; afterwards `result` is the same on all ranks.
///
/// The first step folds straight out of `held`, which saves a copy. The ranges are equally long; `held` may be `result`.
pub fn exchange_all(comm: &mut dyn Comm, steps: &[Step], held: Range, result: Range, incoming: Range) {
    let mut held = held;
    for step in steps {
        comm.sendrecv(step.partner, held, step.partner, incoming);
        fold(comm, step, held, incoming, result);
        held = result;
    }
}

/// Reduce-scatter: of the blocks held, one half is kept and the other one handed over in every step.
///
/// `held` and `result` are whole vectors of `blocks`, `incoming` has room for the lower half of the blocks. Returns the
/// blocks whose fold `result` holds in the end; nothing else of `result` is written after it was read from `held`, and
/// `held` may share memory with `result`.
pub fn halve(
    comm: &mut dyn Comm,
    steps: &[Step],
    blocks: &Blocks,
    held: Range,
    result: Range,
    incoming: Range,
) -> ops::Range<usize> {
    let (mut kept, mut held) = (0..blocks.ranks(), held);
    for step in steps {
        let (keep, give) = halves(&kept, step.upper);
        let (keep, give) = (keep, blocks.span(give));
        let units = blocks.span(keep.clone());
        let theirs = incoming.part(0, units.len());
        comm.sendrecv(step.partner, held.slice(&give), step.partner, theirs);
        fold(comm, step, held.slice(&units), theirs, result.slice(&units));
        (kept, held) = (keep, result);
    }
    kept
}

/// Allgather: undoes the halvings of [`halve`], the last one first, until `vector` is whole.
pub fn double(comm: &mut dyn Comm, steps: &[Step], blocks: &Blocks, vector: Range) {
    let mut spans = smallvec::SmallVec::<[_; 16]>::new();
    let mut kept = 0..blocks.ranks();
    for step in steps {
        let (keep, give) = halves(&kept, step.upper);
        spans.push((blocks.span(keep.clone()), blocks.span(give)));
        kept = keep;
    }
    for (step, (have, miss)) in steps.iter().zip(&spans).rev() {
        comm.sendrecv(step.partner, vector.slice(have), step.partner, vector.slice(miss));
    }
}

/// Cost of [`halve`] and [`double`] together for vectors of `count` units of `unit` bytes.
pub fn halve_and_double_cost(blocks: &Blocks, unit: usize) -> Cost {
    let mut cost = Cost::default();
    let mut lower = blocks.ranks() / 2;
    while lower > 0 {
        // No half is longer than the lower one of the first blocks, which are the larger ones.
        let bytes = (blocks.span(0..lower).len() * unit) as f64;
        cost = cost + Cost { rounds: 2.0, bytes: 2.0 * bytes, folded: bytes };
        lower /= 2;
    }
    cost
}

/// The half of `blocks` that stays, and the one that goes.
fn halves(blocks: &ops::Range<usize>, upper: bool) -> (ops::Range<usize>, ops::Range<usize>) {
    let middle = blocks.start + blocks.len() / 2;
    let (low, high) = (blocks.start..middle, middle..blocks.end);
    if upper { (high, low) } else { (low, high) }
}

fn fold(comm: &mut dyn Comm, step: &Step, own: Range, theirs: Range, into: Range) {
    if step.left {
        comm.fold(own, theirs, into);
    } else {
        comm.fold(theirs, own, into);
    }
}
