//! The Bine butterfly: partners at the distances of negabinary digits, which keeps the links short on grouped networks.
//!
//! Even ranks meet r + 1, r − 1, r + 3, r − 5, r + 11, … and odd ranks the other way round, modulo p.
//! `variant=bandwidth` takes these turns from the last to the first: a rank sends its partial folds of the blocks that
//! its partner answers for, which lie next to its own on the circle of blocks, and in the end has block r complete; the
//! turns from the first to the last hand the complete blocks out. So the largest messages travel the least. Where p is
//! no power of two, the last turn has fewer blocks, and for odd p, where parity pairs nobody, all ranks send the same
//! way.
//!
//! `variant=latency` exchanges and folds everything, the farthest partner first. For p that is no power of two, the
//! even ranks of the first 2·(p − 2^⌊log2 p⌋) ranks then first hand their contribution to their right neighbour, and
//! get the result from it.
//!
//! Blocks whose partial folds a rank still has, `variant=bandwidth`, p = 8 (modulo 8), then the same upwards:
//!
//! ```text
//! rank                    0      1      2      3      4      5      6      7
//! start                   all    all    all    all    all    all    all    all
//! round 0, distance 3     6..9   0..3   0..3   2..5   2..5   4..7   4..7   6..9
//! round 1, distance 1     0..1   0..1   2..3   2..3   4..5   4..5   6..7   6..7
//! round 2, distance 1     0      1      2      3      4      5      6      7
//! ```
//!
//! Cost: `bandwidth` as circulant, `latency` as recursive_doubling. Needs: a commutative operation, since the ranks
//! that have met are not in order. Memory: n bytes of scratch at most.
//!
//! Source: D. De Sensi, S. Pasqualoni, L. Piarulli, T. Bonato, S. Ba, M. Turisini, J. Domke, T. Hoefler, "Bine Trees:
//! Enhancing Collective Operations by Optimizing Communication Locality", SC 2025. Departures: 1. blocks stay in place
//! and only those that lie around the end of the vector are packed, so nothing is permuted or sent twice; 2. any p, in
//! the bandwidth variant with nobody standing aside; 3. the latency variant goes from the farthest partner to the
//! nearest, as only then all ranks fold alike and get the same bits, which makes it that of `swing`.

use crate::algorithm::engine::{arcs, butterfly};
use crate::algorithm::{Algorithm, Call, Cost, Default, Kind, Needs, Operation, Parameter, Parameters, Shape};
use crate::operation::Comm;
use crate::pattern::butterfly::swing;
use crate::pattern::turns::{bine, bine_together};

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Allreduce,
    name: "bine",
    summary: "The Bine butterfly: partners at the distances of negabinary digits, which keeps links short.",
    parameters: &[Parameter {
        name: "variant",
        kind: Kind::Word(&["latency", "bandwidth"]),
        default: Default::Word("bandwidth"),
        help: "latency exchanges whole vectors, bandwidth exchanges blocks on the way in and out",
    }],
    needs: Needs::NOTHING,
    ordered: false,
    alone: false,
    formula: "latency: as recursive_doubling; bandwidth: as circulant",
    cost,
    source: "De Sensi et al., SC 2025",
    run,
};

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    match parameters.word("variant") {
        "latency" => butterfly::whole_cost(shape, swing),
        _ => arcs::allreduce_cost(shape, bine(shape.ranks, 0), bine_together(shape.ranks)),
    }
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    match parameters.word("variant") {
        "latency" => {
            butterfly::allreduce_whole(comm, call.count, |core, number| swing(core, number).into_iter().rev().collect())
        }
        _ => {
            let turns = bine(comm.size(), comm.rank());
            arcs::allreduce(comm, call.count, turns);
        }
    }
}
