//! Allgather of Bruck: blocks counted from the own rank, so that what is held is always one run.

use crate::algorithm::{Cost, Shape};
use crate::operation::{Comm, Range, Requests};
use crate::pattern::circle::Arc;

/// Allgather in rounds that multiply the blocks held by `radix`, then a rotation into rank order.
///
/// In the round in which w blocks are held, the first of them go to r − i·w, and those of r + i·w come to place i·w,
/// for 0 < i < radix.
pub fn allgather(comm: &mut dyn Comm, block: usize, radix: usize) {
    let (p, r) = (comm.size(), comm.rank());
    let held = comm.scratch(p * block);
    comm.copy(Range::send(0, block), held.part(0, block));
    let mut width = 1;
    while width < p {
        let mut messages = Requests::new();
        for place in steps(width, radix, p) {
            let units = width.min(p - place) * block;
            messages.push(comm.irecv((r + place) % p, held.part(place * block, units)));
            messages.push(comm.isend((r + p - place) % p, held.part(0, units)));
        }
        comm.wait(&messages);
        width = width.saturating_mul(radix);
    }
    let mut start = 0;
    for run in Arc::new(r, p, p).runs() {
        comm.copy(held.part(start * block, run.len() * block), Range::receive(run.start * block, run.len() * block));
        start += run.len();
    }
}

/// Cost of [`allgather`], the messages of a round one after the other.
pub fn cost(shape: &Shape, radix: usize) -> Cost {
    let p = shape.ranks;
    let mut width = 1;
    let mut messages = 0;
    while width < p {
        messages += steps(width, radix, p).count();
        width = width.saturating_mul(radix);
    }
    let block = shape.bytes as f64;
    let of_rank = |rank| {
        let widths = std::iter::successors(Some(1), |width: &usize| Some(width.saturating_mul(radix)));
        let places = widths
            .take_while(|width| *width < p)
            .flat_map(|width| steps(width, radix, p).map(move |place| (place, width.min(p - place))));
        places.map(|(place, blocks)| ((rank + p - place) % p, blocks as f64 * block)).collect::<Vec<_>>()
    };
    let bytes = shape.bytes_over_ports((p - 1) as f64 * block, of_rank);
    // All blocks are rotated.
    Cost { rounds: messages as f64, bytes, packed: p as f64 * block, ..Cost::default() }
}

/// Places i·width, 0 < i < radix, below `p`.
fn steps(width: usize, radix: usize, p: usize) -> impl Iterator<Item = usize> {
    (width..p).step_by(width).take(radix - 1)
}
