//! The barrier algorithms.

use super::Algorithm;

/// The rows, in the order in which they are listed.
pub const ROWS: &[&Algorithm] = &[];
