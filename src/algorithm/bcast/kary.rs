//! The message goes down a complete k-ary tree, segment by segment.
//!
//! Ranks are counted from the root: v = (r − root) mod p. v receives from ⌊(v−1)/k⌋ and sends each segment to kv + 1,
//! …, kv + k as far as there are ranks, the lowest first. k = 1 is a chain, k = 2 the binary tree, k ≥ p − 1 the star.
//!
//! State at p = 7, k = 3, one segment (`*` has the message):
//!
//! ```text
//! v         0 1 2 3 4 5 6
//! start     * . . . . . .
//! round 0   * * . . . . .
//! round 1   * * * . * . .
//! round 2   * * * * * * .
//! round 3   * * * * * * *
//! ```
//!
//! Cost: (kh + ⌊(p−f)/k^h⌋ + k(S−1))(α + sβ) for p > k ≥ 2, with h full levels below the root and f ranks in those and
//! at the root; unsegmented it is least at k → e, so k = 3. Needs: nothing. Memory: none.
//!
//! Source: M. Kurnosov's lectures on collective operations.

use crate::algorithm::bcast::binary::pace;
use crate::algorithm::engine::down;
use crate::algorithm::optimum::SEGMENT_AUTO;
use crate::algorithm::{Algorithm, Call, Cost, Default, Kind, Needs, Operation, Parameter, Parameters, Shape};
use crate::operation::Comm;
use crate::pattern::complete::Complete;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Bcast,
    name: "kary",
    summary: "The message goes down a complete k-ary tree, segment by segment.",
    parameters: &[RADIX, SEGMENT_AUTO],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "(kh+⌊(p−f)/k^h⌋+k(S−1))(α+sβ), h=⌊log_k((k−1)p+1)⌋−1, f=(k^(h+1)−1)/(k−1), p>k≥2",
    cost,
    source: "Kurnosov, lectures on collective operations",
    run,
};

pub(in crate::algorithm) const RADIX: Parameter = Parameter {
    name: "radix",
    kind: Kind::Count { least: 1 },
    default: Default::Count(3),
    help: "k: maximum number of children of a rank",
};

pub(in crate::algorithm) fn tree(ranks: usize, parameters: &Parameters) -> Complete {
    Complete { ranks, radix: parameters.count("radix") }
}

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    let tree = tree(shape.ranks, parameters);
    down::cost(shape, &tree, parameters.segments_of(shape, pace(&tree)))
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    let tree = tree(comm.size(), parameters);
    down::bcast(comm, call, &tree, parameters.segments(call, pace(&tree)));
}
