//! The entries of what frees communicators.

use super::fortran;
use crate::communicator::dying::free;
use crate::mpi::error::throwing;
use crate::process::native::find;
use mpi_sys::MPI_Comm;
use std::os::raw::{c_int, c_void};
use std::sync::atomic::AtomicPtr;

macro_rules! entries {
    ($($name:ident $native:ident)*) => {
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

entries! { MPI_Comm_free PMPI_Comm_free MPI_Comm_disconnect PMPI_Comm_disconnect }

/// The Fortran entries, as far as the bindings of the MPI call PMPI past the C symbols.
macro_rules! fortran_entries {
    ($($symbol:literal $native:literal)*) => {
        $(const _: () = {
            /// # Safety
            /// As the MPI standard says of the Fortran binding.
            #[unsafe(export_name = $symbol)]
            unsafe extern "C-unwind" fn entry(comm: *mut c_int, ierror: *mut c_int) {
                type Native = unsafe extern "C-unwind" fn(*mut c_int, *mut c_int);
                static NATIVE: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
                // SAFETY: the library's procedure of that name takes these arguments.
                let native: Native = unsafe { std::mem::transmute(find(&NATIVE, concat!($native, "\0"))) };
                // SAFETY: Fortran passes a valid address.
                let old = unsafe { fortran::comm(comm) };
                free(old, || {
                    // SAFETY: the program's own arguments, passed on as they came.
                    unsafe { native(comm, ierror) };
                    mpi_sys::MPI_SUCCESS as c_int
                });
            }
        };)*
    };
}

#[cfg(mpi_family = "openmpi")]
fortran_entries! {
    "mpi_comm_free" "pmpi_comm_free"
    "mpi_comm_free_" "pmpi_comm_free_"
    "mpi_comm_free__" "pmpi_comm_free__"
    "MPI_COMM_FREE" "PMPI_COMM_FREE"
    "mpi_comm_free_f08_" "pmpi_comm_free_f08_"
    "mpi_comm_disconnect" "pmpi_comm_disconnect"
    "mpi_comm_disconnect_" "pmpi_comm_disconnect_"
    "mpi_comm_disconnect__" "pmpi_comm_disconnect__"
    "MPI_COMM_DISCONNECT" "PMPI_COMM_DISCONNECT"
    "mpi_comm_disconnect_f08_" "pmpi_comm_disconnect_f08_"
}

#[cfg(mpi_family = "mpich")]
fortran_entries! {
    "mpi_comm_free_f08_" "pmpir_comm_free_f08_"
    "mpi_comm_disconnect_f08_" "pmpir_comm_disconnect_f08_"
}
