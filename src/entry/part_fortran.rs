//! What one rank contributes to a call that is only observed, of Fortran arguments, which all come by address.

use super::fortran::open_mpi::{datatype, op};
use crate::call::part::{self, Blocks, Counts, Part, Types};
use std::os::raw::{c_int, c_void};

fn counts(counts: *mut c_void) -> Counts {
    Counts::Int(counts.cast_const().cast::<c_int>())
}

/// `count` elements.
pub fn product(count: *mut c_void, handle: *mut c_void) -> Part {
    // SAFETY: Fortran passes both by valid addresses.
    unsafe { part::product(*count.cast::<c_int>(), datatype(handle.cast())) }
}

/// `count` elements that are reduced.
pub fn reduced(count: *mut c_void, handle: *mut c_void, operation: *mut c_void) -> Part {
    // SAFETY: Fortran passes a valid address.
    Part { op: unsafe { op(operation.cast()) }, ..product(count, handle) }
}

fn one(handle: *mut c_void) -> Types {
    // SAFETY: Fortran passes a valid address.
    Types::One(unsafe { datatype(handle.cast()) })
}

/// This rank's own block.
pub fn own(of: *mut c_void, handle: *mut c_void) -> Part {
    part::of(Blocks::Own, counts(of), one(handle))
}

/// A block for each rank.
pub fn sum(of: *mut c_void, handle: *mut c_void) -> Part {
    part::of(Blocks::Ranks, counts(of), one(handle))
}

/// The same, reduced.
pub fn sum_reduced(of: *mut c_void, handle: *mut c_void, operation: *mut c_void) -> Part {
    // SAFETY: Fortran passes a valid address.
    Part { op: unsafe { op(operation.cast()) }, ..sum(of, handle) }
}

/// The same, each block of a type of its own.
pub fn sum_of_types(of: *mut c_void, types: *mut c_void) -> Part {
    part::of(Blocks::Ranks, counts(of), Types::Fortran(types.cast_const().cast()))
}

/// A block for each neighbour.
pub fn sum_to_neighbours(of: *mut c_void, handle: *mut c_void) -> Part {
    part::of(Blocks::Neighbours, counts(of), one(handle))
}

/// The same, each block of a type of its own.
pub fn sum_of_types_to_neighbours(of: *mut c_void, types: *mut c_void) -> Part {
    part::of(Blocks::Neighbours, counts(of), Types::Fortran(types.cast_const().cast()))
}
