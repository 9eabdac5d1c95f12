//! As `bruck`, but the blocks end where they belong, so that nothing is turned at the end.
//!
//! First place j of rank r gets the block for rank 2r − j. It has to go back by the distance of j from r, and does so
//! in the rounds of that distance's binary digits: in round k all blocks whose place is at a distance with digit k go
//! to r − 2^k, to the places at the same distances from there. A block for rank d started at distance r − d of rank r;
//! it ends at that distance from d, which is place r.
//!
//! State at p = 5 (from whom the blocks in places 0 … 4 stem):
//!
//! ```text
//! rank       0          1          2          3          4
//! start      0,0,0,0,0  1,1,1,1,1  2,2,2,2,2  3,3,3,3,3  4,4,4,4,4
//! round 0    0,1,0,1,0  1,1,2,1,2  3,2,2,3,2  3,4,3,3,4  0,4,0,4,4
//! round 1    0,1,2,3,0  1,1,2,3,4  0,2,2,3,4  0,1,3,3,4  0,1,2,4,4
//! round 2    0,1,2,3,4  everywhere
//! ```
//!
//! Cost: at most qα + q(p/2)bβ, as much for p = 2^k. Needs: nothing. Memory: pb bytes of scratch, in place as well.
//!
//! Source: J. L. Träff, A. Rougier, S. Hunold, "Implementing a Classic: Zero-copy All-to-all Communication with MPI
//! Datatypes", ICS 2014. Departures: 1. what a message takes along is packed rather than described by a datatype.

use crate::algorithm::engine::digits::{self, Digit};
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::{Comm, Range};
use crate::pattern::circle::Arc;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Alltoall,
    name: "modified_bruck",
    summary: "As bruck, but the blocks end up where they belong, without a final rotation.",
    parameters: &[],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "at most qα+q(p/2)bβ",
    cost,
    source: "Träff, Rougier, Hunold, ICS 2014",
    run,
};

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    // All blocks are put where those for the same distance the other way have been.
    let reflected = Cost { packed: (shape.ranks * shape.bytes) as f64, ..Cost::default() };
    // A run of distances is no run of places where it goes over the last rank, unless it is a single one.
    let copies = |digit: Digit| if digit.blocks(shape.ranks) == 1 { 1.0 } else { 2.0 };
    digits::cost(shape, 2, copies) + reflected
}

fn run(comm: &mut dyn Comm, call: &Call, _: &Parameters) {
    let (p, r, b) = (comm.size(), comm.rank(), call.count);
    let rooms = [comm.scratch(p / 2 * b), comm.scratch(p / 2 * b)];
    reflect(comm, call, rooms[0]);
    let home = (Range::receive(0, p * b), b);
    for digit in Digit::all(p, 2) {
        let partners = ((r + p - digit.distance()) % p, (r + digit.distance()) % p);
        // A run of distances that goes over the last rank is two runs of places.
        let places = digit.runs(p).flat_map(|run| Arc::new(r + run.start, run.len(), p).runs());
        digits::exchange(comm, home, places.filter(|run| !run.is_empty()), partners, rooms);
    }
}

/// Puts the block for rank 2r − j in place j: in place by swaps, with a block's room where there is anything to swap.
fn reflect(comm: &mut dyn Comm, call: &Call, room: Range) {
    let (p, r, b) = (comm.size(), comm.rank(), call.count);
    let (outgoing, place) = (|j: usize| Range::send(j * b, b), |j: usize| Range::receive(j * b, b));
    for j in 0..p {
        let other = (2 * r + p - j) % p;
        if !call.in_place || j == other {
            comm.copy(outgoing(other), place(j));
        } else if j < other {
            let room = room.part(0, b);
            comm.copy(outgoing(j), room);
            comm.copy(outgoing(other), place(j));
            comm.copy(room, place(other));
        }
    }
}
