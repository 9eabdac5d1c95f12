//! The allgather algorithms.

use super::Algorithm;

mod ring;

/// The rows, in the order in which they are listed.
pub const ROWS: &[&Algorithm] = &[&ring::ROW];
