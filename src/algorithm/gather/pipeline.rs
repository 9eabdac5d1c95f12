//! One chain of ranks ends at the root; blocks travel along it one by one.
//!
//! Ranks are counted from the root: v = (r − root) mod p. Each rank sends its block to v − 1 and then relays those that
//! come from v + 1, each as soon as it is there. So the root gets the blocks of v = 1, 2, … in that order, one after
//! the other without a gap, from its neighbour only. A `segment` cuts blocks, which saves memory on the way but no
//! time.
//!
//! State at p = 4 (blocks that have come by; `>` marks the one sent next):
//!
//! ```text
//! v         0       1       2       3
//! start     0       >1      >2      >3
//! round 0   0,1     >2      >3      .
//! round 1   0..2    >3      .       .
//! round 2   0..3    .       .       .
//! ```
//!
//! Cost: (p−1)(Sα + bβ) with S = ⌈b/s⌉. Needs: nothing. Memory: four segments.
//!
//! Source: the pipeline of M. Kurnosov's lectures, there for broadcast, with blocks in the place of segments.

use crate::algorithm::engine::relay::Stage;
use crate::algorithm::{Algorithm, Call, Cost, Default, Kind, Needs, Operation, Parameter, Parameters, Shape};
use crate::operation::{Comm, Range};
use crate::pattern::segments::Segments;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Gather,
    name: "pipeline",
    summary: "One chain of ranks ends at the root; blocks travel along it one by one.",
    parameters: &[SEGMENT],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "(p−1)(Sα+bβ)",
    cost,
    source: "Kurnosov, lectures on parallel computing",
    run,
};

pub(in crate::algorithm) const SEGMENT: Parameter = Parameter {
    name: "segment",
    kind: Kind::Bytes,
    default: Default::Unlimited,
    help: "bytes of a message, at most a block; none: a block",
};

pub(in crate::algorithm) fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    let segments = Segments::new(shape.bytes, parameters.count("segment")).number();
    let others = (shape.ranks - 1) as f64;
    Cost { rounds: others * segments as f64, bytes: others * shape.bytes as f64, ..Cost::default() }
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    let (p, r, b) = (comm.size(), comm.rank(), call.count);
    let v = (r + p - call.root) % p;
    let own = Range::send(0, b);
    if v == 0 {
        comm.copy(own, Range::receive(r * b, b));
    }
    let behind = p - 1 - v;
    let (relayed, kept) = if v == 0 { (0, behind) } else { (behind, 0) };
    let stage = Stage {
        from: (behind > 0).then_some((r + 1) % p),
        to: (v > 0).then_some((r + p - 1) % p),
        sent: usize::from(v > 0),
        source: |_| own,
        relayed,
        kept,
        sink: |block| Range::receive((r + 1 + block) % p * b, b),
        segments: Segments::new(b, call.units_in(parameters.count("segment"))),
    };
    stage.run(comm);
}
