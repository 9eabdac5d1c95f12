//! The message goes in blocks over a circulant graph, in as few rounds as one port allows, for any p.
//!
//! Ranks are counted from the root: v = (r − root) mod p. With q = ⌈log2 p⌉ distances, p halved rounding up again and
//! again, the rounds go through the distances in turn, the last one over the longest: v sends one block that it has and
//! receives one that it has not. Which ones they are, each rank works out for itself in O(q²) steps.
//!
//! State at p = 7 with three blocks (distances 1, 2, 4):
//!
//! ```text
//! v              0   1   2   3   4   5   6
//! start          012 .   .   .   .   .   .
//! round 0, +2    012 .   0   .   .   .   .
//! round 1, +4    012 .   0   .   1   .   0
//! round 2, +1    012 2   0   0   1   1   0
//! round 3, +2    012 02  02  02  01  01  01
//! round 4, +4    012 012 012 012 012 012 012
//! ```
//!
//! Cost: (B−1+q)(α + nβ/B) with B blocks, least at B = √((q−1)nβ/α). Needs: nothing. Memory: none.
//!
//! Source: J. L. Träff, "Round-optimal n-Block Broadcast Schedules in Logarithmic Time", 2023, and doi 10.1145/3735139.
//! Departures: 1. the send schedule is read off the neighbours' receive schedules.

use crate::algorithm::engine::circulant_blocks::{self, BLOCKS};
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::Comm;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Bcast,
    name: "circulant",
    summary: "The message goes in blocks over a circulant graph, in as few rounds as one port allows, for any p.",
    parameters: &[BLOCKS],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "(B−1+q)(α+nβ/B)",
    cost,
    source: "Träff, Round-optimal n-Block Broadcast Schedules in Logarithmic Time, 2023",
    run,
};

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    circulant_blocks::cost(shape, parameters, false)
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    circulant_blocks::bcast(comm, call, parameters);
}
