//! The barrier algorithms.
//!
//! Their messages have no units: that they come is all they say. The last eight send none: they raise and read flags in
//! shared memory.

use super::Algorithm;

mod central_counter;
mod combining_tree;
mod dissemination;
mod double_ring;
mod flat_gather_release;
mod flat_tree;
mod hierarchical;
mod linear;
mod mcs;
mod numa_hierarchical;
mod recursive_doubling;
mod shared_dissemination;
mod tournament;
mod tree;

/// The rows, in the order in which they are listed.
pub const ROWS: &[&Algorithm] = &[
    &linear::ROW,
    &double_ring::ROW,
    &dissemination::ROW,
    &recursive_doubling::ROW,
    &tree::ROW,
    &hierarchical::ROW,
    &central_counter::ROW,
    &flat_tree::ROW,
    &flat_gather_release::ROW,
    &combining_tree::ROW,
    &mcs::ROW,
    &tournament::ROW,
    &shared_dissemination::ROW,
    &numa_hierarchical::ROW,
];
