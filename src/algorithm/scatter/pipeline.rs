//! One chain of ranks starts at the root; blocks travel along it one by one.
//!
//! Ranks are counted from the root: v = (r − root) mod p. The root sends all blocks to its neighbour, the one for the
//! farthest rank first. Each rank relays what comes to v + 1, each block as soon as it is there, and keeps the last
//! one, which is its own. All blocks arrive in the same round. A `segment` cuts blocks, which saves memory on the way
//! but no time.
//!
//! State at p = 4 (block that came last):
//!
//! ```text
//! v         0       1       2       3
//! round 0   .       3       .       .
//! round 1   .       2       3       .
//! round 2   0       1       2       3
//! ```
//!
//! Cost: (p−1)(Sα + bβ) with S = ⌈b/s⌉. Needs: nothing. Memory: four segments.
//!
//! Source: the pipeline of M. Kurnosov's lectures, there for broadcast, with blocks in the place of segments.

use crate::algorithm::engine::relay::Stage;
use crate::algorithm::gather::pipeline::{SEGMENT, cost};
use crate::algorithm::{Algorithm, Call, Needs, Operation, Parameters};
use crate::operation::{Comm, Range};
use crate::pattern::segments::Segments;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Scatter,
    name: "pipeline",
    summary: "One chain of ranks starts at the root; blocks travel along it one by one.",
    parameters: &[SEGMENT],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "(p−1)(Sα+bβ)",
    cost,
    source: "Kurnosov, lectures on parallel computing",
    run,
};

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    let (p, r, b) = (comm.size(), comm.rank(), call.count);
    let v = (r + p - call.root) % p;
    let own = Range::receive(0, b);
    if v == 0 {
        comm.copy(Range::send(r * b, b), own);
    }
    let behind = p - 1 - v;
    let (sent, relayed) = if v == 0 { (behind, 0) } else { (0, behind) };
    let stage = Stage {
        from: (v > 0).then_some((r + p - 1) % p),
        to: (behind > 0).then_some((r + 1) % p),
        sent,
        source: |block| Range::send((r + p - 1 - block) % p * b, b),
        relayed,
        kept: usize::from(v > 0),
        sink: |_| own,
        segments: Segments::new(b, call.units_in(parameters.count("segment"))),
    };
    stage.run(comm);
}
