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
//! Cost: about k(⌈log_k p⌉ + S − 1)(α + sβ + sγ). Needs: a commutative operation. Memory: up to 4 segments of scratch.
//!
//! Source: M. Kurnosov's lectures on collective operations.

use crate::algorithm::engine::up;
use crate::algorithm::optimum::{MAX_REQUESTS, Pace, SEGMENT_AUTO};
use crate::algorithm::{Algorithm, Call, Cost, Default, Kind, Needs, Operation, Parameter, Parameters, Shape};
use crate::pattern::complete::Complete;
use crate::schedule::Comm;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Reduce,
    name: "kary",
    summary: "Contributions come up a complete k-ary tree, segment by segment.",
    parameters: &[RADIX, SEGMENT_AUTO, MAX_REQUESTS],
    needs: Needs::NOTHING,
    ordered: false,
    formula: "k(⌈log_k p⌉+S−1)(α+sβ+sγ)",
    cost,
    source: "Kurnosov, lectures on collective operations",
    run,
};

const RADIX: Parameter = Parameter {
    name: "radix",
    kind: Kind::Count { least: 1 },
    default: Default::Count(3),
    help: "most children of a rank",
};

fn pace(ranks: usize, parameters: &Parameters) -> Pace {
    let tree = Complete { ranks, radix: parameters.count("radix") };
    let period = tree.radix.min(ranks - 1);
    Pace { first: tree.height() * period, period }
}

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    let segments = parameters.segments_of(shape, pace(shape.ranks, parameters));
    up::cost(shape, &Complete { ranks: shape.ranks, radix: parameters.count("radix") }, segments)
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    let segments = parameters.segments(call, pace(comm.size(), parameters));
    let tree = Complete { ranks: comm.size(), radix: parameters.count("radix") };
    up::reduce(comm, call, &tree, segments, parameters.count("max_requests"));
}
