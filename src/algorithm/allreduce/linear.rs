//! Everyone sends its contribution to rank 0, which folds them in rank order and sends the result to everyone.
//!
//! Rank 0 has the next receive started while it folds, and starts all sends of the result at once.
//!
//! State at p = 4 (what rank 0 holds, then who has the result):
//!
//! ```text
//! receive from 1   01
//! receive from 2   012
//! receive from 3   0123
//! send to 1 2 3    0 1, 0 1 2, 0 1 2 3
//! ```
//!
//! Cost: 2(p−1)(α + nβ) + (p−1)nγ, of which folds and messages overlap. Needs: nothing. Memory: 2n bytes of scratch at
//! rank 0.
//!
//! Source: folklore.

use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::{Comm, Range, Requests};

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Allreduce,
    name: "linear",
    summary: "All ranks send to rank 0, which reduces in rank order and sends the result to each.",
    parameters: &[],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "2(p−1)(α+nβ)+(p−1)nγ",
    cost,
    source: "folklore",
    run,
};

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    let (others, n) = ((shape.ranks - 1) as f64, shape.bytes as f64);
    Cost { rounds: 2.0 * others, bytes: 2.0 * others * n, folded: others * n, ..Cost::default() }
}

fn run(comm: &mut dyn Comm, call: &Call, _: &Parameters) {
    let (p, own, result) = (comm.size(), Range::send(0, call.count), Range::receive(0, call.count));
    if p == 1 {
        comm.copy(own, result);
    } else if comm.rank() == 0 {
        collect(comm, own, result);
        let sends: Requests = (1..p).map(|rank| comm.isend(rank, result)).collect();
        comm.wait(&sends);
    } else {
        comm.send(0, own);
        comm.recv(0, result);
    }
}

/// Rank 0 folds all contributions, alternating between two places for what arrives.
fn collect(comm: &mut dyn Comm, own: Range, result: Range) {
    let p = comm.size();
    let places = [comm.scratch(own.len), comm.scratch(own.len)];
    let mut folded = own;
    let mut next = comm.irecv(1, places[1]);
    for rank in 1..p {
        comm.wait(&[next]);
        if rank + 1 < p {
            next = comm.irecv(rank + 1, places[(rank + 1) % 2]);
        }
        comm.fold(folded, places[rank % 2], result);
        folded = result;
    }
}
