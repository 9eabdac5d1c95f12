//! A reduce-scatter that halves the blocks in every round, then an allgather that doubles them.
//!
//! In round k of the first half, core rank c keeps one half of the blocks that it still holds, the upper one where bit
//! k of c is set, hands the other half to c ⊕ 2^k, and folds what arrives into the half kept. After ⌊log2 p⌋ rounds
//! everyone holds one block, folded over all ranks; the second half walks the same rounds backwards and hands out the
//! finished blocks. For p that is no power of two, the even ranks of the first 2·(p − 2^⌊log2 p⌋) ranks first hand
//! their contribution to their right neighbour, and get the result from it at the end.
//!
//! State at p = 7 (core ranks are 1 3 5 6, the vector is the blocks a b c d; a:03 = block a folded over ranks 0 to 3):
//!
//! ```text
//! rank      0    1          2    3          4    5          6
//! start     0    1          2    3          4    5          6
//! hand in   -    abcd:01    -    abcd:23    -    abcd:45    abcd:6
//! round 0   -    ab:03      -    cd:03      -    ab:46      cd:46
//! round 1   -    a:06       -    c:06       -    b:06       d:06
//! round 2   -    ab:06      -    cd:06      -    ab:06      cd:06
//! round 3   -    all        -    all        -    all        all
//! hand out  all  all        all  all        all  all        all
//! ```
//!
//! Cost: 2qα + 2((p−1)/p)nβ + ((p−1)/p)nγ; for p ≠ 2^k two more messages of n bytes and one more fold around that cost
//! for 2^⌊log2 p⌋ ranks. Needs: nothing. Memory: n/2 bytes of scratch, n at proxies.
//!
//! Source: R. Rabenseifner, "Optimization of Collective Reduction Operations", ICCS 2004; R. Thakur, R. Rabenseifner,
//! W. Gropp, IJHPCA 19(1), 2005. Departures: 1. near partners come first and folds take the lower core rank's part on
//! the left, so rank order is kept; 2. blocks may be empty, so any count will do.

use crate::algorithm::engine::butterfly;
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::Comm;
use crate::pattern::butterfly::hypercube;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Allreduce,
    name: "rabenseifner",
    summary: "A reduce-scatter that halves the blocks in every round, then an allgather that doubles them.",
    parameters: &[],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "2qα+2((p−1)/p)nβ+((p−1)/p)nγ; p≠2^k, c=2^⌊log2 p⌋: (2log2 c+2)α+(2(c−1)/c+2)nβ+((c−1)/c+1)nγ",
    cost,
    source: "Rabenseifner, ICCS 2004; Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005",
    run,
};

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    butterfly::blocks_cost(shape, hypercube)
}

fn run(comm: &mut dyn Comm, call: &Call, _: &Parameters) {
    butterfly::allreduce_blocks(comm, call.count, hypercube);
}
