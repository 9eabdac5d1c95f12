//! The gather algorithms.

use super::Algorithm;

mod binary;
mod bine;
pub(super) mod binomial;
pub(super) mod chain;
pub(super) mod hierarchical;
pub(super) mod kary;
pub(super) mod knomial;
pub(super) mod linear;
mod linear_sync;
pub(super) mod pipeline;
mod shared_copy;

/// The rows, in the order in which they are listed.
pub const ROWS: &[&Algorithm] = &[
    &linear::ROW,
    &linear_sync::ROW,
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
