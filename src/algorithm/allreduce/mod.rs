//! The allreduce algorithms.

use super::Algorithm;

mod allgather_reduce;
mod bine;
mod circulant;
mod double_tree;
mod dual_root;
mod hierarchical;
mod linear;
pub(super) mod rabenseifner;
mod recursive_doubling;
mod recursive_multiplying;
mod reduce_bcast;
mod ring;
mod segmented_ring;
mod shared_slices;
mod swing;

/// The rows, in the order in which they are listed.
pub const ROWS: &[&Algorithm] = &[
    &reduce_bcast::ROW,
    &linear::ROW,
    &recursive_doubling::ROW,
    &recursive_multiplying::ROW,
    &rabenseifner::ROW,
    &ring::ROW,
    &segmented_ring::ROW,
    &allgather_reduce::ROW,
    &circulant::ROW,
    &double_tree::ROW,
    &dual_root::ROW,
    &swing::ROW,
    &bine::ROW,
    &hierarchical::ROW,
    &shared_slices::ROW,
];
