//! The root calls the ranks up one after the other; each sends a first part, and the rest while the next is called.
//!
//! The root posts the receives for a rank's first part and for its rest, sends it an empty message as a go-ahead, waits
//! for the first part and goes on to the next rank. So no more than two ranks send at a time and every block has a
//! receive waiting for it, whatever p. Blocks of at most `first_segment` bytes have no rest.
//!
//! Messages at p = 3, root 0:
//!
//! ```text
//! rank      0             1             2
//! round 0   go to 1
//! round 1   get first     first to 0
//! round 2   go to 2       rest to 0
//! round 3   get first                   first to 0
//! round 4   get rest                    rest to 0
//! ```
//!
//! Cost: (2p − 1)α + (p−1)bβ; 2(p−1)α + (p−1)bβ where there is no rest. Needs: nothing. Memory: none.
//!
//! Source: Open MPI `linear_sync`.

use crate::algorithm::{Algorithm, Call, Cost, Default, Kind, Needs, Operation, Parameter, Parameters, Shape};
use crate::operation::{Comm, Range, Requests};

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Gather,
    name: "linear_sync",
    summary: "The root asks the ranks one after the other; each sends a first part, then the rest.",
    parameters: &[Parameter {
        name: "first_segment",
        kind: Kind::Bytes,
        default: Default::Bytes(1024),
        help: "s: bytes of the first part, for which the root waits before it asks the next rank",
    }],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "(2p−1)α+(p−1)bβ; b≤s: 2(p−1)α+(p−1)bβ",
    cost,
    source: "Open MPI linear_sync",
    run,
};

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    let others = (shape.ranks - 1) as f64;
    let rest = shape.bytes > parameters.count("first_segment") && shape.ranks > 1;
    Cost { rounds: 2.0 * others + f64::from(u8::from(rest)), bytes: others * shape.bytes as f64, ..Cost::default() }
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    let (p, r, b) = (comm.size(), comm.rank(), call.count);
    let first = call.units_in(parameters.count("first_segment")).min(b);
    let parts = |block: Range| (block.part(0, first), (b > first).then(|| block.part(first, b - first)));
    let own = Range::send(0, b);
    let empty = comm.scratch(0);
    if r != call.root {
        let (first, rest) = parts(own);
        comm.recv(call.root, empty);
        let mut sends = Requests::new();
        sends.push(comm.isend(call.root, first));
        sends.extend(rest.map(|rest| comm.isend(call.root, rest)));
        comm.wait(&sends);
        return;
    }
    comm.copy(own, Range::receive(r * b, b));
    let mut arriving = Requests::new();
    for rank in (1..p).map(|distance| (r + distance) % p) {
        let (first, rest) = parts(Range::receive(rank * b, b));
        let first = comm.irecv(rank, first);
        arriving.extend(rest.map(|rest| comm.irecv(rank, rest)));
        let go_ahead = comm.isend(rank, empty);
        comm.wait(&[go_ahead, first]);
    }
    comm.wait(&arriving);
}
