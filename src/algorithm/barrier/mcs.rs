//! Flags go up a k-ary tree in shared memory, and down a w-ary one.
//!
//! The wide tree up costs a rank few flags that lie side by side in time; the narrow one down lets no line be read by
//! more than w ranks.
//!
//! State at p = 7 with 4 up and 2 down (`*` knows that all below are there, then that all are):
//!
//! ```text
//! rank        0 1 2 3 4 5 6
//! start       . . * * * * *
//! round 0,1   . * * * * * *     1 has seen 6 and 5; 0 has seen 4 and 3
//! round 2,3   * * * * * * *     0 has seen 2 and 1
//! release     * . . . . . .
//! round 4     * * * . . . .
//! round 5     * * * * * * *
//! ```
//!
//! Cost: at most (k⌈log_k p⌉ + ⌈log_w p⌉)t_W, the latter with each line read by w ranks. Needs: shared memory. Memory: a flag
//! for each rank.
//!
//! Source: J. Mellor-Crummey, M. Scott, "Algorithms for Scalable Synchronization on Shared-Memory Multiprocessors", ACM
//! TOCS 9(1), 1991.

use crate::algorithm::engine::flags;
use crate::algorithm::{Algorithm, Call, Cost, Default, Kind, Needs, Operation, Parameter, Parameters, Shape};
use crate::operation::Comm;
use crate::pattern::complete::Complete;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Barrier,
    name: "mcs",
    summary: "Flags go up a k-ary tree in shared memory, and down a w-ary one.",
    parameters: &[
        Parameter {
            name: "arrival",
            kind: Kind::Count { least: 1 },
            default: Default::Count(4),
            help: "k: maximum number of flags that a rank waits for on the way up",
        },
        Parameter {
            name: "wake_up",
            kind: Kind::Count { least: 1 },
            default: Default::Count(2),
            help: "w: maximum number of ranks that wait for a flag on the way down",
        },
    ],
    needs: Needs::SHARED_MEMORY,
    ordered: true,
    alone: true,
    formula: "at most (k⌈log_k p⌉+⌈log_w p⌉)t_W, p>k",
    cost,
    source: "Mellor-Crummey, Scott, ACM TOCS 9(1), 1991",
    run,
};

fn tree(ranks: usize, parameters: &Parameters, way: &str) -> Complete {
    Complete { ranks, radix: parameters.count(way) }
}

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    let gathered = flags::gathered(&tree(shape.ranks, parameters, "arrival"), 0);
    let released = flags::released(&tree(shape.ranks, parameters, "wake_up"));
    Cost { notified: (gathered + released) as f64, ..Cost::default() }
}

fn run(comm: &mut dyn Comm, _: &Call, parameters: &Parameters) {
    let p = comm.size();
    if p > 1 {
        flags::gather(comm, &tree(p, parameters, "arrival"));
        flags::release(comm, &tree(p, parameters, "wake_up"));
    }
}
