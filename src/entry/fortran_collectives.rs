//! The Fortran entries of the collectives that are replaced, from the same table as the C entries.
//!
//! Open MPI's bindings only, which call PMPI; those of MPICH and its kin call the C symbols.

use super::fortran::open_mpi::{buffer, datatype, op};
use super::fortran::{comm, give};
use super::names::under_each_name;
use crate::call::arguments::Arguments;
use crate::call::collective::carry_out;
use crate::mpi::collectives::replaced_collectives;
use crate::mpi::error::throwing;
use crate::mpi::passed::Passed;
use crate::operation::Operation;
use mpi_sys::{MPI_Comm, MPI_Datatype, MPI_Op};
use std::os::raw::{c_int, c_void};

/// A type of C arguments, which Fortran passes by address.
trait FromFortran {
    /// The argument as C would have passed it.
    ///
    /// # Safety
    /// `address` is what Fortran passed for such an argument.
    unsafe fn from_fortran(address: *mut c_void) -> Self;
}

impl FromFortran for *mut c_void {
    unsafe fn from_fortran(address: *mut c_void) -> Self {
        buffer(address)
    }
}

impl FromFortran for *const c_void {
    unsafe fn from_fortran(address: *mut c_void) -> Self {
        buffer(address)
    }
}

impl FromFortran for c_int {
    unsafe fn from_fortran(address: *mut c_void) -> Self {
        // SAFETY: the caller's promise.
        unsafe { *address.cast() }
    }
}

/// An array of integers.
impl FromFortran for *const c_int {
    unsafe fn from_fortran(address: *mut c_void) -> Self {
        address.cast_const().cast()
    }
}

impl FromFortran for MPI_Datatype {
    unsafe fn from_fortran(address: *mut c_void) -> Self {
        // SAFETY: the caller's promise.
        unsafe { datatype(address.cast()) }
    }
}

impl FromFortran for MPI_Op {
    unsafe fn from_fortran(address: *mut c_void) -> Self {
        // SAFETY: the caller's promise.
        unsafe { op(address.cast()) }
    }
}

type Count = c_int;
type Shift = c_int;

/// The entries. What they pass on goes to the C functions.
macro_rules! entries {
    (@one $symbol:expr, $own:expr, $operation:ident $native:ident ($($argument:ident: $type:ty $(=> $($role:ident)+)?),*)) => {
        const _: () = {
            /// # Safety
            /// As the MPI standard says of the Fortran binding.
            #[unsafe(export_name = $symbol)]
            unsafe extern "C-unwind" fn entry($($argument: *mut c_void,)* comm_: *mut c_int, ierror: *mut c_int) {
                // SAFETY: Fortran passes every argument by an address that is valid for the call.
                $(let $argument = unsafe { <$type>::from_fortran($argument) };)*
                // SAFETY: as above.
                let comm_ = unsafe { comm(comm_) };
                #[allow(unused_mut, reason = "a barrier passes nothing")]
                let mut passed = Passed::nothing();
                $($($(passed.$role = $argument as _;)+)?)*
                // SAFETY: the program's own arguments, passed on as C would have them.
                let native = move || unsafe { throwing!($native($($type,)* MPI_Comm))($($argument,)* comm_) };
                let code = carry_out(&Arguments::of(Operation::$operation, &passed, comm_), native);
                // SAFETY: as above; the error argument may be missing.
                unsafe { give(ierror, code) }
            }
        };
    };
    ($($operation:ident [$lower:ident $upper:ident] [$name:ident $native:ident] $large:tt $arguments:tt;)*) => {
        $(under_each_name! {
            entries ["mpi_", stringify!($lower)] ["MPI_", stringify!($upper)] [""] $operation $native $arguments
        })*
    };
}

replaced_collectives! { entries }
