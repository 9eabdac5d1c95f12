//! The Bine butterfly: partners are chosen by negabinary digits, which keeps the links short on grouped networks.
//!
//! With ρ(k) = (1 − (−2)^{k+1})/3, even ranks meet r + ρ and odd ranks r − ρ modulo p. `variant=latency` takes the
//! distances from the longest to the shortest and exchanges and folds everything. `variant=bandwidth` takes them from the
//! shortest, so that the largest parts travel the least: the blocks that both hold are halved, by the digits of the
//! rank's negabinary label, and the same rounds backwards hand the finished blocks out. For p that is no power of two,
//! the even ranks of the first 2·(p − 2^⌊log2 p⌋) ranks first hand their contribution to their right neighbour, and get
//! the result from it.
//!
//! Contributions met at p = 8, `variant=latency`, by rank 0 (partners 3, 7, 1):
//!
//! ```text
//! start     0
//! round 0   0 3          ρ = 3
//! round 1   0 3 7 4      ρ = −1, from rank 7, which met 4
//! round 2   all          ρ = 1, from rank 1, which met 6, then 2 with 5
//! ```
//!
//! Cost: `latency` as recursive_doubling, `bandwidth` as rabenseifner. Needs: a commutative operation, since the ranks
//! that have met are not consecutive. Memory: n bytes of scratch (n/2 for `bandwidth`, n at proxies).
//!
//! Source: D. De Sensi, S. Pasqualoni, L. Piarulli, T. Bonato, S. Ba, M. Turisini, J. Domke, T. Hoefler, "Bine Trees:
//! Enhancing Collective Operations by Optimizing Communication Locality", SC 2025. Departures: 1. p that is no power of
//! two is folded; 2. blocks stay in the place that the label gives them, so nothing is permuted or sent twice, since in
//! an allreduce nobody cares who finishes which block; 3. blocks may be empty, so any count will do.

use crate::algorithm::engine::butterfly;
use crate::algorithm::{Algorithm, Call, Cost, Default, Kind, Needs, Operation, Parameter, Parameters, Shape};
use crate::pattern::butterfly::bine;
use crate::schedule::Comm;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Allreduce,
    name: "bine",
    summary: "The Bine butterfly: partners are chosen by negabinary digits, which keeps links short.",
    parameters: &[Parameter {
        name: "variant",
        kind: Kind::Word(&["latency", "bandwidth"]),
        default: Default::Word("bandwidth"),
        help: "latency exchanges whole vectors, bandwidth halves and doubles blocks",
    }],
    needs: Needs::NOTHING,
    ordered: false,
    formula: "latency: as recursive_doubling; bandwidth: as rabenseifner",
    cost,
    source: "De Sensi et al., SC 2025",
    run,
};

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    match parameters.word("variant") {
        "latency" => butterfly::whole_cost(shape),
        _ => butterfly::blocks_cost(shape),
    }
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    match parameters.word("variant") {
        "latency" => {
            butterfly::allreduce_whole(comm, call.count, |core, number| bine(core, number).into_iter().rev().collect())
        }
        _ => butterfly::allreduce_blocks(comm, call.count, bine),
    }
}
