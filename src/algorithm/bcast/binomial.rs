//! The message goes down a binomial tree, the farthest child first.
//!
//! Ranks are counted from the root: v = (r − root) mod p. v receives from v with its lowest set bit cleared, then sends
//! to v + d for every power of two d below that bit, the largest first, since that child has the largest subtree.
//!
//! State at p = 7 (`*` has the message):
//!
//! ```text
//! v         0 1 2 3 4 5 6
//! start     * . . . . . .
//! round 0   * . . . * . .
//! round 1   * . * . * . *
//! round 2   * * * * * * *
//! ```
//!
//! Cost: q(α + nβ). Needs: nothing. Memory: none.
//!
//! Source: folklore; as in Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005.

use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::pattern::hypercube::ceil_log2;
use crate::schedule::{Comm, Range, Requests};

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Bcast,
    name: "binomial",
    summary: "The message goes down a binomial tree, the farthest child first.",
    parameters: &[],
    needs: Needs::NOTHING,
    ordered: true,
    formula: "q(α+nβ)",
    cost,
    source: "folklore; Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005",
    run,
};

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    let rounds = f64::from(ceil_log2(shape.ranks));
    Cost { rounds, bytes: rounds * shape.bytes as f64, folded: 0.0 }
}

fn run(comm: &mut dyn Comm, call: &Call, _: &Parameters) {
    let (p, root) = (comm.size(), call.root);
    let v = (comm.rank() + p - root) % p;
    let message = Range::receive(0, call.count);
    let lowest = if v == 0 { p.next_power_of_two() } else { v & v.wrapping_neg() };
    if v != 0 {
        comm.recv((v - lowest + root) % p, message);
    }
    let mut sends = Requests::new();
    let mut distance = lowest >> 1;
    while distance > 0 {
        if v + distance < p {
            sends.push(comm.isend((v + distance + root) % p, message));
        }
        distance >>= 1;
    }
    comm.wait(&sends);
}
