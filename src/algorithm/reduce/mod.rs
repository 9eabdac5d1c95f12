//! The reduce algorithms.

use super::Algorithm;

mod binary;
mod bine;
pub(super) mod binomial;
mod chain;
mod circulant;
mod double_tree;
mod fibonacci;
mod hierarchical;
mod hypercube;
mod in_order_binary;
mod kary;
mod knomial;
mod linear;
mod mesh;
mod pipeline;
mod preorder_binary;
mod reduce_scatter_gather;
mod ring;
mod shared_slices;

/// The rows, in the order in which they are listed.
pub const ROWS: &[&Algorithm] = &[
    &linear::ROW,
    &chain::ROW,
    &pipeline::ROW,
    &kary::ROW,
    &binary::ROW,
    &binomial::ROW,
    &knomial::ROW,
    &in_order_binary::ROW,
    &preorder_binary::ROW,
    &fibonacci::ROW,
    &reduce_scatter_gather::ROW,
    &double_tree::ROW,
    &circulant::ROW,
    &hypercube::ROW,
    &ring::ROW,
    &mesh::ROW,
    &bine::ROW,
    &hierarchical::ROW,
    &shared_slices::ROW,
];
