//! Contributions come along several chains at once, segment by segment.
//!
//! Ranks are counted from the root: v = (r − root) mod p. The others are cut in runs of consecutive numbers, lengths
//! differing by one at most; contributions move down each run to its head, and the root folds what the heads send, the
//! first run first. Where the operation is not commutative, ranks are counted from 0 whatever the root, and rank 0
//! passes the result on.
//!
//! State at p = 7, 2 chains, one segment (ab = a∘b):
//!
//! ```text
//! v         0    1    2   3   4    5   6
//! start     0    1    2   3   4    5   6
//! round 0   0    1    23  .   4    56  .
//! round 1   0    123  .   .   456  .   .
//! round 2   0123 .    .   .   456  .   .
//! round 3   0..6 .    .   .   .    .   .
//! ```
//!
//! Cost with c chains: (c + ⌈(p−1)/c⌉ − 1 + c(S−1))(α + sβ + sγ); one α + nβ more where order matters and the root is
//! not 0. Needs: nothing. Memory: up to 4 segments of scratch; n more at rank 0 where it passes the result on.
//!
//! Source: Open MPI, coll/base. Departures: 1. the runs are folded in rank order.

use crate::algorithm::engine::up;
use crate::algorithm::optimum::{MAX_REQUESTS, Pace, SEGMENT_AUTO};
use crate::algorithm::{Algorithm, Call, Cost, Default, Kind, Needs, Operation, Parameter, Parameters, Shape};
use crate::pattern::chain::Chains;
use crate::schedule::Comm;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Reduce,
    name: "chain",
    summary: "Contributions come along several chains at once, segment by segment.",
    parameters: &[CHAINS, SEGMENT_AUTO, MAX_REQUESTS],
    needs: Needs::NOTHING,
    ordered: true,
    formula: "(c+⌈(p−1)/c⌉−1+c(S−1))(α+sβ+sγ), c chains",
    cost,
    source: "Open MPI coll/base",
    run,
};

const CHAINS: Parameter = Parameter {
    name: "chains",
    kind: Kind::Count { least: 1 },
    default: Default::Count(4),
    help: "number of chains below the root",
};

fn pace(ranks: usize, parameters: &Parameters) -> Pace {
    let chains = parameters.count("chains").min(ranks - 1).max(1);
    Pace { first: chains + (ranks - 1).div_ceil(chains) - 1, period: chains }
}

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    let segments = parameters.segments_of(shape, pace(shape.ranks, parameters));
    up::cost(shape, &Chains { ranks: shape.ranks, chains: parameters.count("chains") }, segments)
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    let segments = parameters.segments(call, pace(comm.size(), parameters));
    let tree = Chains { ranks: comm.size(), chains: parameters.count("chains") };
    up::reduce(comm, call, &tree, segments, parameters.count("max_requests"));
}
