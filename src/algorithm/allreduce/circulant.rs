//! Reduce-scatter and allgather over a circulant graph: ⌈log2 p⌉ rounds each, for any p, no rank left out.
//!
//! Distances are p halved again and again, rounding up. In the round with distance s, which halves s', rank r sends its
//! partial folds of the s' − s blocks from r + s on to rank r + s and gets those of the blocks from r on (all modulo
//! p), which it folds into its own. In the end it has block r complete; the rounds backwards hand the complete blocks
//! out.
//!
//! State at p = 7 (distances 4, 2, 1; how many contributions rank 0 has in each block; by rotation the same elsewhere):
//!
//! ```text
//! block              0  1  2  3  4  5  6
//! start              1  1  1  1  1  1  1
//! round 0, s = 4     2  2  2  1  -  -  -
//! round 1, s = 2     4  3  -  -  -  -  -
//! round 2, s = 1     7  -  -  -  -  -  -
//! round 3, s = 1     *  *  -  -  -  -  -
//! round 4, s = 2     *  *  *  *  -  -  -
//! round 5, s = 4     *  *  *  *  *  *  *
//! ```
//!
//! Cost: 2qα + 2((p−1)/p)nβ + ((p−1)/p)nγ. Needs: a commutative operation, since the fold of a block starts at any
//! rank. Memory: n bytes of scratch.
//!
//! Source: J. L. Träff, "Optimal, Non-pipelined Reduce-scatter and Allreduce Algorithms", arXiv 2410.14234, 2024.
//! Departures: 1. blocks stay in place, and only runs that pass the last block are packed.

use crate::algorithm::engine::arcs;
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::Comm;
use crate::pattern::turns::circulant;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Allreduce,
    name: "circulant",
    summary: "Reduce-scatter and allgather over a circulant graph: for any p, no rank left out.",
    parameters: &[],
    needs: Needs::NOTHING,
    ordered: false,
    alone: true,
    formula: "2qα+2((p−1)/p)nβ+((p−1)/p)nγ",
    cost,
    source: "Träff, arXiv 2410.14234, 2024",
    run,
};

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    arcs::allreduce_cost(shape, circulant(shape.ranks, 0), 1)
}

fn run(comm: &mut dyn Comm, call: &Call, _: &Parameters) {
    let turns = circulant(comm.size(), comm.rank());
    arcs::allreduce(comm, call.count, turns);
}
