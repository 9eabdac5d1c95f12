//! The vector comes in blocks over a circulant graph, in as few rounds as one port allows, for any p.
//!
//! The round-optimal block broadcast backwards: what a rank would receive there it sends here, and what it would send
//! comes in and is folded. So every rank passes every block on exactly once, after everything that comes to it. Blocks
//! come together in no rank order.
//!
//! State at p = 4 with one block (distances 2, then 1; ab = a∘b):
//!
//! ```text
//! v         0    1  2  3
//! start     0    1  2  3
//! round 0   02   13 .  .
//! round 1   0213 .  .  .
//! ```
//!
//! Cost: (B−1+q)(α + nβ/B + nγ/B) with B blocks. Needs: a commutative operation. Memory: a block of scratch, and n
//! bytes more where the root is not.
//!
//! Source: J. L. Träff, "Round-optimal n-Block Broadcast Schedules in Logarithmic Time", 2023, and doi 10.1145/3735139.
//! Departures: 1. the send schedule is read off the neighbours' receive schedules.

use crate::algorithm::engine::circulant_blocks::{self, BLOCKS};
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::Comm;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Reduce,
    name: "circulant",
    summary: "The vector comes in blocks over a circulant graph, in as few rounds as one port allows, for any p.",
    parameters: &[BLOCKS],
    needs: Needs::NOTHING,
    ordered: false,
    alone: true,
    formula: "(B−1+q)(α+nβ/B+nγ/B)",
    cost,
    source: "Träff, Round-optimal n-Block Broadcast Schedules in Logarithmic Time, 2023",
    run,
};

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    circulant_blocks::cost(shape, parameters, true)
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    circulant_blocks::reduce(comm, call, parameters);
}
