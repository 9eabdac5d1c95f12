//! The Fortran entries of what makes communicators, as far as the bindings of the MPI call PMPI past the C symbols: Open
//! MPI's all do, MPICH's those of `mpi_f08`.

use super::fortran::comm;
use super::makers::makers_of_communicators;
use crate::call::makers::watch;
use crate::communicator::origin::Makers;
use crate::process::native::find;
use std::os::raw::{c_int, c_void};
use std::sync::atomic::AtomicPtr;

/// Entries under the four names that compilers give an external procedure, and that of `mpi_f08`.
macro_rules! entries {
    (@one $name:ident $makers:ident $symbol:expr, $native:expr,
        ($($argument:ident)*) ($($request:ident)?)) => {
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
                let native: Native = unsafe { std::mem::transmute(find(&NATIVE, $native)) };
                let native = || {
                    // SAFETY: the program's own arguments, passed on as they came.
                    unsafe { native(parent, $($argument,)* new, $($request,)? ierror) };
                    if ierror.is_null() {
                        mpi_sys::MPI_SUCCESS as c_int
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
    (@named $name:ident $makers:ident $lower:ident [$($ending:literal)+] $native:literal $arguments:tt $request:tt) => {
        $(entries! {
            @one $name $makers concat!("mpi_", stringify!($lower), $ending),
            concat!($native, stringify!($lower), $ending, "\0"), $arguments $request
        })+
    };
    ($($name:ident $native:ident $lower:ident $upper:ident $makers:ident
        ($($argument:ident: $type:ty),*) ($($request:ident: $request_type:ty)?);)*) => {
        #[cfg(mpi_family = "openmpi")]
        mod every_binding {
            use super::*;
            $(
                entries! { @named $name $makers $lower ["" "_" "__" "_f08_"] "pmpi_" ($($argument)*) ($($request)?) }
                entries! {
                    @one $name $makers concat!("MPI_", stringify!($upper)),
                    concat!("PMPI_", stringify!($upper), "\0"), ($($argument)*) ($($request)?)
                }
            )*
        }

        #[cfg(mpi_family = "mpich")]
        mod mpi_f08 {
            use super::*;
            $(entries! { @named $name $makers $lower ["_f08_"] "pmpir_" ($($argument)*) ($($request)?) })*
        }
    };
}

makers_of_communicators! { entries }
