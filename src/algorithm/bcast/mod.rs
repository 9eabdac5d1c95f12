//! The bcast algorithms.

use super::Algorithm;

mod binomial;

/// The rows, in the order in which they are listed.
pub const ROWS: &[&Algorithm] = &[&binomial::ROW];
