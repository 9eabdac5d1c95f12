//! The allreduce algorithms.

use super::Algorithm;

mod bine;
mod rabenseifner;
mod recursive_doubling;
mod ring;
mod swing;

/// The rows, in the order in which they are listed.
pub const ROWS: &[&Algorithm] = &[&recursive_doubling::ROW, &rabenseifner::ROW, &ring::ROW, &swing::ROW, &bine::ROW];
