//! A butterfly whose partners swing to and fro, at about two thirds of a hypercube's distance.
//!
//! In round k even ranks meet r + ρ(k) and odd ranks r − ρ(k) modulo p, with ρ(k) = (1 − (−2)^{k+1})/3. With
//! `variant=bandwidth` the two halve the blocks that both hold, and the same rounds backwards hand the finished blocks
//! out; with `variant=latency` they exchange and fold everything, the last round first. For p that is no power of two,
//! the even ranks of the first 2·(p − 2^⌊log2 p⌋) ranks first hand their contribution to their right neighbour, and get
//! the result from it.
//!
//! Partners at p = 8, and the blocks held after each round of `variant=bandwidth` (the vector is abcdefgh):
//!
//! ```text
//! rank              0     1     2     3     4     5     6     7
//! round 0, ρ = 1    1     0     3     2     5     4     7     6
//!                   abcd  efgh  efgh  abcd  abcd  efgh  efgh  abcd
//! round 1, ρ = −1   7     2     1     4     3     6     5     0
//!                   ab    gh    ef    ab    cd    ef    gh    cd
//! round 2, ρ = 3    3     6     5     0     7     2     1     4
//!                   a     h     e     b     c     f     g     d
//! ```
//!
//! Cost: `latency` as recursive_doubling, `bandwidth` as rabenseifner, over shorter links. Needs: a commutative
//! operation, since the ranks that have met are not consecutive. Memory: n bytes of scratch (n/2 for `bandwidth`, n at
//! proxies).
//!
//! Source: D. De Sensi, T. Bonato, D. Saam, T. Hoefler, "Swing: Short-cutting Rings for Higher Bandwidth Allreduce",
//! NSDI 2024. Departures: 1. one port and one dimension; 2. p that is no power of two is folded; 3. blocks are numbered
//! so that what is sent is contiguous, since in an allreduce nobody cares who finishes which block; 4. the latency
//! variant goes from the farthest partner to the nearest, as only then all ranks fold alike and get the same bits.

use crate::algorithm::engine::butterfly;
use crate::algorithm::{Algorithm, Call, Cost, Default, Kind, Needs, Operation, Parameter, Parameters, Shape};
use crate::operation::Comm;
use crate::pattern::butterfly::swing;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Allreduce,
    name: "swing",
    summary: "A butterfly whose partners swing to and fro, at about two thirds of a hypercube's distance.",
    parameters: &[Parameter {
        name: "variant",
        kind: Kind::Word(&["latency", "bandwidth"]),
        default: Default::Word("bandwidth"),
        help: "latency exchanges whole vectors, bandwidth halves and doubles blocks",
    }],
    needs: Needs::NOTHING,
    ordered: false,
    alone: false,
    formula: "latency: as recursive_doubling; bandwidth: as rabenseifner",
    cost,
    source: "De Sensi, Bonato, Saam, Hoefler, NSDI 2024",
    run,
};

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    match parameters.word("variant") {
        "latency" => butterfly::whole_cost(shape, swing),
        _ => butterfly::blocks_cost(shape, swing),
    }
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    match parameters.word("variant") {
        "latency" => {
            butterfly::allreduce_whole(comm, call.count, |core, number| swing(core, number).into_iter().rev().collect())
        }
        _ => butterfly::allreduce_blocks(comm, call.count, swing),
    }
}
