//! Every rank exchanges its partial result with a partner twice as far away each round.
//!
//! In round k (distance d = 2^k) core rank c exchanges everything it has with c ⊕ d and folds the two in rank order, so
//! both hold the same bits. For p that is no power of two, the even ranks of the first 2·(p − 2^⌊log2 p⌋) ranks first
//! hand their contribution to their right neighbour, and get the result from it at the end.
//!
//! State at p = 7 (core ranks are 1 3 5 6; ab = a∘b):
//!
//! ```text
//! rank      0    1        2    3        4    5        6
//! start     0    1        2    3        4    5        6
//! hand in   -    01       -    23       -    45       6
//! round 0   -    0123     -    0123     -    456      456
//! round 1   -    0..6     -    0..6     -    0..6     0..6
//! hand out  0..6 0..6     0..6 0..6     0..6 0..6     0..6
//! ```
//!
//! Cost: q(α + nβ + nγ), and for p ≠ 2^k two more messages and one more fold around ⌊log2 p⌋ rounds.
//! Needs: nothing. Memory: n bytes of scratch.
//!
//! Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of Collective Communication Operations in MPICH",
//! IJHPCA 19(1), 2005. Departures: 1. the fold takes the lower core rank's part on the left, so the algorithm is
//! ordered and its result identical on all ranks.

use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::pattern::hypercube::{Folding, Part};
use crate::schedule::{Comm, Range};

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Allreduce,
    name: "recursive_doubling",
    summary: "Every rank exchanges its partial result with a partner twice as far away each round.",
    parameters: &[],
    needs: Needs::NOTHING,
    ordered: true,
    formula: "q(α+nβ+nγ); p≠2^k: (⌊log2 p⌋+2)(α+nβ)+(⌊log2 p⌋+1)nγ",
    cost,
    source: "Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005",
    run,
};

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    let folding = Folding::power_of_two(shape.ranks);
    let doublings = f64::from(folding.core().ilog2());
    let (messages, folds) =
        if folding.extra() > 0 { (doublings + 2.0, doublings + 1.0) } else { (doublings, doublings) };
    let n = shape.bytes as f64;
    Cost { rounds: messages, bytes: messages * n, folded: folds * n }
}

fn run(comm: &mut dyn Comm, call: &Call, _: &Parameters) {
    let folding = Folding::power_of_two(comm.size());
    let (own, result) = (Range::send(0, call.count), Range::receive(0, call.count));
    match folding.part(comm.rank()) {
        Part::Extra { proxy } => {
            comm.send(proxy, own);
            comm.recv(proxy, result);
        }
        Part::Proxy { extra, core } => {
            let incoming = comm.scratch(call.count);
            comm.recv(extra, incoming);
            comm.fold(incoming, own, result);
            double(comm, folding, core, result, result, incoming);
            comm.send(extra, result);
        }
        Part::Base { core } => {
            if folding.core() == 1 {
                comm.copy(own, result);
                return;
            }
            let incoming = comm.scratch(call.count);
            double(comm, folding, core, own, result, incoming);
        }
    }
}

/// The rounds of the core; the first one folds straight out of `own`, which saves a copy.
fn double(comm: &mut dyn Comm, folding: Folding, core: usize, own: Range, result: Range, incoming: Range) {
    let mut held = own;
    let mut distance = 1;
    while distance < folding.core() {
        let partner = folding.rank(core ^ distance);
        comm.sendrecv(partner, held, partner, incoming);
        if core & distance == 0 {
            comm.fold(held, incoming, result);
        } else {
            comm.fold(incoming, held, result);
        }
        held = result;
        distance <<= 1;
    }
}
