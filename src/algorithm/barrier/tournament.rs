//! Ranks meet in pairs in shared memory, the loser of round j tells the winner, and all wait for the flag of rank 0.
//!
//! Who wins is settled beforehand: in round j rank r waits for r + 2^j if it is a multiple of 2^{j+1}, so that a loser
//! writes one flag and is done.
//!
//! State at p = 6 (`*` is still in):
//!
//! ```text
//! rank       0 1 2 3 4 5
//! start      * * * * * *
//! round 0    * . * . * .     0 has seen 1, 2 has seen 3, 4 has seen 5
//! round 1    * . . . * .     0 has seen 2
//! round 2    * . . . . .     0 has seen 4
//! released   * * * * * *
//! ```
//!
//! Cost: (q + 1)t_W. Needs: shared memory. Memory: a flag for each rank.
//!
//! Source: D. Hensgen, R. Finkel, U. Manber, "Two Algorithms for Barrier Synchronization", IJPP 17(1), 1988; J.
//! Mellor-Crummey, M. Scott, ACM TOCS 9(1), 1991.

use crate::algorithm::engine::flags;
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::Comm;
use crate::pattern::knomial::Knomial;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Barrier,
    name: "tournament",
    summary: "Ranks meet in pairs in shared memory; the loser of each signals the winner; all wait for rank 0's flag.",
    parameters: &[],
    needs: Needs::SHARED_MEMORY,
    ordered: true,
    alone: true,
    formula: "(q+1)t_W",
    cost,
    source: "Hensgen, Finkel, Manber, IJPP 17(1), 1988",
    run,
};

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    let gathered = flags::gathered(&Knomial::binomial(shape.ranks), 0);
    Cost { notified: if shape.ranks > 1 { gathered as f64 + 1.0 } else { 0.0 }, ..Cost::default() }
}

fn run(comm: &mut dyn Comm, _: &Call, _: &Parameters) {
    let tree = Knomial::binomial(comm.size());
    if tree.ranks == 1 {
        return;
    }
    flags::gather(comm, &tree);
    if comm.rank() != 0 {
        comm.await_flag(0, 1);
    }
}
