//! Everyone writes its block into shared memory, from where the root copies it.
//!
//! Blocks of `read_from` bytes or more are messages to the root, as in `linear`: it reads them out of the memory of the
//! other ranks, with one copy.
//!
//! State at p = 3, root 0 (what lies in shared memory, then what the root has):
//!
//! ```text
//! written   . 1 2     0 . .
//! copied    . 1 2     0 1 2
//! ```
//!
//! Cost: (p−1)t_W + bt + (p−1)bt; where a block is longer than a bank of w bytes, (p−1)t_W for each fill of one and
//! once more, and wt instead of bt, since all other fills are written while the root copies; of blocks that are
//! messages (p−1)(α + bβ). Needs: shared memory. Memory: a window of each rank.
//!
//! Source: M. Kurnosov's lectures on collective operations; as in Open MPI's coll/sm and in MPICH's release-gather.
//! Departures: 1. long blocks do not go through the windows.

use super::linear;
use crate::algorithm::engine::windows::{self, Fills};
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::{Comm, Range};

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Gather,
    name: "shared_copy",
    summary: "Every rank writes its block into shared memory, from where the root copies it.",
    parameters: &[windows::READ_FROM],
    needs: Needs::SHARED_MEMORY,
    ordered: true,
    alone: true,
    formula: "b<r, b≤w: (p−1)t_W+pbt; b<r, b>w, N=⌈b/w⌉: (N+1)(p−1)t_W+((p−1)b+w)t; b≥r: (p−1)(α+bβ)",
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
    let others = (ranks - 1) as f64;
    if windows::fits_line(bytes) {
        return Cost { notified: others, copied: (ranks * bytes) as f64, ..Cost::default() };
    }
    let mut cost = Cost { copied: others * bytes as f64, ..Cost::default() };
    for fills in Fills::of_calls(bytes / unit, windows::room(shape.shared, unit), 1) {
        cost.notified += fills.notifications(ranks) + fills.number() as f64 * others;
        cost.copied += (fills.units_of(0).len() * unit) as f64;
    }
    cost
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    if windows::are_read(call.bytes(), parameters) {
        return linear::run(comm, call, parameters);
    }
    let (p, root, own) = (comm.size(), call.root, Range::send(0, call.count));
    let is_root = comm.rank() == root;
    if p > 1 && call.count > 0 {
        match windows::fits_line(call.bytes()) {
            true => through_lines(comm, root, own),
            false => {
                for fills in Fills::of_calls(call.count, windows::room(call.shared, call.unit), 1) {
                    comm.enter(0);
                    if is_root { collect(comm, &fills, call.count) } else { write(comm, root, &fills, own) }
                }
            }
        }
    }
    if is_root {
        comm.copy(own, Range::receive(root * call.count, call.count));
    }
}

fn through_lines(comm: &mut dyn Comm, root: usize, own: Range) {
    let (p, count) = (comm.size(), own.len);
    comm.enter(0);
    if comm.rank() != root {
        return windows::post(comm, own);
    }
    for rank in (1..p).map(|distance| (root + distance) % p) {
        comm.await_post(rank);
        comm.copy(Range::line(rank, count), Range::receive(rank * count, count));
    }
}

/// The root copies fill after fill of blocks of `count` units, and tells of each that it is left.
fn collect(comm: &mut dyn Comm, fills: &Fills, count: usize) {
    let (p, root) = (comm.size(), comm.rank());
    for fill in 0..fills.number() {
        let units = fills.units_of(fill);
        for rank in (1..p).map(|distance| (root + distance) % p) {
            comm.await_flag(rank, fill + 1);
            let block = Range::receive(rank * count, count);
            comm.copy(fills.window(rank, fill, 0, units.len()), block.slice(&units));
        }
        if fill + 1 < fills.number() {
            comm.signal(fill + 1);
        }
    }
}

fn write(comm: &mut dyn Comm, root: usize, fills: &Fills, own: Range) {
    let number = fills.number();
    fills.await_banks(comm);
    for fill in 0..number {
        if fill >= 2 {
            comm.await_flag(root, fill - 1);
        }
        let units = fills.units_of(fill);
        comm.copy(own.slice(&units), fills.window(comm.rank(), fill, 0, units.len()));
        comm.signal(fill + 1);
    }
    // The other bank has to be left by the end of the call.
    if number > 1 {
        comm.await_flag(root, number - 1);
    }
}
