//! The allreduce algorithms.

use super::Algorithm;

mod recursive_doubling;

/// The rows, in the order in which they are listed.
pub const ROWS: &[&Algorithm] = &[&recursive_doubling::ROW];
