//! What one rank contributes to a call that is only observed, as far as its arguments tell.

use crate::mpi::{constants, datatype, family, handler, neighbours};
use mpi_sys::{MPI_Comm, MPI_Count, MPI_Datatype, MPI_Op};
use std::os::raw::c_int;

/// What one rank contributes.
#[derive(Clone, Copy)]
pub struct Part {
    /// Signature bytes.
    pub bytes: Bytes,
    /// Type of the elements; null where they are of several or none.
    pub datatype: MPI_Datatype,
    /// The reduction operation; null where there is none.
    pub op: MPI_Op,
}

/// Signature bytes; where they are a matter of how many ranks there are, what they are worked out from.
#[derive(Clone, Copy)]
pub enum Bytes {
    /// So many.
    Known(u64),
    /// Those of some blocks, each with a count and a type of its own.
    Of(Blocks, Counts, Types),
}

/// Which blocks count.
#[derive(Clone, Copy)]
pub enum Blocks {
    /// That of this rank.
    Own,
    /// One for each rank.
    Ranks,
    /// One for each rank that this one sends to in its communicator's topology.
    Neighbours,
}

/// The program's array of counts.
#[derive(Clone, Copy)]
pub enum Counts {
    /// Of `int`.
    Int(*const c_int),
    /// Of `MPI_Count`.
    Large(*const MPI_Count),
}

impl From<*const c_int> for Counts {
    fn from(counts: *const c_int) -> Self {
        Self::Int(counts)
    }
}

impl From<*const MPI_Count> for Counts {
    fn from(counts: *const MPI_Count) -> Self {
        Self::Large(counts)
    }
}

/// The types of the blocks.
#[derive(Clone, Copy)]
pub enum Types {
    /// All of one.
    One(MPI_Datatype),
    /// The program's array of them.
    C(*const MPI_Datatype),
    /// The same in Fortran.
    #[allow(dead_code, reason = "there are such entries only for MPIs whose bindings call PMPI past the C ones")]
    Fortran(*const c_int),
}

impl Bytes {
    /// How many, on rank `rank` of `size`.
    pub fn count(self, comm: MPI_Comm, rank: usize, size: usize) -> u64 {
        let (blocks, counts, types) = match self {
            Self::Known(bytes) => return bytes,
            Self::Of(blocks, counts, types) => (blocks, counts, types),
        };
        match blocks {
            Blocks::Own => sum_of(rank..rank + 1, counts, types),
            Blocks::Ranks => sum_of(0..size, counts, types),
            Blocks::Neighbours => sum_of(neighbours::destinations(comm).unwrap_or_default(), counts, types),
        }
    }
}

/// The bytes of these blocks.
fn sum_of(blocks: impl IntoIterator<Item = usize>, counts: Counts, types: Types) -> u64 {
    // Types are mostly all one.
    let mut last = None;
    let bytes = blocks.into_iter().map(|block| {
        let count = counts.of(block);
        // The type of an empty block may be anything.
        if count == 0 {
            return 0;
        }
        let datatype = types.of(block);
        let bytes_of_one = match last {
            Some((known, bytes)) if known == datatype => bytes,
            _ => size_of_type(datatype),
        };
        last = Some((datatype, bytes_of_one));
        count.saturating_mul(bytes_of_one)
    });
    bytes.fold(0, u64::saturating_add)
}

impl Counts {
    /// Of what MPI forbids, none; the native library is left to complain about it.
    fn of(self, block: usize) -> u64 {
        // SAFETY: the native call has just read as many counts as the communicator has blocks.
        let count = unsafe {
            match self {
                Self::Int(counts) => i64::from(*counts.add(block)),
                Self::Large(counts) => *counts.add(block),
            }
        };
        u64::try_from(count).unwrap_or(0)
    }
}

impl Types {
    fn of(self, block: usize) -> MPI_Datatype {
        // SAFETY: as for the counts.
        unsafe {
            match self {
                Self::One(datatype) => datatype,
                Self::C(types) => *types.add(block),
                Self::Fortran(types) => family::datatype_of_fortran(*types.add(block)),
            }
        }
    }
}

/// Signature bytes of an element.
fn size_of_type(datatype: MPI_Datatype) -> u64 {
    if handler::may_hide_errors() {
        // The call may have failed after all, for this handle.
        return datatype::ask_size(datatype).unwrap_or(0) as u64;
    }
    let mut size: MPI_Count = 0;
    if datatype != constants::datatype_null() {
        // SAFETY: the out-parameter is valid for writes; the handle is one that counts on this rank.
        unsafe { mpi_sys::PMPI_Type_size_x(datatype, &mut size) };
    }
    u64::try_from(size).unwrap_or(0)
}

/// That it cannot be told, or is nothing.
pub fn nothing() -> Part {
    Part { bytes: Bytes::Known(0), datatype: constants::datatype_null(), op: constants::op_null() }
}

/// `count` elements; of no bytes for what MPI forbids.
pub fn product(count: impl Into<i64>, datatype: MPI_Datatype) -> Part {
    let count = u64::try_from(count.into()).unwrap_or(0);
    let size = if count == 0 { 0 } else { size_of_type(datatype) };
    Part { bytes: Bytes::Known(count.saturating_mul(size)), datatype, op: constants::op_null() }
}

/// `count` elements that are reduced.
pub fn reduced(count: impl Into<i64>, datatype: MPI_Datatype, op: MPI_Op) -> Part {
    Part { op, ..product(count, datatype) }
}

/// Some blocks.
pub fn of(blocks: Blocks, counts: impl Into<Counts>, types: Types) -> Part {
    let datatype = if let Types::One(datatype) = types { datatype } else { constants::datatype_null() };
    Part { bytes: Bytes::Of(blocks, counts.into(), types), datatype, op: constants::op_null() }
}

/// This rank's own block.
pub fn own(counts: impl Into<Counts>, datatype: MPI_Datatype) -> Part {
    of(Blocks::Own, counts, Types::One(datatype))
}

/// A block for each rank.
pub fn sum(counts: impl Into<Counts>, datatype: MPI_Datatype) -> Part {
    of(Blocks::Ranks, counts, Types::One(datatype))
}

/// The same, reduced.
pub fn sum_reduced(counts: impl Into<Counts>, datatype: MPI_Datatype, op: MPI_Op) -> Part {
    Part { op, ..sum(counts, datatype) }
}

/// The same, each block of a type of its own.
pub fn sum_of_types(counts: impl Into<Counts>, types: *const MPI_Datatype) -> Part {
    of(Blocks::Ranks, counts, Types::C(types))
}

/// A block for each neighbour.
pub fn sum_to_neighbours(counts: impl Into<Counts>, datatype: MPI_Datatype) -> Part {
    of(Blocks::Neighbours, counts, Types::One(datatype))
}

/// The same, each block of a type of its own.
pub fn sum_of_types_to_neighbours(counts: impl Into<Counts>, types: *const MPI_Datatype) -> Part {
    of(Blocks::Neighbours, counts, Types::C(types))
}
