//! Flags go up a complete k-ary tree in shared memory; all wait for the flag of rank 0.
//!
//! State at p = 7 with radix 2 (`*` knows that all below are there):
//!
//! ```text
//! rank       0 1 2 3 4 5 6
//! start      . . . * * * *
//! round 0,1  . * * * * * *     1 has seen 3 and 4, 2 has seen 5 and 6
//! round 2,3  * * * * * * *     0 has seen 1 and 2
//! released   * * * * * * *
//! ```
//!
//! Cost: at most (k⌈log_k p⌉ + 1)t_W. Needs: shared memory. Memory: a flag for each rank.
//!
//! Source: P.-C. Yew, N.-F. Tzeng, D. Lawrie, "Distributing Hot-Spot Addressing in Large-Scale Multiprocessors", IEEE
//! TC 36(4), 1987; M. Kurnosov's lectures on collective operations.

use crate::algorithm::engine::flags;
use crate::algorithm::{Algorithm, Call, Cost, Default, Kind, Needs, Operation, Parameter, Parameters, Shape};
use crate::operation::Comm;
use crate::pattern::complete::Complete;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Barrier,
    name: "combining_tree",
    summary: "Flags go up a complete k-ary tree in shared memory; all wait for the flag of rank 0.",
    parameters: &[Parameter {
        name: "radix",
        kind: Kind::Count { least: 1 },
        default: Default::Count(4),
        help: "k: maximum number of flags that a rank waits for",
    }],
    needs: Needs::SHARED_MEMORY,
    ordered: true,
    alone: true,
    formula: "at most (k⌈log_k p⌉+1)t_W, p>k",
    cost,
    source: "Yew, Tzeng, Lawrie, IEEE TC 36(4), 1987; Kurnosov, lectures on collective operations",
    run,
};

fn tree(ranks: usize, parameters: &Parameters) -> Complete {
    Complete { ranks, radix: parameters.count("radix") }
}

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    let gathered = flags::gathered(&tree(shape.ranks, parameters), 0);
    Cost { notified: if shape.ranks > 1 { gathered as f64 + 1.0 } else { 0.0 }, ..Cost::default() }
}

fn run(comm: &mut dyn Comm, _: &Call, parameters: &Parameters) {
    let tree = tree(comm.size(), parameters);
    if tree.ranks == 1 {
        return;
    }
    flags::gather(comm, &tree);
    if comm.rank() != 0 {
        comm.await_flag(0, 1);
    }
}
