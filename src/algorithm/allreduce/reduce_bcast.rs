//! Any reduction to rank 0, then any broadcast from it.
//!
//! `reduce` and `bcast` name the two. With binomial trees this is the tree allreduce: the contributions go up in q
//! rounds and the result comes down in q.
//!
//! State at p = 7, both binomial (`*` has the result):
//!
//! ```text
//! rank     0     1   2     3   4     5   6
//! start    0     1   2     3   4     5   6
//! reduce   01    .   23    .   45    .   6
//! reduce   0123  .   .     .   456   .   .
//! reduce   0..6  .   .     .   .     .   .
//! bcast    *     .   .     .   *     .   .
//! bcast    *     .   *     .   *     .   *
//! bcast    *     *   *     *   *     *   *
//! ```
//!
//! Cost: the sum of both, 2q(α + nβ) + qnγ for binomial trees. Needs: those of the two; rank order is kept if `reduce`
//! keeps it. Memory: that of the two.
//!
//! Source: folklore.

use crate::algorithm::{Algorithm, Call, Choice, Cost, Default, Kind, Needs, Operation, Parameter, Parameters, Shape};
use crate::algorithm::{bcast, reduce};
use crate::operation::Comm;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Allreduce,
    name: "reduce_bcast",
    summary: "Any reduction to rank 0, then any broadcast from it.",
    parameters: &[
        Parameter {
            name: "reduce",
            kind: Kind::Inner(Operation::Reduce),
            default: Default::Inner(&reduce::binomial::ROW),
            help: "algorithm of the reduction",
        },
        Parameter {
            name: "bcast",
            kind: Kind::Inner(Operation::Bcast),
            default: Default::Inner(&bcast::binomial::ROW),
            help: "algorithm of the broadcast",
        },
    ],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "reduce + bcast; both binomial: 2q(α+nβ)+qnγ",
    cost,
    source: "folklore",
    run,
};

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    let of = |inner: &Choice| (inner.algorithm.cost)(&Shape { root: 0, ..*shape }, &inner.parameters);
    of(parameters.inner("reduce")) + of(parameters.inner("bcast"))
}

/// Both calls find their buffers where they expect them: a reduction uses the receive buffer at its root only, and a
/// broadcast has no other.
fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    for (name, operation) in [("reduce", Operation::Reduce), ("bcast", Operation::Bcast)] {
        let inner = parameters.inner(name);
        (inner.algorithm.run)(comm, &Call { operation, root: 0, ..*call }, &inner.parameters);
    }
}
