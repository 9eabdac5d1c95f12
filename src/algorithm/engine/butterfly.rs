//! Exchanges in pairs: whole vectors folded in every step, or blocks halved on the way in and doubled on the way out.

use super::folding;
use crate::algorithm::{Cost, Shape};
use crate::operation::{Comm, Range};
use crate::pattern::blocks::Blocks;
use crate::pattern::butterfly::{Step, Steps};
use crate::pattern::hypercube::{Folding, Part};
use std::ops;

/// Allreduce in which everything is exchanged and folded in every step: few messages, many bytes.
///
/// `steps` gives the steps of a rank of the core, by size of the core and number in it.
pub fn allreduce_whole(comm: &mut dyn Comm, count: usize, steps: fn(usize, usize) -> Steps) {
    let fold = Folding::power_of_two(comm.size());
    folding::allreduce(comm, fold, count, count, |comm, core| {
        let steps = fold.ranks_of(steps(fold.core(), core.number));
        exchange(comm, &steps, core.held, Range::receive(0, count), core.incoming);
    });
}

/// Cost of [`allreduce_whole`].
pub fn whole_cost(shape: &Shape, steps: fn(usize, usize) -> Steps) -> Cost {
    let fold = Folding::power_of_two(shape.ranks);
    let (rounds, n) = (f64::from(fold.core().ilog2()), shape.bytes as f64);
    let bytes = shape
        .bytes_over_ports(rounds * n, |rank| steps_of(fold, rank, steps).into_iter().map(|step| (step.partner, n)));
    Cost { rounds, bytes, folded: rounds * n, ..Cost::default() } + folding::cost(fold, n)
}

/// The steps of a rank; none of one that is folded in.
fn steps_of(fold: Folding, rank: usize, steps: fn(usize, usize) -> Steps) -> Steps {
    match fold.part(rank) {
        Part::Extra { .. } => Steps::new(),
        Part::Proxy { core, .. } | Part::Base { core } => fold.ranks_of(steps(fold.core(), core)),
    }
}

/// Allreduce by halving and doubling of blocks: twice the messages, few bytes.
///
/// `steps` gives the steps of a rank of the core, by size of the core and number in it.
pub fn allreduce_blocks(comm: &mut dyn Comm, count: usize, steps: fn(usize, usize) -> Steps) {
    let fold = Folding::power_of_two(comm.size());
    let blocks = Blocks::new(count, fold.core());
    let result = Range::receive(0, count);
    folding::allreduce(comm, fold, count, blocks.start(fold.core() / 2), |comm, core| {
        let steps = fold.ranks_of(steps(fold.core(), core.number));
        halve(comm, &steps, &blocks, core.held, result, core.incoming);
        double(comm, &steps, &blocks, result);
    });
}

/// Cost of [`allreduce_blocks`].
pub fn blocks_cost(shape: &Shape, steps: fn(usize, usize) -> Steps) -> Cost {
    let fold = Folding::power_of_two(shape.ranks);
    let blocks = Blocks::new(shape.bytes / shape.unit, fold.core());
    // No half is longer than the lower one of the first blocks, which are the larger ones.
    let halves = std::iter::successors(Some(fold.core() / 2), |lower| Some(lower / 2)).take_while(|lower| *lower > 0);
    let halves: Vec<f64> = halves.map(|lower| (blocks.start(lower) * shape.unit) as f64).collect();
    let folded: f64 = halves.iter().sum();
    let bytes = shape.bytes_over_ports(2.0 * folded, |rank| {
        let partners = steps_of(fold, rank, steps).into_iter().map(|step| step.partner);
        partners.zip(&halves).map(|(partner, half)| (partner, 2.0 * half))
    });
    let exchange = Cost { rounds: 2.0 * halves.len() as f64, bytes, folded, ..Cost::default() };
    folding::cost(fold, shape.bytes as f64) + exchange
}

/// Everything held is exchanged and folded in every step; afterwards `result` is the same on all ranks.
///
/// The first step folds straight out of `held`, which saves a copy. The ranges are equally long; `held` may be
/// `result`.
pub fn exchange(comm: &mut dyn Comm, steps: &[Step], held: Range, result: Range, incoming: Range) {
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
/// blocks whose fold `result` holds in the end; nothing of `result` is written before it was read from `held`, so that
/// the two may share memory.
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
        let (units, give) = (blocks.span(keep.clone()), blocks.span(give));
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

/// The half of `blocks` that stays, and the one that goes.
fn halves(blocks: &ops::Range<usize>, upper: bool) -> (ops::Range<usize>, ops::Range<usize>) {
    let middle = blocks.start + blocks.len() / 2;
    let (low, high) = (blocks.start..middle, middle..blocks.end);
    if upper { (high, low) } else { (low, high) }
}

fn fold(comm: &mut dyn Comm, step: &Step, own: Range, theirs: Range, into: Range) {
    if step.upper {
        comm.fold(theirs, own, into);
    } else {
        comm.fold(own, theirs, into);
    }
}
