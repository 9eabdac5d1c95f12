//! The bcast algorithms.

use super::Algorithm;

mod binary;
mod bine;
mod binomial;
mod chain;
mod circulant;
mod double_tree;
mod fibonacci;
mod hierarchical;
mod hypercube;
mod kary;
mod knomial;
mod linear;
mod mesh;
mod pipeline;
mod ring;
mod scatter_allgather;
mod scatter_ring_allgather;
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
];
