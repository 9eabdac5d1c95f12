//! Reductions in shared memory: everyone writes its vector down, and reduces its slice of all of them.

use super::windows::{self, Fills};
use crate::algorithm::{Call, Cost, Shape};
use crate::operation::{Comm, Range};
use crate::pattern::blocks::Blocks;

/// Steps of a fill: written, then reduced.
const STEPS: usize = 2;

/// Reduces what all ranks contribute; the result is at `root`, or at all without one.
///
/// Where a vector fits into a line, whoever gets the result folds all lines in rank order. Longer ones go through the
/// windows, fill after fill: everyone writes its part, waits for all, folds its slice of all parts in rank order and
/// writes the result where its own part of that slice was, which nobody else reads; whoever gets the result waits for
/// all again and copies the slices. Nobody writes to a bank again before it has seen all others tell of a later fill in
/// the other one, and they do that when they have left this one.
pub fn reduce(comm: &mut dyn Comm, call: &Call, root: Option<usize>) {
    let (own, gets) = (Range::send(0, call.count), root.is_none_or(|root| root == comm.rank()));
    if comm.size() == 1 {
        return comm.copy(own, Range::receive(0, call.count));
    }
    if call.count == 0 {
        return;
    }
    if windows::fits_line(call.bytes()) {
        comm.enter(0);
        windows::post(comm, own);
        if gets {
            fold_lines(comm, Range::receive(0, call.count));
        }
        return;
    }
    let room = windows::room(call.shared, call.unit);
    let slices = Blocks::new(room.units.min(call.count), comm.size());
    // Without a receive buffer the slice is folded elsewhere.
    let spare = if gets { Range::receive(0, 0) } else { comm.scratch(slices.units(0).len()) };
    for fills in Fills::of_calls(call.count, room, STEPS) {
        comm.enter(0);
        fills.await_banks(comm);
        for fill in 0..fills.number() {
            let units = fills.units_of(fill);
            let result = gets.then(|| Range::receive(units.start, units.len()));
            reduce_fill(comm, &fills, fill, own.slice(&units), result, spare);
        }
    }
}

fn others(comm: &dyn Comm) -> impl Iterator<Item = usize> + use<> {
    let (p, r) = (comm.size(), comm.rank());
    (1..p).map(move |distance| (r + distance) % p)
}

fn fold_lines(comm: &mut dyn Comm, result: Range) {
    let p = comm.size();
    others(comm).for_each(|rank| comm.await_post(rank));
    let line = |rank| Range::line(rank, result.len);
    comm.fold(line(0), line(1), result);
    (2..p).for_each(|rank| comm.fold(result, line(rank), result));
}

fn reduce_fill(comm: &mut dyn Comm, fills: &Fills, fill: usize, own: Range, result: Option<Range>, spare: Range) {
    let (p, r) = (comm.size(), comm.rank());
    let slices = Blocks::new(own.len, p);
    let (slice, step) = (slices.units(r), STEPS * fill);
    let window = |rank, units: &std::ops::Range<usize>| fills.window(rank, fill, units.start, units.len());
    comm.copy(own, window(r, &(0..own.len)));
    comm.signal(step + 1);
    others(comm).for_each(|rank| comm.await_flag(rank, step + 1));
    let folded = result.map_or_else(|| spare.part(0, slice.len()), |result| result.slice(&slice));
    comm.fold(window(0, &slice), window(1, &slice), folded);
    (2..p).for_each(|rank| comm.fold(folded, window(rank, &slice), folded));
    if !slice.is_empty() {
        comm.copy(folded, window(r, &slice));
    }
    comm.signal(step + 2);
    if let Some(result) = result {
        others(comm).for_each(|rank| {
            comm.await_flag(rank, step + 2);
            let slice = slices.units(rank);
            comm.copy(window(rank, &slice), result.slice(&slice));
        });
    }
}

/// The cost of [`reduce`].
pub fn cost(shape: &Shape) -> Cost {
    let Shape { ranks, bytes, unit, .. } = *shape;
    let others = (ranks - 1) as f64;
    if ranks == 1 || bytes == 0 {
        return Cost::default();
    }
    if windows::fits_line(bytes) {
        let bytes = bytes as f64;
        return Cost { notified: others, copied: bytes, folded: others * bytes, ..Cost::default() };
    }
    let of_fill = |units: usize| {
        let slices = Blocks::new(units, ranks);
        let (largest, smallest) = (slices.units(0).len(), slices.units(ranks - 1).len());
        Cost {
            notified: 2.0 * others,
            copied: ((2 * units + largest - smallest) * unit) as f64,
            folded: others * (largest * unit) as f64,
            ..Cost::default()
        }
    };
    let mut cost = Cost::default();
    for fills in Fills::of_calls(bytes / unit, windows::room(shape.shared, unit), STEPS) {
        cost.notified += fills.notifications(ranks);
        cost = (0..fills.number()).fold(cost, |cost, fill| cost + of_fill(fills.units_of(fill).len()));
    }
    cost
}
