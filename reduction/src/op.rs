//! MPI's predefined operations.

/// A predefined reduction operation. `MPI_REPLACE` and `MPI_NO_OP` are not among them: MPI allows those in one-sided
/// calls only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Op {
    /// `MPI_SUM`. Integers wrap.
    Sum,
    /// `MPI_PROD`. Integers wrap.
    Prod,
    /// `MPI_MIN`.
    Min,
    /// `MPI_MAX`.
    Max,
    /// `MPI_LAND`: 1 if both are not 0, else 0.
    Land,
    /// `MPI_LOR`: 1 if at least one is not 0, else 0.
    Lor,
    /// `MPI_LXOR`: 1 if exactly one is not 0, else 0.
    Lxor,
    /// `MPI_BAND`.
    Band,
    /// `MPI_BOR`.
    Bor,
    /// `MPI_BXOR`.
    Bxor,
    /// `MPI_MINLOC`: the lower value with its index, the lower index at a tie.
    MinLoc,
    /// `MPI_MAXLOC`: the higher value with its index, the lower index at a tie.
    MaxLoc,
}

impl Op {
    /// Every operation, in declaration order.
    pub const ALL: [Self; 12] = [
        Self::Sum,
        Self::Prod,
        Self::Min,
        Self::Max,
        Self::Land,
        Self::Lor,
        Self::Lxor,
        Self::Band,
        Self::Bor,
        Self::Bxor,
        Self::MinLoc,
        Self::MaxLoc,
    ];
}
