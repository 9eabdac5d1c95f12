//! The entries of what frees communicators.

use super::fortran;
use super::names::under_each_name;
use super::native::native_procedure;
use crate::communicator::{dying, origin};
use crate::mpi::error::{SUCCESS, throwing};
use crate::mpi::procedures::procedure;
use mpi_sys::MPI_Comm;
use std::os::raw::c_int;

/// Frees `comm` by `native`.
fn free(comm: MPI_Comm, native: impl FnOnce() -> c_int) -> c_int {
    let unfinished = origin::take_unfinished(comm);
    let code = dying::free(comm, native);
    if code != SUCCESS
        && let Some(origin) = unfinished
    {
        origin::put_back(comm, origin);
    }
    code
}

/// The C entries.
macro_rules! entries {
    ($($name:ident $native:ident $lower:ident $upper:ident;)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "` of the MPI standard.")]
            ///
            /// # Safety
            /// As the MPI standard says.
            #[unsafe(no_mangle)]
            pub unsafe extern "C-unwind" fn $name(comm: *mut MPI_Comm) -> c_int {
                // SAFETY: the program's own argument, passed on as it came.
                let native = || unsafe { throwing!($native(*mut MPI_Comm))(comm) };
                if comm.is_null() {
                    return native();
                }
                // SAFETY: the program passes the address of a handle.
                free(unsafe { *comm }, native)
            }
        )*
    };
}

/// The Fortran entries, as far as the bindings of the MPI call PMPI past the C symbols.
macro_rules! fortran_entries {
    (@one $symbol:expr, $native:expr,) => {
        const _: () = {
            /// # Safety
            /// As the MPI standard says of the Fortran binding.
            #[unsafe(export_name = $symbol)]
            unsafe extern "C-unwind" fn entry(comm: *mut c_int, ierror: *mut c_int) {
                let native = native_procedure!(procedure($native) as fn(comm: *mut c_int, ierror: *mut c_int));
                // SAFETY: Fortran passes a valid address.
                let old = unsafe { fortran::comm(comm) };
                free(old, || {
                    // SAFETY: the library's procedure of that name takes these arguments, which are the program's own.
                    unsafe { native(comm, ierror) };
                    SUCCESS
                });
            }
        };
    };
    ($($name:ident $native:ident $lower:ident $upper:ident;)*) => {
        $(under_each_name! {
            fortran_entries ["mpi_", stringify!($lower)] ["MPI_", stringify!($upper)] ["pmpir_", stringify!($lower)]
        })*
    };
}

/// What frees communicators: the function, its native name, and the last part of its name for Fortran.
macro_rules! freeing {
    ($emit:ident) => {
        $emit! {
            MPI_Comm_free PMPI_Comm_free comm_free COMM_FREE;
            MPI_Comm_disconnect PMPI_Comm_disconnect comm_disconnect COMM_DISCONNECT;
        }
    };
}

freeing! { entries }
freeing! { fortran_entries }
