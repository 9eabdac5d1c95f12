//! Rank 0 reads the flag of every rank in turn, then releases each by a flag of its own.
//!
//! Each rank waits for a cache line that nobody else reads, so that the ranks do not all ask for one at once; rank 0
//! writes p−1 of them, which its processor does side by side.
//!
//! State at p = 4 (whom rank 0 has seen, then who goes on):
//!
//! ```text
//! seen       0   0 1   0 1 2   0 1 2 3
//! released   0   0 1   0 1 2   0 1 2 3
//! ```
//!
//! Cost: p·t_W, and p−1 stores. Needs: shared memory. Memory: two flags for each rank.
//!
//! Source: M. Kurnosov's lectures on collective operations; as in MVAPICH.

use crate::algorithm::engine::flags;
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape, Shared};
use crate::operation::Comm;
use crate::pattern::chain::Star;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Barrier,
    name: "flat_gather_release",
    summary: "Rank 0 reads every rank's flag in shared memory in turn, then releases each by a flag of its own.",
    parameters: &[],
    needs: Needs::SHARED_MEMORY,
    ordered: true,
    alone: true,
    formula: "p·t_W, and p−1 stores",
    cost,
    source: "Kurnosov, lectures on collective operations; MVAPICH",
    run,
};

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    Cost { notified: if shape.ranks > 1 { shape.ranks as f64 } else { 0.0 }, ..Cost::default() }
}

fn run(comm: &mut dyn Comm, _: &Call, _: &Parameters) {
    let p = comm.size();
    if p == 1 {
        return;
    }
    flags::gather(comm, &Star { ranks: p, center: 0 });
    match comm.rank() {
        0 => (1..p as u32).for_each(|rank| comm.shared(Shared::Release { rank })),
        _ => comm.shared(Shared::AwaitRelease),
    }
}
