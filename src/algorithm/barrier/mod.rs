//! The barrier algorithms.
//!
//! Their messages have no units: that they come is all they say.

use super::Algorithm;

mod dissemination;
mod double_ring;
mod linear;
mod recursive_doubling;
mod tree;

/// The rows, in the order in which they are listed.
pub const ROWS: &[&Algorithm] =
    &[&linear::ROW, &double_ring::ROW, &dissemination::ROW, &recursive_doubling::ROW, &tree::ROW];
