//! The bcast algorithms.

use super::Algorithm;

mod binomial;
mod hierarchical;
mod linear;
mod pipeline;
mod scatter_allgather;

/// The rows, in the order in which they are listed.
pub const ROWS: &[&Algorithm] =
    &[&linear::ROW, &binomial::ROW, &pipeline::ROW, &scatter_allgather::ROW, &hierarchical::ROW];
