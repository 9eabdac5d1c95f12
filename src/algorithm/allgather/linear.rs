//! Rank 0 gathers all blocks and broadcasts them.
//!
//! Any gather and any broadcast will do; the names of both are parameters.
//!
//! State at p = 4 (blocks held):
//!
//! ```text
//! rank       0     1     2     3
//! start      0     1     2     3
//! gather     0..3  1     2     3
//! broadcast  0..3  0..3  0..3  0..3
//! ```
//!
//! Cost: that of the gather of blocks of b bytes and that of the broadcast of pb bytes, one after the other; by default
//! (p−1)(α + bβ) + q(α + pbβ). Needs: nothing. Memory: that of the gather.
//!
//! Source: folklore; Open MPI `basic_linear`. Departures: 1. the broadcast is no linear one unless asked for.

use crate::algorithm::{Algorithm, Call, Choice, Cost, Default, Kind, Needs, Operation, Parameter, Parameters, Shape};
use crate::algorithm::{bcast, gather};
use crate::operation::Comm;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Allgather,
    name: "linear",
    summary: "Rank 0 gathers all blocks and broadcasts them.",
    parameters: &[
        Parameter {
            name: "gather",
            kind: Kind::Inner(Operation::Gather),
            default: Default::Inner(&gather::linear::ROW),
            help: "algorithm of the gather at rank 0",
        },
        Parameter {
            name: "bcast",
            kind: Kind::Inner(Operation::Bcast),
            default: Default::Inner(&bcast::binomial::ROW),
            help: "algorithm of the broadcast of all blocks from rank 0",
        },
    ],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "gather(b)+bcast(pb)",
    cost,
    source: "folklore; Open MPI basic_linear",
    run,
};

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    let part =
        |choice: &Choice, bytes| (choice.algorithm.cost)(&Shape { bytes, root: 0, ..*shape }, &choice.parameters);
    part(parameters.inner("gather"), shape.bytes) + part(parameters.inner("bcast"), shape.ranks * shape.bytes)
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    let all = comm.size() * call.count;
    let mut part = |choice: &Choice, operation, count| {
        (choice.algorithm.run)(comm, &Call { operation, root: 0, count, ..*call }, &choice.parameters);
    };
    part(parameters.inner("gather"), Operation::Gather, call.count);
    part(parameters.inner("bcast"), Operation::Bcast, all);
}
