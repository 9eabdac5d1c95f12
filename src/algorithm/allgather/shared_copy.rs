//! Everyone writes its block into shared memory once, and copies those of all others from there.
//!
//! Blocks of `read_from` bytes or more are messages to all others, as in `direct`: each rank reads them out of the
//! memory of the others, with one copy.
//!
//! State at p = 3 (what lies in shared memory, then what rank 0 has):
//!
//! ```text
//! written   0 1 2     0 . .
//! copied    0 1 2     0 1 2
//! ```
//!
//! Cost: (p−1)t_W + pbt; where a block is longer than a bank, (p−1)t_W for each fill of one and once more; of blocks
//! that are messages (p−1)(α + bβ). Needs: shared memory. Memory: a window of each rank.
//!
//! Source: M. Kurnosov's lectures on collective operations; as in Open MPI's coll/sm and in MPICH's release-gather.
//! Departures: 1. long blocks do not go through the windows.

use super::direct;
use crate::algorithm::engine::windows::{self, Fills};
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::{Comm, Range};

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Allgather,
    name: "shared_copy",
    summary: "Every rank writes its block into shared memory once, and copies those of all others from there.",
    parameters: &[windows::READ_FROM],
    needs: Needs::SHARED_MEMORY,
    ordered: true,
    alone: true,
    formula: "b<r, b≤w: (p−1)t_W+pbt; b<r, b>w, N=⌈b/w⌉: (N+1)(p−1)t_W+pbt; b≥r: (p−1)(α+bβ)",
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
        return direct::cost(shape, parameters);
    }
    let (others, copied) = ((ranks - 1) as f64, (ranks * bytes) as f64);
    if windows::fits_line(bytes) {
        return Cost { notified: others, copied, ..Cost::default() };
    }
    let calls = Fills::of_calls(bytes / unit, windows::room(shape.shared, unit), 1);
    let notified = calls.map(|fills| fills.notifications(ranks) + fills.number() as f64 * others).sum();
    Cost { notified, copied, ..Cost::default() }
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    if windows::are_read(call.bytes(), parameters) {
        return direct::run(comm, call, parameters);
    }
    let (p, r, own) = (comm.size(), comm.rank(), Range::send(0, call.count));
    let block = |rank: usize| Range::receive(rank * call.count, call.count);
    let others = (1..p).map(|distance| (r + distance) % p);
    if p > 1 && call.count > 0 && windows::fits_line(call.bytes()) {
        comm.enter(0);
        windows::post(comm, own);
        comm.copy(own, block(r));
        for rank in others {
            comm.await_post(rank);
            comm.copy(Range::line(rank, call.count), block(rank));
        }
        return;
    }
    for fills in Fills::of_calls(call.count, windows::room(call.shared, call.unit), 1).filter(|_| p > 1) {
        comm.enter(0);
        fills.await_banks(comm);
        for fill in 0..fills.number() {
            // All have told of the fill before, and so have left the one before that, which was in the same bank.
            let units = fills.units_of(fill);
            let window = |rank| fills.window(rank, fill, 0, units.len());
            comm.copy(own.slice(&units), window(r));
            comm.signal(fill + 1);
            for rank in others.clone() {
                comm.await_flag(rank, fill + 1);
                comm.copy(window(rank), block(rank).slice(&units));
            }
        }
    }
    comm.copy(own, block(r));
}
