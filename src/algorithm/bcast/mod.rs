//! The bcast algorithms.

use super::Algorithm;

pub(super) mod binary;
mod bine;
pub(super) mod binomial;
pub(super) mod chain;
mod circulant;
mod double_tree;
pub(super) mod fibonacci;
pub(super) mod hierarchical;
mod hypercube;
pub(super) mod kary;
pub(super) mod knomial;
mod linear;
pub(super) mod mesh;
pub(super) mod pipeline;
mod ring;
mod scatter_allgather;
mod scatter_ring_allgather;
mod shared_queue;
mod split_binary;

/// The rows, in the order in which they are listed.
pub const ROWS: &[&Algorithm] = &[
    &linear::ROW,
    &kary::ROW,
    &binary::ROW,
    &binomial::ROW,
    &knomial::ROW,
    &fibonacci::ROW,
    &chain::ROW,
    &pipeline::ROW,
    &split_binary::ROW,
    &scatter_allgather::ROW,
    &scatter_ring_allgather::ROW,
    &double_tree::ROW,
    &circulant::ROW,
    &hypercube::ROW,
    &ring::ROW,
    &mesh::ROW,
    &bine::ROW,
    &hierarchical::ROW,
    &shared_queue::ROW,
];
