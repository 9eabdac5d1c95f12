//! The reduce algorithms.

use super::Algorithm;

mod binomial;
mod hierarchical;
mod in_order_binary;
mod linear;
mod reduce_scatter_gather;

/// The rows, in the order in which they are listed.
pub const ROWS: &[&Algorithm] =
    &[&linear::ROW, &binomial::ROW, &in_order_binary::ROW, &reduce_scatter_gather::ROW, &hierarchical::ROW];
