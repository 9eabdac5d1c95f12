//! The allgather algorithms.

use super::Algorithm;

mod bruck;
mod linear;
mod recursive_doubling;
mod ring;

/// The rows, in the order in which they are listed.
pub const ROWS: &[&Algorithm] = &[&linear::ROW, &recursive_doubling::ROW, &bruck::ROW, &ring::ROW];
