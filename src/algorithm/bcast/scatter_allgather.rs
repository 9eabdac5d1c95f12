//! The root scatters the message down a binomial tree; recursive doubling then brings all parts to everyone.
//!
//! Ranks are counted from the root: v = (r − root) mod p. The core, the first c = 2^⌊log2 p⌋ of them, has one block of
//! the message each. Going down, v sends to v + d (d = c/2, c/4, …) the blocks of that child's subtree; then, with
//! d = 1, 2, …, v exchanges all it has with v ⊕ d. The root, which lacks nothing, only sends: its buffer may be memory
//! that can only be read. A rank v ≥ c gets the whole message from v − c at the end.
//!
//! State at p = 7 (core 0 1 2 3, blocks held):
//!
//! ```text
//! v         0    1    2    3    4    5    6
//! start     0123 .    .    .    .    .    .
//! round 0   0123 .    23   .    .    .    .
//! round 1   0123 1    23   3    .    .    .
//! round 2   0123 01   23   23   .    .    .
//! round 3   0123 0123 0123 0123 .    .    .
//! hand out  0123 0123 0123 0123 0123 0123 0123
//! ```
//!
//! Cost: 2qα + 2((p−1)/p)nβ; for p ≠ 2^k that of the core and one more α + nβ. Needs: nothing. Memory: none.
//!
//! Source: M. Barnett, L. Shuler, R. van de Geijn, S. Gupta, D. G. Payne, J. Watts, "Interprocessor collective
//! communication library (InterCom)", SHPCC 1994; Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005. Departures: 1. ranks
//! beyond the power of two stand aside until the end, instead of being served between the rounds. 2. Nothing is sent
//! to the root.

use crate::algorithm::engine::scatter;
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::{Comm, Range};
use crate::pattern::blocks::Blocks;
use crate::pattern::hypercube::floor_log2;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Bcast,
    name: "scatter_allgather",
    summary: "The root scatters the message down a binomial tree; recursive doubling brings all parts to everyone.",
    parameters: &[],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "2qα+2((p−1)/p)nβ; p≠2^k, c=2^⌊log2 p⌋: (2log2 c+1)α+(2(c−1)/c+1)nβ",
    cost,
    source: "Barnett et al., SHPCC 1994; Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005",
    run,
};

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    let core = 1 << floor_log2(shape.ranks);
    let blocks = Blocks::new(shape.bytes / shape.unit, core);
    let halves = std::iter::successors(Some(core / 2), |half| Some(half / 2)).take_while(|half| *half > 0);
    let moved: usize = halves.map(|half| blocks.span(0..half).len() * shape.unit).sum();
    let hand_out = if core < shape.ranks { 1.0 } else { 0.0 };
    Cost {
        rounds: 2.0 * f64::from(floor_log2(shape.ranks)) + hand_out,
        bytes: 2.0 * moved as f64 + hand_out * shape.bytes as f64,
        ..Cost::default()
    }
}

fn run(comm: &mut dyn Comm, call: &Call, _: &Parameters) {
    let (p, root) = (comm.size(), call.root);
    let v = (comm.rank() + p - root) % p;
    let rank = |v: usize| (v + root) % p;
    let message = Range::receive(0, call.count);
    let core = 1 << floor_log2(p);
    if v >= core {
        comm.recv(rank(v - core), message);
        return;
    }
    let blocks = Blocks::new(call.count, core);
    scatter::binomial(comm, core, v, rank, |held| message.slice(&blocks.span(held)));
    let mut distance = 1;
    while distance < core {
        let of = |v: usize| message.slice(&blocks.span((v & !(distance - 1))..(v & !(distance - 1)) + distance));
        let partner = v ^ distance;
        match (v, partner) {
            (0, _) => comm.send(rank(partner), of(v)),
            (_, 0) => comm.recv(rank(partner), of(partner)),
            _ => comm.sendrecv(rank(partner), of(v), rank(partner), of(partner)),
        }
        distance <<= 1;
    }
    if v + core < p {
        comm.send(rank(v + core), message);
    }
}
