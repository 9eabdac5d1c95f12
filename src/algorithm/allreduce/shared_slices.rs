//! Everyone writes its vector into shared memory, reduces a slice of all of them, and copies the other slices.
//!
//! Each contribution is read once. Vectors that fit beside a flag are read by everyone, in rank order: one wait less,
//! and everyone folds alike.
//!
//! State at p = 3 with slices a, b, c (whose contributions each window holds):
//!
//! ```text
//! window of   0              1              2              everyone
//! written     a0 b0 c0       a1 b1 c1       a2 b2 c2       . . .
//! reduced     a012 b0 c0     a1 b012 c1     a2 b2 c012     own slice
//! copied      a012 b0 c0     a1 b012 c1     a2 b2 c012     a012 b012 c012
//! ```
//!
//! Cost: n ≤ 48: (p−1)t_W + nt + (p−1)nγ; else 2(p−1)t_W + 2nt + ((p−1)/p)nγ for each fill of a bank, and
//! (p−1)t_W more where there are several. Needs: shared memory. Memory: a window of each rank.
//!
//! Source: S. Jain, R. Kaleem, M. Balmana, A. Langer, D. Durnov, A. Sannikov, M. Garzaran, "Framework for Scalable
//! Intra-Node Collective Operations using Shared Memory", SC18; as in MPICH's release-gather.

use crate::algorithm::engine::slices;
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::Comm;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Allreduce,
    name: "shared_slices",
    summary: "Every rank writes its vector into shared memory, reduces a slice of all, and copies the other slices.",
    parameters: &[],
    needs: Needs::SHARED_MEMORY,
    ordered: true,
    alone: false,
    formula: "2(p−1)t_W+2nt+((p−1)/p)nγ; N=⌈n/w⌉, N>1: (2N+1)(p−1)t_W+2nt+((p−1)/p)nγ; n≤48: (p−1)t_W+nt+(p−1)nγ",
    cost,
    source: "Jain et al., SC18; MPICH release-gather",
    run,
};

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    slices::cost(shape)
}

fn run(comm: &mut dyn Comm, call: &Call, _: &Parameters) {
    slices::reduce(comm, call, None);
}
