//! The allreduce algorithms.

use super::Algorithm;

mod allgather_reduce;
mod bine;
mod linear;
mod rabenseifner;
mod recursive_doubling;
mod recursive_multiplying;
mod ring;
mod segmented_ring;
mod swing;

/// The rows, in the order in which they are listed.
pub const ROWS: &[&Algorithm] = &[
    &linear::ROW,
    &recursive_doubling::ROW,
    &recursive_multiplying::ROW,
    &rabenseifner::ROW,
    &ring::ROW,
    &segmented_ring::ROW,
    &allgather_reduce::ROW,
    &swing::ROW,
    &bine::ROW,
];
