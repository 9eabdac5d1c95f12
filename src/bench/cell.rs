//! One thing to measure: an operation on so many bytes.

#![forbid(unsafe_code)]

use crate::algorithm::Operation;
use serde::{Deserialize, Serialize};

/// Elements of the messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Datatype {
    /// MPI_DOUBLE, summed in reductions
    Double,
    /// MPI_FLOAT, summed in reductions
    Float,
    /// MPI_INT, summed in reductions
    Int,
    /// MPI_BYTE, combined by bitwise or in reductions
    Byte,
    /// Doubles with a gap as long as they are between two; not for reductions
    Strided,
}

impl Datatype {
    /// Signature bytes of an element.
    pub const fn size(self) -> usize {
        match self {
            Self::Double | Self::Strided => 8,
            Self::Float | Self::Int => 4,
            Self::Byte => 1,
        }
    }

    /// Bytes from an element to the next.
    pub const fn extent(self) -> usize {
        match self {
            Self::Strided => 16,
            other => other.size(),
        }
    }

    /// As on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Double => "double",
            Self::Float => "float",
            Self::Int => "int",
            Self::Byte => "byte",
            Self::Strided => "strided",
        }
    }
}

/// What makes two cells the same: operation, datatype, root, bytes, and whether order matters and the operation is
/// user-defined.
pub type CellKey = (Operation, Datatype, usize, usize, bool, bool);

/// One thing to measure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The operation.
    pub operation: Operation,
    /// Elements of the messages.
    pub datatype: Datatype,
    /// Root; 0 where the operation has none.
    pub root: usize,
    /// Signature bytes that one rank contributes; 0 for barrier. Where blocks differ in length, those of a block in the
    /// mean.
    pub bytes: usize,
    /// Whether order does not matter to the reduction's operation; so too where nothing is reduced.
    #[serde(default = "commutes", skip_serializing_if = "bool::clone")]
    pub commutative: bool,
    /// Whether the reduction's operation is user-defined although it commutes. One that does not commute always is; see
    /// [`reduces_locally`](Self::reduces_locally).
    #[serde(default, skip_serializing_if = "is_predefined")]
    pub user_defined: bool,
    /// How often the application makes this call, where a plan says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
    /// Share of the application's time in collectives that these calls took, 0 to 1, where a plan says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
}

/// What is measured unless something else is said.
const fn commutes() -> bool {
    true
}

/// Takes a reference because serde passes one.
fn is_predefined(user_defined: &bool) -> bool {
    !user_defined
}

impl Cell {
    /// A cell of at least one whole element; `None` if the operation is not defined on the datatype.
    pub fn new(operation: Operation, datatype: Datatype, root: usize, bytes: usize) -> Option<Self> {
        if operation.reduces() && datatype == Datatype::Strided {
            return None;
        }
        let elements = (bytes / datatype.size()).max(1);
        let root = if operation.rooted() { root } else { 0 };
        let usual = |datatype, root, bytes| Self {
            operation,
            datatype,
            root,
            bytes,
            commutative: true,
            user_defined: false,
            calls: None,
            share: None,
        };
        Some(match operation.has_data() {
            false => usual(Datatype::Byte, 0, 0),
            true => usual(datatype, root, elements * datatype.size()),
        })
    }

    /// Whether the MPI library folds its contributions (`MPI_Reduce_local`), as it does those of every user-defined
    /// operation; Collie's own loops fold the others.
    pub const fn reduces_locally(&self) -> bool {
        self.user_defined || !self.commutative
    }

    /// What tells its operation from a predefined one, after a comma.
    pub const fn of_operation(&self) -> &'static str {
        match (self.commutative, self.user_defined) {
            (false, _) => ", not commutative",
            (true, true) => ", user-defined",
            (true, false) => "",
        }
    }

    /// Elements that one rank contributes.
    pub const fn elements(&self) -> usize {
        self.bytes / self.datatype.size()
    }

    /// Elements of the block of rank `from` for rank `to` among `ranks`, where each pair has one. Where blocks differ
    /// in length, from none to twice the mean; all ranks send alike, so that none is the others' bottleneck by its
    /// sums.
    pub const fn block(&self, from: usize, to: usize, ranks: usize) -> usize {
        let (mean, distance) = (self.elements(), (to + ranks - from) % ranks);
        // The distances 1 and 2, 3 and 4, … share what two blocks have in the mean.
        let is_alone = distance == 0 || distance % 2 == 1 && distance + 1 == ranks;
        if !self.operation.has_own_counts() || is_alone {
            return mean;
        }
        let pair = from * ranks + distance.div_ceil(2);
        let mixed = (pair as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        let more = mixed as usize % (mean + 1);
        if distance.is_multiple_of(2) != from.is_multiple_of(2) { mean + more } else { mean - more }
    }

    /// What makes two cells the same, in the order in which they are listed.
    pub const fn key(&self) -> CellKey {
        (self.operation, self.datatype, self.root, self.bytes, !self.commutative, self.reduces_locally())
    }
}

/// Every cell of the grid, each once, in the order of their keys.
pub fn grid(operations: &[Operation], datatypes: &[Datatype], roots: &[usize], sizes: &[usize]) -> Vec<Cell> {
    let mut cells = Vec::new();
    for operation in operations {
        for datatype in datatypes {
            for root in roots {
                cells.extend(sizes.iter().filter_map(|bytes| Cell::new(*operation, *datatype, *root, *bytes)));
            }
        }
    }
    cells.sort_by_key(Cell::key);
    cells.dedup_by_key(|cell| cell.key());
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_differ_in_length_and_all_ranks_send_alike() {
        let cell = Cell::new(Operation::Alltoallv, Datatype::Int, 0, 400).unwrap();
        for ranks in 1..12 {
            let lengths = |from| (0..ranks).map(move |to| cell.block(from, to, ranks));
            for from in 0..ranks {
                assert_eq!(lengths(from).sum::<usize>(), 100 * ranks, "rank {from} of {ranks}");
                assert_eq!(lengths(from).all(|length| length == 100), ranks < 3, "rank {from} of {ranks}");
            }
        }
        let even = Cell::new(Operation::Alltoall, Datatype::Int, 0, 400).unwrap();
        assert_eq!(even.block(1, 3, 8), 100);
    }

    #[test]
    fn a_grid_has_each_cell_once() {
        let operations = [Operation::Bcast, Operation::Allreduce, Operation::Barrier];
        let cells = grid(&operations, &[Datatype::Double, Datatype::Strided], &[0, 1], &[4, 8, 64]);
        let count = |wanted: Operation| cells.iter().filter(|cell| cell.operation == wanted).count();
        // Two datatypes, two roots, and the sizes 8 (twice the same) and 64.
        assert_eq!(count(Operation::Bcast), 8);
        assert_eq!(count(Operation::Allreduce), 2, "no root, and not defined on the strided type");
        assert_eq!(count(Operation::Barrier), 1);
        assert!(cells.iter().all(|cell| cell.elements() > 0 || cell.operation == Operation::Barrier));
    }
}
