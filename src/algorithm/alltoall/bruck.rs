//! Blocks travel by the digits of the distance that they have to go, many in one message.
//!
//! First a rank turns its blocks so that place i holds the one for the rank i further on. In the round of digit z at
//! weight w = k^j, the blocks at all places with that digit go z·w ranks on, to the same places there. Last, place i
//! holds the block of the rank i further back, and the blocks are turned into rank order.
//!
//! State at p = 5, k = 2 (from whom the blocks in places 0 … 4 stem):
//!
//! ```text
//! rank       0          1          2          3          4
//! start      0,0,0,0,0  1,1,1,1,1  2,2,2,2,2  3,3,3,3,3  4,4,4,4,4
//! weight 1   0,4,0,4,0  1,0,1,0,1  2,1,2,1,2  3,2,3,2,3  4,3,4,3,4
//! weight 2   0,4,3,2,0  1,0,4,3,1  2,1,0,4,2  3,2,1,0,3  4,3,2,1,4
//! weight 4   0,4,3,2,1  1,0,4,3,2  2,1,0,4,3  3,2,1,0,4  4,3,2,1,0
//! turned     0,1,2,3,4  everywhere
//! ```
//!
//! Cost: ⌈log_k p⌉ rounds of k−1 messages of at most about (p/k)b bytes; for k = 2 at most qα + q(p/2)bβ. Needs:
//! nothing. Memory: pb bytes of scratch, in place as well; the receive buffer serves as working space.
//!
//! Source: J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby, "Efficient Algorithms for All-to-All Communications
//! in Multiport Message-Passing Systems", IEEE TPDS 8(11), 1997; on the radix also K. Fan, T. Gilray, V. Pascucci, X.
//! Huang, K. Micinski, S. Kumar, "Optimizing the Bruck Algorithm for Non-uniform All-to-all Communication", HPDC 2022.
//! Departures: 1. the k−1 messages of a round go one after the other, so that no more than p blocks are in working
//! space.

use crate::algorithm::engine::digits::{self, Digit};
use crate::algorithm::{Algorithm, Call, Cost, Default, Kind, Needs, Operation, Parameter, Parameters, Shape};
use crate::operation::{Comm, Range};

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Alltoall,
    name: "bruck",
    summary: "Blocks travel by the digits of the distance that they have to go, many in one message.",
    parameters: &[Parameter {
        name: "radix",
        kind: Kind::Count { least: 2 },
        default: Default::Count(2),
        help: "k: base of the digits; more means more messages and fewer bytes",
    }],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "at most (k−1)⌈log_k p⌉(α+(p/k)bβ)",
    cost,
    source: "Bruck, Ho, Kipnis, Upfal, Weathersby, IEEE TPDS 8(11), 1997",
    run,
};

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    // All blocks are rotated before and after.
    let rotated = Cost { packed: (2 * shape.ranks * shape.bytes) as f64, ..Cost::default() };
    digits::cost(shape, parameters.count("radix"), |digit| digits::copies(digit, shape.ranks)) + rotated
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    let (p, r, b) = (comm.size(), comm.rank(), call.count);
    let turned = comm.scratch(p * b);
    comm.copy(Range::send(r * b, (p - r) * b), turned.part(0, (p - r) * b));
    comm.copy(Range::send(0, r * b), turned.part((p - r) * b, r * b));
    // From here on nothing of the send buffer is needed, which in place is the receive buffer.
    let rooms = [0, p / 2].map(|place| Range::receive(place * b, p / 2 * b));
    for digit in Digit::all(p, parameters.count("radix")) {
        let partners = ((r + digit.distance()) % p, (r + p - digit.distance()) % p);
        digits::exchange(comm, (turned, b), digit.runs(p), partners, rooms);
    }
    for i in 0..p {
        comm.copy(turned.part(i * b, b), Range::receive((r + p - i) % p * b, b));
    }
}
