//! The root writes all blocks into shared memory, from where each rank copies its own.
//!
//! Blocks that do not fit go piece by piece, a piece of each in every fill of a bank.
//!
//! Blocks of `read_from` bytes or more are messages from the root, as in `linear`: each rank reads its own out of the
//! root's memory, with one copy.
//!
//! State at p = 3, root 0 (what lies in shared memory, then what ranks 1 and 2 have):
//!
//! ```text
//! written   1 .     .   .
//! written   1 2     1   .
//! copied    1 2     1   2
//! ```
//!
//! Cost: t_W + (p−1)bt + bt, and p−1 stores; where the blocks are longer than a bank, (p−1)t_W more for each fill of
//! one, and the last piece instead of a whole block is copied after the root has written; of blocks that are messages
//! (p−1)(α + bβ). Needs: shared memory. Memory: the root's window.
//!
//! Source: M. Kurnosov's lectures on collective operations; as in Open MPI's coll/sm and in MPICH's release-gather.
//! Departures: 1. long blocks do not go through the window.

use super::linear;
use crate::algorithm::engine::windows::{self, Fills};
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::{Comm, Range};

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Scatter,
    name: "shared_copy",
    summary: "The root writes all blocks into shared memory, from where each rank copies its own.",
    parameters: &[windows::READ_FROM],
    needs: Needs::SHARED_MEMORY,
    ordered: true,
    alone: true,
    formula: "b<r, (p−1)b≤w: t_W+pbt, and p−1 stores; b<r, v=⌊w/(p−1)⌋, N=⌈b/v⌉, N>1: at most (N(p−1)+1)t_W+((p−1)b+v)t; b≥r: (p−1)(α+bβ)",
    cost,
    source: "Kurnosov, lectures on collective operations; Open MPI coll/sm; MPICH release-gather",
    run,
};

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    let Shape { ranks, bytes, unit, .. } = *shape;
    if ranks == 1 || bytes == 0 {
        return Cost::default();
    }
    if windows::are_read(bytes, parameters) {
        return linear::cost(shape, parameters);
    }
    let others = ranks - 1;
    let calls = Fills::of_calls(bytes / unit, windows::room(shape.shared, unit).of_each(others), others);
    calls.map(|fills| cost_of_call(&fills, ranks, unit)).fold(Cost::default(), |all, one| all + one)
}

/// The cost of one call on the board.
fn cost_of_call(fills: &Fills, ranks: usize, unit: usize) -> Cost {
    let (number, others) = (fills.number(), ranks - 1);
    let (piece, last) = (fills.fill * unit, fills.units_of(number - 1).len() * unit);
    // The last rank copies its last piece when that is written and it has copied the one before.
    let before = if number > 1 { (number - 1) * others * piece + piece } else { 0 };
    let copied = (others * fills.units * unit).max(before) + last;
    let (mut root, mut seen, mut left) = (fills.notifications(ranks) as usize, 0, 0);
    for fill in 0..number {
        if fill >= 2 {
            root = root.max(left) + others;
        }
        (left, seen) = (seen, root.max(seen) + 1);
    }
    if number > 1 {
        root = root.max(left) + others;
    }
    Cost { notified: root.max(seen) as f64, copied: copied as f64, ..Cost::default() }
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    if windows::are_read(call.bytes(), parameters) {
        return linear::run(comm, call, parameters);
    }
    let (p, root, own) = (comm.size(), call.root, Range::receive(0, call.count));
    let is_root = comm.rank() == root;
    if p > 1 {
        for fills in Fills::of_calls(call.count, windows::room(call.shared, call.unit).of_each(p - 1), p - 1) {
            comm.enter(0);
            if is_root { write(comm, &fills, call.count) } else { read(comm, root, &fills, own) }
        }
    }
    if is_root {
        comm.copy(Range::send(root * call.count, call.count), own);
    }
}

/// Where the piece of the rank `distance` behind the root lies, and the step that tells of it.
fn place(root: usize, distance: usize, ranks: usize, fills: &Fills, fill: usize) -> (Range, usize) {
    let window = fills.window(root, fill, (distance - 1) * fills.fill, fills.units_of(fill).len());
    (window, fill * (ranks - 1) + distance)
}

/// The root writes fill after fill of blocks of `count` units.
fn write(comm: &mut dyn Comm, fills: &Fills, count: usize) {
    let (p, root, number) = (comm.size(), comm.rank(), fills.number());
    let await_left = |comm: &mut dyn Comm, fill: usize| {
        (1..p).for_each(|distance| comm.await_flag((root + distance) % p, fill + 1));
    };
    fills.await_banks(comm);
    for fill in 0..number {
        if fill >= 2 {
            await_left(comm, fill - 2);
        }
        for distance in 1..p {
            let block = Range::send((root + distance) % p * count, count);
            let (window, step) = place(root, distance, p, fills, fill);
            comm.copy(block.slice(&fills.units_of(fill)), window);
            comm.signal(step);
        }
    }
    // The other bank has to be left by the end of the call.
    if number > 1 {
        await_left(comm, number - 2);
    }
}

fn read(comm: &mut dyn Comm, root: usize, fills: &Fills, own: Range) {
    let p = comm.size();
    let distance = (comm.rank() + p - root) % p;
    for fill in 0..fills.number() {
        let (window, step) = place(root, distance, p, fills, fill);
        comm.await_flag(root, step);
        comm.copy(window, own.slice(&fills.units_of(fill)));
        if fill + 1 < fills.number() {
            comm.signal(fill + 1);
        }
    }
}
