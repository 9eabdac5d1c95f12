//! The exported C symbols of the collectives that are replaced.
//!
//! Each entry only names its arguments, as [the table](crate::mpi::collectives) has them; [`carry_out`] does the rest.

use crate::call::arguments::Arguments;
use crate::call::collective::carry_out;
use crate::mpi::collectives::replaced_collectives;
use crate::mpi::error::{SUCCESS, throwing};
use crate::mpi::passed::Passed;
use crate::operation::Operation;
use crate::process::text;
use crate::service::{ending, lifecycle};
use mpi_sys::{MPI_Comm, MPI_Datatype, MPI_Op};
use std::hint::black_box;
use std::os::raw::{c_char, c_int, c_void};

/// The C entries.
macro_rules! entries {
    (@one $operation:ident $name:ident $native:ident ($($argument:ident: $type:ty $(=> $($role:ident)+)?),*)) => {
        #[doc = concat!("`", stringify!($name), "` of the MPI standard.")]
        ///
        /// # Safety
        /// As the MPI standard says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name($($argument: $type,)* comm: MPI_Comm) -> c_int {
            #[allow(unused_mut, reason = "a barrier passes nothing")]
            let mut passed = Passed { wide: WIDE, ..Passed::nothing() };
            $($($(passed.$role = $argument as _;)+)?)*
            // SAFETY: the program's own arguments, passed on as they came.
            let native = move || unsafe { throwing!($native($($type,)* MPI_Comm))($($argument,)* comm) };
            carry_out(&Arguments::of(Operation::$operation, &passed, comm), native)
        }
    };
    ($($operation:ident $names:tt [$name:ident $native:ident] [$($large:ident $native_large:ident)?] $arguments:tt;)*) => {
        /// The forms that count in `int`.
        mod int {
            use super::*;
            type Count = c_int;
            type Shift = c_int;
            const WIDE: bool = false;
            $(entries! { @one $operation $name $native $arguments })*
        }

        /// The large-count forms, where the MPI has them: exporting them elsewhere would make mpi4py call them.
        #[cfg(mpi_large_count)]
        mod large_count {
            use super::*;
            type Count = mpi_sys::MPI_Count;
            type Shift = mpi_sys::MPI_Aint;
            const WIDE: bool = true;
            $($(entries! { @one $operation $large $native_large $arguments })?)*
        }
    };
}

replaced_collectives! { entries }

type Count = c_int;
type Shift = c_int;

/// What calls each of them, as a program does.
macro_rules! calls {
    ($($operation:ident $names:tt [$name:ident $native:ident] $large:tt
        ($($argument:ident: $type:ty => $role:ident $($same:ident)*),*);)*) => {
        /// Calls `MPI_X` of `operation`, by pointer, as a program calls into a shared library.
        ///
        /// # Safety
        /// As the MPI standard says.
        #[inline]
        pub(crate) unsafe fn call(operation: Operation, passed: &Passed, comm: MPI_Comm) -> c_int {
            match operation {
                $(Operation::$operation => {
                    let function: unsafe extern "C-unwind" fn($($type,)* MPI_Comm) -> c_int = int::$name;
                    // SAFETY: the caller's promise.
                    unsafe { black_box(function)($(passed.$role as _,)* comm) }
                })*
            }
        }
    };
}

replaced_collectives! { calls }

/// `MPI_Init` of the MPI standard.
///
/// # Safety
/// As the MPI standard says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPI_Init(argc: *mut c_int, argv: *mut *mut *mut c_char) -> c_int {
    // SAFETY: the program's own arguments, passed on as they came.
    lifecycle::init(|| unsafe { mpi_sys::PMPI_Init(argc, argv) })
}

/// `MPI_Init_thread` of the MPI standard.
///
/// # Safety
/// As the MPI standard says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPI_Init_thread(
    argc: *mut c_int,
    argv: *mut *mut *mut c_char,
    required: c_int,
    provided: *mut c_int,
) -> c_int {
    // SAFETY: the program's own arguments, passed on as they came.
    lifecycle::init(|| unsafe { mpi_sys::PMPI_Init_thread(argc, argv, required, provided) })
}

/// `MPI_Finalize` of the MPI standard.
///
/// # Safety
/// As the MPI standard says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPI_Finalize() -> c_int {
    // SAFETY: no preconditions beyond the standard's, which are the program's to keep.
    lifecycle::finalize(|| unsafe { mpi_sys::PMPI_Finalize() })
}

/// `MPI_Abort` of the MPI standard.
///
/// # Safety
/// As the MPI standard says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPI_Abort(comm: MPI_Comm, code: c_int) -> c_int {
    // SAFETY: the program's own arguments, passed on as they came.
    ending::abort(code, || unsafe { mpi_sys::PMPI_Abort(comm, code) })
}

/// `MPI_Pcontrol` of the MPI standard, with the levels that mpiP's users know, and the names of regions that IPM's do.
/// The first of the standard's further arguments, which are variable, is where a named one would be; there may be none.
#[unsafe(no_mangle)]
pub extern "C" fn MPI_Pcontrol(level: c_int, name: *const c_char) -> c_int {
    lifecycle::pcontrol(level, || text::at(name));
    SUCCESS
}
