//! Communicators that are being freed. Delete callbacks of the program may communicate on them after Collie's has taken
//! its state away; such calls go to the native library, since a state made for them would be deleted by nobody.

use crate::entry::fortran;
use crate::mpi::error::throwing;
use crate::process::native::find;
use crate::process::stack;
use mpi_sys::MPI_Comm;
use std::cell::Cell;
use std::os::raw::{c_int, c_void};
use std::sync::atomic::AtomicPtr;

/// A call that frees a communicator; a variable of that call.
struct Freeing {
    comm: MPI_Comm,
    /// The call whose delete callback makes this one.
    outer: *const Freeing,
}

thread_local! {
    static INNERMOST: Cell<*const Freeing> = const { Cell::new(std::ptr::null()) };
}

/// Puts back what was there, also when an exception comes by.
struct Undo(*const Freeing);

impl Drop for Undo {
    fn drop(&mut self) {
        INNERMOST.set(self.0);
    }
}

/// Frees `comm` by `native`.
fn free(comm: MPI_Comm, native: impl FnOnce() -> c_int) -> c_int {
    let freeing = Freeing { comm, outer: INNERMOST.get() };
    let _undo = Undo(freeing.outer);
    INNERMOST.set(&raw const freeing);
    native()
}

/// Whether this thread is in the middle of freeing `comm`.
pub fn is_dying(comm: MPI_Comm) -> bool {
    let here = 0u64;
    let mut call = INNERMOST.get();
    while !call.is_null() {
        // An error handler may have jumped out of the call.
        if !stack::is_running(call as usize, &raw const here as usize) {
            INNERMOST.set(std::ptr::null());
            return false;
        }
        // SAFETY: the variable of a call on this thread that is still running.
        let freeing = unsafe { &*call };
        if freeing.comm == comm {
            return true;
        }
        call = freeing.outer;
    }
    false
}

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
