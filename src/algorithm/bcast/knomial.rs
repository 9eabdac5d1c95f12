//! The message goes down a k-nomial tree: k − 1 children per level, the ones with most below them first.
//!
//! Ranks are counted from the root: v = (r − root) mod p. v receives from v with its lowest non-zero digit in base k
//! cleared, and sends to v + i·w for every power w of k below that digit, the largest first, and i = 1, …, k − 1.
//!
//! State at p = 7, k = 3 (`*` has the message):
//!
//! ```text
//! v         0 1 2 3 4 5 6
//! start     * . . . . . .
//! round 0   * . . * . . .
//! round 1   * . . * * . *
//! round 2   * * . * * * *
//! round 3   * * * * * * *
//! ```
//!
//! Cost: at most (k−1)⌈log_k p⌉(α + nβ) with one port, S times that of a segment in S segments. With k − 1 ports the
//! rounds of one level fall together. Needs: nothing. Memory: none.
//!
//! Source: M. Kurnosov's lectures on collective operations; M. Wilkins et al., "Generalized Collective
//! Algorithms for the Exascale Era", CLUSTER 2023; Open MPI, coll/base.

use crate::algorithm::engine::down;
use crate::algorithm::optimum::{Pace, SEGMENT};
use crate::algorithm::{Algorithm, Call, Cost, Default, Kind, Needs, Operation, Parameter, Parameters, Shape};
use crate::operation::Comm;
use crate::pattern::knomial::Knomial;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Bcast,
    name: "knomial",
    summary: "The message goes down a k-nomial tree: k−1 children per level.",
    parameters: &[RADIX, SEGMENT],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "at most S(k−1)⌈log_k p⌉(α+sβ), p≥k",
    cost,
    source: "Kurnosov, lectures on collective operations; Wilkins et al., CLUSTER 2023",
    run,
};

pub(in crate::algorithm) const RADIX: Parameter = Parameter {
    name: "radix",
    kind: Kind::Count { least: 2 },
    default: Default::Count(4),
    help: "k: one more than the children per level",
};

pub(in crate::algorithm) fn tree(ranks: usize, parameters: &Parameters) -> Knomial {
    Knomial { ranks, radix: parameters.count("radix") }
}

pub(in crate::algorithm) fn pace(tree: &Knomial) -> Pace {
    // The root has the most children and is busy to the end: no segment is better than the whole message.
    let rounds = tree.reach(0);
    Pace::new(rounds, rounds)
}

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    let tree = tree(shape.ranks, parameters);
    down::cost(shape, &tree, parameters.segments_of(shape, pace(&tree)))
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    let tree = tree(comm.size(), parameters);
    down::bcast(comm, call, &tree, parameters.segments(call, pace(&tree)));
}
