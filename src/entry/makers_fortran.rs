//! The Fortran entries of what makes communicators, as far as the bindings of the MPI call PMPI past the C symbols: Open
//! MPI's all do, MPICH's those of `mpi_f08`.

use super::fortran::comm;
use super::makers::makers_of_communicators;
use super::names::under_each_name;
use crate::call::makers::watch;
use crate::communicator::origin::Makers;
use crate::mpi::error::SUCCESS;
use crate::mpi::procedures::procedure;
use std::os::raw::{c_int, c_void};
use std::sync::atomic::AtomicPtr;

/// The entries, from the same table as the C entries.
macro_rules! entries {
    (@one $symbol:expr, $native:expr, $name:ident $makers:ident ($($argument:ident)*) ($($request:ident)?)) => {
        const _: () = {
            /// # Safety
            /// As the MPI standard says of the Fortran binding.
            #[unsafe(export_name = $symbol)]
            unsafe extern "C-unwind" fn entry(
                parent: *mut c_int, $($argument: *mut c_void,)* new: *mut c_int, $($request: *mut c_void,)?
                ierror: *mut c_int
            ) {
                type Native = unsafe extern "C-unwind" fn(
                    *mut c_int, $(entries!(@pointer $argument),)* *mut c_int, $(entries!(@pointer $request),)?
                    *mut c_int
                );
                static NATIVE: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
                // SAFETY: the library's procedure of that name takes these arguments.
                let native: Native = unsafe { std::mem::transmute(procedure(&NATIVE, $native)) };
                let native = || {
                    // SAFETY: the program's own arguments, passed on as they came.
                    unsafe { native(parent, $($argument,)* new, $($request,)? ierror) };
                    if ierror.is_null() {
                        SUCCESS
                    } else {
                        // SAFETY: the native procedure has just written there.
                        unsafe { *ierror }
                    }
                };
                // SAFETY: Fortran passes a valid address.
                let old = unsafe { comm(parent) };
                // SAFETY: asked for only when the native procedure has written there.
                watch(stringify!($name), Makers::$makers, old, || unsafe { comm(new) }, native);
            }
        };
    };
    (@pointer $argument:ident) => { *mut c_void };
    ($($name:ident $native:ident $lower:ident $upper:ident $makers:ident
        ($($argument:ident: $type:ty),*) ($($request:ident: $request_type:ty)?);)*) => {
        $(under_each_name! {
            entries ["mpi_", stringify!($lower)] ["MPI_", stringify!($upper)] ["pmpir_", stringify!($lower)]
            $name $makers ($($argument)*) ($($request)?)
        })*
    };
}

makers_of_communicators! { entries }
