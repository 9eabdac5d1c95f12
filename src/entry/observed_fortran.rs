//! The Fortran entries of what is only observed, for Open MPI, whose Fortran bindings call PMPI past the C symbols.
//!
//! The arguments go on untouched to the library's own entry under its `PMPI` name, which knows better than anyone what
//! its requests and missing error arguments are.

use super::fortran::open_mpi::buffer;
use super::fortran::{answer_of, comm};
use super::names::under_each_name;
use super::native::native_procedure;
use super::part_fortran::{own, product, reduced, sum, sum_of_types, sum_of_types_to_neighbours};
use super::part_fortran::{sum_reduced, sum_to_neighbours};
use crate::call::arguments::is_in_place;
use crate::call::observed::observe;
use crate::call::part::nothing;
use crate::monitor::{Collective, Form, Function};
use crate::mpi::collectives::observed_collectives;
use crate::mpi::constants;
use crate::mpi::procedures::procedure;
use std::os::raw::{c_int, c_void};

/// The entries, from the same table as the C entries.
macro_rules! entries {
    (@one $symbol:expr, $native:expr, $collective:ident $form:ident
        ($($argument:ident: $type:ty),*) ($($made:ident)*) $root:expr, $bytes:expr) => {
        const _: () = {
            /// # Safety
            /// As the MPI standard says of the Fortran binding.
            #[unsafe(export_name = $symbol)]
            unsafe extern "C-unwind" fn entry(
                $($argument: *mut c_void,)* handle: *mut c_int, $($made: *mut c_void,)* ierror: *mut c_int
            ) {
                let native = native_procedure!(procedure($native) as fn(
                    $($argument: *mut c_void,)* handle: *mut c_int, $($made: *mut c_void,)* ierror: *mut c_int
                ));
                let native = || {
                    // SAFETY: the procedure takes these arguments, which are the program's own, the error among them.
                    unsafe { answer_of(ierror, |ierror| native($($argument,)* handle, $($made,)* ierror)) }
                };
                // SAFETY: Fortran passes a valid address.
                let comm = unsafe { comm(handle) };
                let function = Function { collective: Collective::$collective, form: Form::$form };
                observe(function, comm, $root, &|| $bytes, &|| entries!(@made $($made)*), &native);
            }
        };
    };
    (@made) => { constants::request_null() };
    (@made info $request:ident) => { entries!(@made $request) };
    // SAFETY: asked for only when the native procedure has written there.
    (@made $request:ident) => { crate::mpi::family::request_of_fortran(unsafe { *$request.cast() }) };
    (@names $collective:ident $form:ident $prefix:literal $upper_prefix:literal $lower:ident $upper:ident
        $ending:literal $upper_ending:literal $arguments:tt $request:tt $root:expr, $bytes:expr) => {
        under_each_name! {
            entries [$prefix, stringify!($lower), $ending] [$upper_prefix, stringify!($upper), $upper_ending] [""]
            $collective $form $arguments $request $root, $bytes
        }
    };
    ($($collective:ident $name:literal $lower:ident $upper:ident
        [$($blocking:ident $native_blocking:ident)?] $large:tt [$start:ident $native_start:ident] $large_start:tt
        $arguments:tt $root:expr, $bytes:expr;)*) => {
        $(
            entries! {
                @blocking [$($blocking)?] $collective $lower $upper $arguments $root, $bytes
            }
            entries! {
                @names $collective Nonblocking "mpi_i" "MPI_I" $lower $upper "" "" $arguments (request) $root, $bytes
            }
            // Each of the two under the name that the program's header gives it.
            entries! {
                @names $collective Persistent "mpi_" "MPI_" $lower $upper "_init" "_INIT" $arguments (info request)
                $root, $bytes
            }
            entries! {
                @names $collective Persistent "mpix_" "MPIX_" $lower $upper "_init" "_INIT" $arguments (info request)
                $root, $bytes
            }
        )*
    };
    (@blocking [] $($rest:tt)*) => {};
    (@blocking [$name:ident] $collective:ident $lower:ident $upper:ident $arguments:tt $root:expr, $bytes:expr) => {
        entries! { @names $collective Blocking "mpi_" "MPI_" $lower $upper "" "" $arguments () $root, $bytes }
    };
}

observed_collectives! { entries }

/// The root.
fn at(root: *mut c_void) -> c_int {
    // SAFETY: Fortran passes a valid address.
    unsafe { *root.cast::<c_int>() }
}

/// Whether the argument says that its side is in place.
fn in_place(address: *mut c_void) -> bool {
    is_in_place(buffer(address))
}
