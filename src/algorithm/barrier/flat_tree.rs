//! Rank 0 reads the flag of every rank in turn, then raises its own, for which all wait.
//!
//! State at p = 4 (whom rank 0 has seen, then who goes on):
//!
//! ```text
//! seen       0   0 1   0 1 2   0 1 2 3
//! released   0 1 2 3
//! ```
//!
//! Cost: p·t_W. Needs: shared memory. Memory: a flag for each rank.
//!
//! Source: M. Kurnosov's lectures on collective operations; as in Open MPI's coll/sm with a flat tree.

use crate::algorithm::engine::flags;
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::Comm;
use crate::pattern::chain::Star;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Barrier,
    name: "flat_tree",
    summary: "Rank 0 reads every rank's flag in shared memory in turn, then raises its own, for which all wait.",
    parameters: &[],
    needs: Needs::SHARED_MEMORY,
    ordered: true,
    alone: true,
    formula: "p·t_W",
    cost,
    source: "Kurnosov, lectures on collective operations; Open MPI coll/sm",
    run,
};

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    Cost { notified: if shape.ranks > 1 { shape.ranks as f64 } else { 0.0 }, ..Cost::default() }
}

fn run(comm: &mut dyn Comm, _: &Call, _: &Parameters) {
    let tree = Star { ranks: comm.size(), center: 0 };
    if tree.ranks == 1 {
        return;
    }
    flags::gather(comm, &tree);
    if comm.rank() != 0 {
        comm.await_flag(0, 1);
    }
}
