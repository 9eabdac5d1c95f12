//! Reports go up a binomial tree to rank 0, and the release comes down it.
//!
//! The parent of r is r with its lowest set bit cleared; its children are r + d for the powers of two d below that bit.
//! The nearest child, which has the smallest subtree, reports first and is released last.
//!
//! State at p = 7 (`*` knows that its subtree is there, then that all are):
//!
//! ```text
//! rank        0 1 2 3 4 5 6
//! start       . * . * . * *
//! round 0     . * * * * * *
//! round 1,2   * * * * * * *     rank 0 has heard from 1, 2 and 4
//! release     * . . . . . .
//! round 3     * . . . * . .
//! round 4     * . * . * . *
//! round 5     * * * * * * *
//! ```
//!
//! Cost: 2qα. Needs: nothing. Memory: none.
//!
//! Source: folklore; as in Open MPI's coll/base.

use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::{Comm, Requests};
use crate::pattern::hypercube::ceil_log2;
use smallvec::SmallVec;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Barrier,
    name: "tree",
    summary: "Arrivals are reported up a binomial tree to rank 0, and the release comes down it.",
    parameters: &[],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "2qα",
    cost,
    source: "folklore; Open MPI coll/base",
    run,
};

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    Cost { rounds: 2.0 * f64::from(ceil_log2(shape.ranks)), ..Cost::default() }
}

fn run(comm: &mut dyn Comm, _: &Call, _: &Parameters) {
    let (p, r) = (comm.size(), comm.rank());
    let nothing = comm.scratch(0);
    let lowest = if r == 0 { p.next_power_of_two() } else { r & r.wrapping_neg() };
    let distances = (0..lowest.ilog2()).map(|bit| 1 << bit).filter(|distance: &usize| r + distance < p);
    let children: SmallVec<[usize; 16]> = distances.map(|distance| r + distance).collect();
    let reports: Requests = children.iter().map(|child| comm.irecv(*child, nothing)).collect();
    comm.wait(&reports);
    if r != 0 {
        comm.send(r - lowest, nothing);
        comm.recv(r - lowest, nothing);
    }
    let releases: Requests = children.iter().rev().map(|child| comm.isend(*child, nothing)).collect();
    comm.wait(&releases);
}
