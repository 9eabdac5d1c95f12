//! The alltoall algorithms.

use super::Algorithm;

mod bruck;
mod hierarchical;
mod linear;
mod modified_bruck;
mod pairwise;
mod two_process;

/// The rows, in the order in which they are listed.
pub const ROWS: &[&Algorithm] =
    &[&linear::ROW, &pairwise::ROW, &bruck::ROW, &modified_bruck::ROW, &two_process::ROW, &hierarchical::ROW];
