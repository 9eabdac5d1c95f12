//! Everyone writes its vector into shared memory and reduces a slice of all of them; the root copies the slices.
//!
//! Each contribution is read once. Vectors that fit beside a flag are read by the root alone, in rank order.
//!
//! State at p = 3 with slices a, b, c (whose contributions each window holds):
//!
//! ```text
//! window of   0              1              2              root 0
//! written     a0 b0 c0       a1 b1 c1       a2 b2 c2       . . .
//! reduced     a012 b0 c0     a1 b012 c1     a2 b2 c012     a012 . .
//! copied      a012 b0 c0     a1 b012 c1     a2 b2 c012     a012 b012 c012
//! ```
//!
//! Cost: n ≤ 48: (p−1)t_W + nt + (p−1)nγ; else 2(p−1)t_W + 2nt + ((p−1)/p)nγ for each fill of a bank, and
//! (p−1)t_W more where there are several. Needs: shared memory. Memory: a window of each rank; n/p bytes of scratch.
//!
//! Source: S. Jain, R. Kaleem, M. Balmana, A. Langer, D. Durnov, A. Sannikov, M. Garzaran, "Framework for Scalable
//! Intra-Node Collective Operations using Shared Memory", SC18; as in MPICH's release-gather.

use crate::algorithm::engine::slices;
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::Comm;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Reduce,
    name: "shared_slices",
    summary: "Every rank writes its vector into shared memory and reduces a slice of all; the root copies the slices.",
    parameters: &[],
    needs: Needs::SHARED_MEMORY,
    ordered: true,
    alone: true,
    formula: "2(p−1)t_W+2nt+((p−1)/p)nγ; N=⌈n/w⌉, N>1: (2N+1)(p−1)t_W+2nt+((p−1)/p)nγ; n≤48: (p−1)t_W+nt+(p−1)nγ",
    cost,
    source: "Jain et al., SC18; MPICH release-gather",
    run,
};

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    slices::cost(shape)
}

fn run(comm: &mut dyn Comm, call: &Call, _: &Parameters) {
    slices::reduce(comm, call, Some(call.root));
}
