//! Reductions that other algorithms may carry out than the usual ones, and other code folds.

use serde::{Deserialize, Serialize};

/// What a call reduces with. Where nothing is reduced it is the [usual](Self::USUAL) kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FoldKind {
    /// Whether the order matters to the operation.
    pub in_order: bool,
    /// Whether the MPI library folds the contributions, as it does those of user-defined operations.
    pub locally: bool,
}

impl FoldKind {
    /// By an operation of MPI's, whose order does not matter.
    pub const USUAL: Self = Self { in_order: false, locally: false };

    /// As a number below 4.
    pub fn number(self) -> u64 {
        u64::from(self.in_order) | u64::from(self.locally) << 1
    }
}
