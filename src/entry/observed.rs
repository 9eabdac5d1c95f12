//! The C entries of what is only observed: the collectives that are not replaced, and the starts of the nonblocking and
//! persistent ones.

use super::native::native_procedure;
use crate::call::arguments::is_in_place as in_place;
use crate::call::observed::observe;
use crate::call::part::sum_to_neighbours;
use crate::call::part::{nothing, own, product, reduced, sum, sum_of_types, sum_of_types_to_neighbours, sum_reduced};
use crate::monitor::{Collective, Form, Function};
use crate::mpi::collectives::observed_collectives;
use crate::mpi::constants;
use crate::mpi::error::throwing;
use crate::mpi::procedures::of_either_name;
use mpi_sys::{MPI_Aint, MPI_Comm, MPI_Datatype, MPI_Info, MPI_Op, MPI_Request};
use std::os::raw::{c_int, c_void};

/// The C entries.
macro_rules! entries {
    (@one $collective:ident $form:ident $name:ident $native:ident
        ($($argument:ident: $type:ty),*) ($($request:ident)?) $root:expr, $part:expr) => {
        #[doc = concat!("`", stringify!($name), "` of the MPI standard.")]
        ///
        /// # Safety
        /// As the MPI standard says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name(
            $($argument: $type,)* comm: MPI_Comm $(, $request: *mut MPI_Request)?
        ) -> c_int {
            // SAFETY: the program's own arguments, passed on as they came.
            let native = || unsafe {
                entries!(@native $native ($($type),*) $($request)?)($($argument,)* comm $(, $request)?)
            };
            let function = Function { collective: Collective::$collective, form: Form::$form };
            // SAFETY: asked for only when the native call has written there.
            observe(function, comm, $root, &|| $part, &|| entries!(@made unsafe { $(*$request)? }), &native)
        }
    };
    (@native $native:ident ($($type:ty),*)) => { throwing!($native($($type,)* MPI_Comm)) };
    (@native $native:ident ($($type:ty),*) $request:ident) => {
        throwing!($native($($type,)* MPI_Comm, *mut MPI_Request))
    };
    (@made unsafe {}) => { constants::request_null() };
    (@made unsafe { $($request:tt)+ }) => {{
        // SAFETY: asked for only when the native call has written there.
        unsafe { $($request)+ }
    }};
    (@mpi $of:ident) => {
        "MPI_"
    };
    (@init $collective:ident $name:expr, $also:expr, ($($argument:ident: $type:ty),*) $root:expr, $part:expr) => {
        const _: () = {
            /// # Safety
            /// As the MPI standard says.
            #[unsafe(export_name = $name)]
            unsafe extern "C-unwind" fn entry(
                $($argument: $type,)* comm: MPI_Comm, info: MPI_Info, request: *mut MPI_Request
            ) -> c_int {
                let native = native_procedure!(
                    of_either_name(concat!("P", $name, "\0"), concat!("P", $also, "\0")) as fn(
                        $($argument: $type,)* comm: MPI_Comm, info: MPI_Info, request: *mut MPI_Request
                    ) -> c_int
                );
                // SAFETY: the library's function of that name takes these arguments, which are the program's own.
                let native = || unsafe { native($($argument,)* comm, info, request) };
                let function = Function { collective: Collective::$collective, form: Form::Persistent };
                // SAFETY: asked for only when the native call has written there.
                observe(function, comm, $root, &|| $part, &|| unsafe { *request }, &native)
            }
        };
    };
    ($($collective:ident $name:literal $lower:ident $upper:ident
        [$($blocking:ident $native_blocking:ident)?] [$($large:ident $native_large:ident)?]
        [$($start:ident $native_start:ident)?] [$($large_start:ident $native_large_start:ident)?]
        $arguments:tt $root:expr, $bytes:expr;)*) => {
        /// The forms that count in `int`.
        mod int {
            use super::*;
            type Count = c_int;
            type Shift = c_int;
            $($(entries! { @one $collective Blocking $blocking $native_blocking $arguments () $root, $bytes })?)*
            $($(entries! { @one $collective Nonblocking $start $native_start $arguments (request) $root, $bytes })?)*
            // Part of MPI 4, and an extension of Open MPI before, whose next version kept no name of it.
            const _: () = {
                $(entries! {
                    @init $collective concat!("MPI_", $name, "_init"), concat!("MPIX_", $name, "_init"),
                    $arguments $root, $bytes
                })*
            };
            #[cfg(mpi_family = "openmpi")]
            const _: () = {
                $(entries! {
                    @init $collective concat!("MPIX_", $name, "_init"), concat!("MPI_", $name, "_init"),
                    $arguments $root, $bytes
                })*
            };
        }

        /// The large-count forms, where the MPI has them: exporting them elsewhere would make mpi4py call them.
        #[cfg(mpi_large_count)]
        mod large_count {
            use super::*;
            type Count = mpi_sys::MPI_Count;
            type Shift = MPI_Aint;
            $($(entries! { @one $collective Blocking $large $native_large $arguments () $root, $bytes })?)*
            $($(entries! {
                @one $collective Nonblocking $large_start $native_large_start $arguments (request) $root, $bytes
            })?)*
            const _: () = {
                $($(entries! {
                    @init $collective concat!(entries!(@mpi $large_start), $name, "_init_c"),
                    concat!("MPI_", $name, "_init_c"), $arguments $root, $bytes
                })?)*
            };
        }
    };
}

observed_collectives! { entries }

/// The root.
const fn at(root: c_int) -> c_int {
    root
}
