//! Contributions come up a complete k-ary tree, segment by segment.
//!
//! Ranks are counted from the root: v = (r − root) mod p. v folds what kv + k, …, kv + 1 send, as far as there are
//! ranks, into its own contribution and passes it on to ⌊(v−1)/k⌋. Subtrees are no runs of ranks, so it keeps no rank
//! order.
//!
//! State at p = 7, k = 3, one segment (ab = a∘b):
//!
//! ```text
//! v         0       1    2  3  4  5  6
//! start     0       1    2  3  4  5  6
//! round 0   03      16   2  .  4  5  .
//! round 1   032     165  .  .  4  .  .
//! round 2   032     1654 .  .  .  .  .
//! round 3   0321654 .    .  .  .  .  .
//! ```
//!
//! Cost: (kh + ⌊(p−f)/k^h⌋ + k(S−1))(α + sβ + sγ) + at most min(2, S−1)(α + sβ) for p > k ≥ 2, with h full levels below
//! the root and f ranks in those and at the root. Needs: a commutative operation. Memory: up to 4 segments of scratch.
//!
//! Source: M. Kurnosov's lectures on collective operations.

use crate::algorithm::bcast::binary::pace;
use crate::algorithm::bcast::kary::{RADIX, tree};
use crate::algorithm::engine::up;
use crate::algorithm::optimum::{MAX_REQUESTS, SEGMENT_AUTO};
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::Comm;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Reduce,
    name: "kary",
    summary: "Contributions come up a complete k-ary tree, segment by segment.",
    parameters: &[RADIX, SEGMENT_AUTO, MAX_REQUESTS],
    needs: Needs::NOTHING,
    ordered: false,
    alone: true,
    formula: "(kh+⌊(p−f)/k^h⌋+k(S−1))(α+sβ+sγ)+at most min(2,S−1)(α+sβ), h=⌊log_k((k−1)p+1)⌋−1, f=(k^(h+1)−1)/(k−1), p>k≥2",
    cost,
    source: "Kurnosov, lectures on collective operations",
    run,
};

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    let tree = tree(shape.ranks, parameters);
    up::cost(shape, &tree, parameters.segments_of(shape, up::pace(pace(&tree))))
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    let tree = tree(comm.size(), parameters);
    let segments = parameters.segments(call, up::pace(pace(&tree)));
    up::reduce(comm, call, &tree, segments, parameters.count("max_requests"));
}
