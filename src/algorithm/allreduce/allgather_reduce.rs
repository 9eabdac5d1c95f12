//! Everyone gathers all contributions and reduces them for itself, in rank order.
//!
//! The contributions are gathered as by Bruck: a rank that holds those of d consecutive ranks from its own on sends
//! them to r − d and gets those that follow from r + d, so that ⌈log2 p⌉ rounds will do for any p. They lie in scratch,
//! counted from the own rank, and are folded from rank 0 on, so everyone computes the same expression.
//!
//! State at p = 7 (contributions held):
//!
//! ```text
//! rank      0        1        2        3        4        5        6
//! start     0        1        2        3        4        5        6
//! round 0   01       12       23       34       45       56       60
//! round 1   0123     1234     2345     3456     4560     5601     6012
//! round 2   all      all      all      all      all      all      all
//! fold      0..6     0..6     0..6     0..6     0..6     0..6     0..6
//! ```
//!
//! Cost: qα + (p−1)nβ + (p−1)nγ: for small n. Needs: nothing. Memory: pn bytes of scratch.
//!
//! Source: J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby, "Efficient Algorithms for All-to-All Communications
//! in Multiport Message-Passing Systems", IEEE TPDS 8(11), 1997, for the allgather.

use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::{Comm, Range};
use crate::pattern::hypercube::ceil_log2;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Allreduce,
    name: "allgather_reduce",
    summary: "Every rank gathers all contributions and reduces them itself, in rank order.",
    parameters: &[],
    needs: Needs::NOTHING,
    ordered: true,
    alone: false,
    formula: "qα+(p−1)nβ+(p−1)nγ",
    cost,
    source: "Bruck et al., IEEE TPDS 8(11), 1997 (allgather)",
    run,
};

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    let bytes = (shape.ranks - 1) as f64 * shape.bytes as f64;
    // The own contribution goes to the others' first.
    let packed = shape.bytes as f64;
    Cost { rounds: f64::from(ceil_log2(shape.ranks)), bytes, folded: bytes, packed, ..Cost::default() }
}

fn run(comm: &mut dyn Comm, call: &Call, _: &Parameters) {
    let (p, r, n) = (comm.size(), comm.rank(), call.count);
    let (own, result) = (Range::send(0, n), Range::receive(0, n));
    if p == 1 {
        comm.copy(own, result);
        return;
    }
    let all = comm.scratch(p * n);
    comm.copy(own, all.part(0, n));
    let mut held = 1;
    while held < p {
        let more = held.min(p - held);
        comm.sendrecv((r + p - held) % p, all.part(0, more * n), (r + held) % p, all.part(held * n, more * n));
        held += more;
    }
    let of = |rank: usize| all.part((rank + p - r) % p * n, n);
    let mut folded = of(0);
    for rank in 1..p {
        comm.fold(folded, of(rank), result);
        folded = result;
    }
}
