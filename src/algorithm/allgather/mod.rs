//! The allgather algorithms.

use super::Algorithm;

mod bine;
mod bruck;
mod circulant;
mod direct;
mod hierarchical;
mod k_bruck;
mod k_ring;
mod linear;
mod neighbor_exchange;
mod recursive_doubling;
mod ring;
mod shared_copy;
mod sparbit;
mod two_process;

/// The rows, in the order in which they are listed.
pub const ROWS: &[&Algorithm] = &[
    &linear::ROW,
    &direct::ROW,
    &recursive_doubling::ROW,
    &bruck::ROW,
    &k_bruck::ROW,
    &ring::ROW,
    &k_ring::ROW,
    &neighbor_exchange::ROW,
    &two_process::ROW,
    &sparbit::ROW,
    &circulant::ROW,
    &bine::ROW,
    &hierarchical::ROW,
    &shared_copy::ROW,
];
