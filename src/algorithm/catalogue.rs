//! Which algorithms there are.

use super::{Algorithm, Operation};
use super::{allgather, allreduce, alltoall, alltoallv, barrier, bcast, gather, reduce, scatter};

/// The rows of one operation, in the order in which they are listed.
pub fn of(operation: Operation) -> &'static [&'static Algorithm] {
    match operation {
        Operation::Bcast => bcast::ROWS,
        Operation::Reduce => reduce::ROWS,
        Operation::Allreduce => allreduce::ROWS,
        Operation::Gather => gather::ROWS,
        Operation::Scatter => scatter::ROWS,
        Operation::Allgather => allgather::ROWS,
        Operation::Alltoall => alltoall::ROWS,
        Operation::Alltoallv => alltoallv::ROWS,
        Operation::Barrier => barrier::ROWS,
    }
}

/// The row of that name, if there is one.
pub fn find(operation: Operation, name: &str) -> Option<&'static Algorithm> {
    of(operation).iter().copied().find(|row| row.name == name)
}

/// Every row.
pub fn all() -> impl Iterator<Item = &'static Algorithm> {
    Operation::ALL.iter().flat_map(|operation| of(*operation).iter().copied())
}
