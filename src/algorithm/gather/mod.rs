//! The gather algorithms.

use super::Algorithm;

mod binomial;
mod linear;

/// The rows, in the order in which they are listed.
pub const ROWS: &[&Algorithm] = &[&linear::ROW, &binomial::ROW];
