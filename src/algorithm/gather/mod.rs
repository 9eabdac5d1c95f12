//! The gather algorithms.

use super::Algorithm;

mod binary;
mod bine;
mod binomial;
mod chain;
mod kary;
mod knomial;
mod linear;

/// The rows, in the order in which they are listed.
pub const ROWS: &[&Algorithm] =
    &[&linear::ROW, &binomial::ROW, &knomial::ROW, &kary::ROW, &binary::ROW, &chain::ROW, &bine::ROW];
