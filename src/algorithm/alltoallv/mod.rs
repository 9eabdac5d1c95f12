//! The alltoallv algorithms.
//!
//! The blocks differ in length, and each rank knows the lengths of its own only: what it sends and what it receives. A
//! block of no units is no message, as both its ends know.

use super::Algorithm;

mod linear;
mod pairwise;
mod two_phase_bruck;

/// The rows, in the order in which they are listed.
pub const ROWS: &[&Algorithm] = &[&linear::ROW, &pairwise::ROW, &two_phase_bruck::ROW];
