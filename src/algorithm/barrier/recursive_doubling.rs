//! In each round pairs of ranks twice as far apart tell each other that all they have heard of are there.
//!
//! In round k core rank c exchanges a message with c ⊕ 2^k. For p that is no power of two, the even ranks of the first
//! 2·(p − 2^⌊log2 p⌋) ranks first report to their right neighbour, and are released by it at the end.
//!
//! State at p = 7 (ranks heard of; core ranks are 1 3 5 6):
//!
//! ```text
//! rank       0    1        2    3        4    5        6
//! start      0    1        2    3        4    5        6
//! report     -    01       -    23       -    45       6
//! round 0    -    0123     -    0123     -    456      456
//! round 1    -    all      -    all      -    all      all
//! release    all  all      all  all      all  all      all
//! ```
//!
//! Cost: qα, for p ≠ 2^k (⌊log2 p⌋ + 2)α. Needs: nothing. Memory: none.
//!
//! Source: folklore; as in Open MPI's coll/base.

use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::{Comm, Range};
use crate::pattern::butterfly::hypercube;
use crate::pattern::hypercube::{Folding, Part};

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Barrier,
    name: "recursive_doubling",
    summary: "In each round every rank exchanges a signal with a partner twice as far away.",
    parameters: &[],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "qα; p≠2^k: (⌊log2 p⌋+2)α",
    cost,
    source: "folklore; Open MPI coll/base",
    run,
};

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    let fold = Folding::power_of_two(shape.ranks);
    let aside = if fold.extra() > 0 { 2.0 } else { 0.0 };
    Cost { rounds: f64::from(fold.core().ilog2()) + aside, ..Cost::default() }
}

fn run(comm: &mut dyn Comm, _: &Call, _: &Parameters) {
    let fold = Folding::power_of_two(comm.size());
    let nothing = comm.scratch(0);
    match fold.part(comm.rank()) {
        Part::Extra { proxy } => {
            comm.send(proxy, nothing);
            comm.recv(proxy, nothing);
        }
        Part::Proxy { extra, core } => {
            comm.recv(extra, nothing);
            exchange(comm, fold, core, nothing);
            comm.send(extra, nothing);
        }
        Part::Base { core } => exchange(comm, fold, core, nothing),
    }
}

fn exchange(comm: &mut dyn Comm, fold: Folding, core: usize, nothing: Range) {
    for step in fold.ranks_of(hypercube(fold.core(), core)) {
        comm.sendrecv(step.partner, nothing, step.partner, nothing);
    }
}
