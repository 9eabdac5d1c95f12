//! The message goes along several chains at once, segment by segment.
//!
//! Ranks are counted from the root: v = (r − root) mod p. The others are cut in runs of consecutive numbers, lengths
//! differing by one at most; the root sends each segment to the head of every run, the last (longest) one first, and
//! each rank passes it on to the next of its run.
//!
//! State at p = 7, 2 chains, one segment (`*` has the message):
//!
//! ```text
//! v         0 1 2 3 4 5 6
//! start     * . . . . . .
//! round 0   * . . . * . .
//! round 1   * * . . * * .
//! round 2   * * * . * * *
//! round 3   * * * * * * *
//! ```
//!
//! Cost with c < p chains: (c + ⌊(p−1)/c⌋ − 1 + c(S−1))(α + sβ). Needs: nothing. Memory: none.
//!
//! Source: Open MPI, coll/base.

use crate::algorithm::engine::{down, paces};
use crate::algorithm::optimum::{Pace, SEGMENT_AUTO};
use crate::algorithm::{Algorithm, Call, Cost, Default, Kind, Needs, Operation, Parameter, Parameters, Shape};
use crate::operation::Comm;
use crate::pattern::chain::Chains;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Bcast,
    name: "chain",
    summary: "The message goes along several chains at once, segment by segment.",
    parameters: &[CHAINS, SEGMENT_AUTO],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "(c+⌊(p−1)/c⌋−1+c(S−1))(α+sβ), p>c",
    cost,
    source: "Open MPI coll/base",
    run,
};

pub(in crate::algorithm) const CHAINS: Parameter = Parameter {
    name: "chains",
    kind: Kind::Count { least: 1 },
    default: Default::Count(4),
    help: "c: chains below the root",
};

pub(in crate::algorithm) fn tree(ranks: usize, parameters: &Parameters) -> Chains {
    Chains { ranks, chains: parameters.count("chains") }
}

pub(in crate::algorithm) fn pace(tree: &Chains) -> Pace {
    paces::chains(tree.ranks, tree.chains)
}

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    let tree = tree(shape.ranks, parameters);
    down::cost(shape, &tree, parameters.segments_of(shape, pace(&tree)))
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    let tree = tree(comm.size(), parameters);
    down::bcast(comm, call, &tree, parameters.segments(call, pace(&tree)));
}
