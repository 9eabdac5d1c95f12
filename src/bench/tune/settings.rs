//! What rules may be made of, and what comes out.

use crate::selection::Rule;

/// How rows come of measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// For each number of ranks the cheapest rows along the sizes.
    Table,
    /// A decision tree over sizes, ranks and places.
    Tree,
}

/// What the rows may be made of.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How they come of measurements.
    pub form: Form,
    /// Loss in which one change of the algorithm has to pay, as a share of one size's time: 0.05 is 5 %.
    pub price: f64,
    /// Whether a row may leave calls to the native library.
    pub native: bool,
    /// Whether each MPI library and minor release gets rows of its own, which hold for it alone.
    pub by_mpi: bool,
    /// Whether rows may have no condition on the placement where all measurements are of one.
    pub anywhere: bool,
    /// For which other numbers of ranks rows hold.
    pub extend: Extend,
}

/// For which numbers of ranks rows hold besides the measured ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extend {
    /// None.
    Exact,
    /// Those near them where the cost formulas say that the algorithms behave alike.
    Alike,
    /// These, and where no row holds then, rows by times estimated from those at the nearest measured ones.
    Estimated,
    /// Those near them.
    Near,
}

/// Rows for one operation and number of ranks, with what they rest on.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// What was measured, in words.
    pub evidence: String,
    /// What of the measurements was not compared, in words.
    pub left_out: Vec<String>,
    /// In order.
    pub rules: Vec<Rule>,
    /// Sizes that were measured, and those among them that are left to the native library.
    pub sizes: (usize, usize),
}
