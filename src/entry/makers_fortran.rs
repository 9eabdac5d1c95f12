//! The Fortran entries of what makes communicators, as far as the bindings of the MPI call PMPI past the C symbols:
//! Open MPI's all do, MPICH's those of `mpi_f08`.

use super::fortran::{answer_of, comm, request};
use super::makers::makers_of_communicators;
use super::names::under_each_name;
use super::native::native_procedure;
use crate::call::makers::watch;
use crate::communicator::origin::Makers;
use crate::mpi::procedures::procedure;
use std::os::raw::{c_int, c_void};

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
                let native = native_procedure!(procedure($native) as fn(
                    parent: *mut c_int, $($argument: *mut c_void,)* new: *mut c_int, $($request: *mut c_void,)?
                    ierror: *mut c_int
                ));
                let native = || {
                    // SAFETY: the procedure takes these arguments, which are the program's own, the error among them.
                    unsafe { answer_of(ierror, |ierror| native(parent, $($argument,)* new, $($request,)? ierror)) }
                };
                // SAFETY: Fortran passes a valid address.
                let old = unsafe { comm(parent) };
                // SAFETY: asked for only when the native procedure has written there.
                let made = || unsafe { comm(new) };
                // SAFETY: as above.
                let request = || None $(.or(Some(unsafe { request($request.cast()) })))?;
                watch(stringify!($name), Makers::$makers, old, (made, request), native);
            }
        };
    };
    ($($name:ident $native:ident $lower:ident $upper:ident $makers:ident
        ($($argument:ident: $type:ty),*) ($($request:ident: $request_type:ty)?);)*) => {
        $(under_each_name! {
            entries ["mpi_", stringify!($lower)] ["MPI_", stringify!($upper)] ["pmpir_", stringify!($lower)]
            $name $makers ($($argument)*) ($($request)?)
        })*
    };
}

makers_of_communicators! { entries }

under_each_name! {
    entries ["mpi_", "comm_idup_with_info"] ["MPI_", "COMM_IDUP_WITH_INFO"] ["pmpir_", "comm_idup_with_info"]
    MPI_Comm_idup_with_info ParentLater (info) (request)
}
