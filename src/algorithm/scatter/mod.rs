//! The scatter algorithms.

use super::Algorithm;

mod binary;
mod bine;
pub(super) mod binomial;
mod chain;
mod hierarchical;
mod kary;
mod knomial;
mod linear;
mod linear_nonblocking;
mod pipeline;
mod shared_copy;

/// The rows, in the order in which they are listed.
pub const ROWS: &[&Algorithm] = &[
    &linear::ROW,
    &linear_nonblocking::ROW,
    &binomial::ROW,
    &knomial::ROW,
    &kary::ROW,
    &binary::ROW,
    &chain::ROW,
    &pipeline::ROW,
    &bine::ROW,
    &hierarchical::ROW,
    &shared_copy::ROW,
];
