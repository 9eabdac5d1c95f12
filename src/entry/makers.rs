//! The entries of what makes communicators.

use super::native::native_procedure;
use crate::call::makers::watch;
use crate::communicator::origin::Makers;
use crate::mpi::error::throwing;
use crate::mpi::procedures::procedure;
use mpi_sys::{MPI_Comm, MPI_Group, MPI_Info, MPI_Request};
use std::os::raw::c_int;

/// What makes communicators, one function per line, handed to the macro that makes the entries: the function, its
/// native name, the last part of its name in lower and in upper case for Fortran, who takes part, the arguments between
/// the parent and the new communicator, and what follows the latter.
macro_rules! makers_of_communicators {
    ($emit:ident) => {
        $emit! {
            MPI_Comm_dup PMPI_Comm_dup comm_dup COMM_DUP Parent () ();
            MPI_Comm_dup_with_info PMPI_Comm_dup_with_info comm_dup_with_info COMM_DUP_WITH_INFO Parent
                (info: MPI_Info) ();
            MPI_Comm_idup PMPI_Comm_idup comm_idup COMM_IDUP ParentLater () (request: *mut MPI_Request);
            MPI_Comm_split PMPI_Comm_split comm_split COMM_SPLIT Parent (color: c_int, order: c_int) ();
            MPI_Comm_split_type PMPI_Comm_split_type comm_split_type COMM_SPLIT_TYPE Parent
                (kind: c_int, order: c_int, info: MPI_Info) ();
            MPI_Comm_create PMPI_Comm_create comm_create COMM_CREATE Parent (group: MPI_Group) ();
            MPI_Comm_create_group PMPI_Comm_create_group comm_create_group COMM_CREATE_GROUP Members
                (group: MPI_Group, tag: c_int) ();
            MPI_Cart_create PMPI_Cart_create cart_create CART_CREATE Parent
                (number: c_int, sizes: *const c_int, periods: *const c_int, reorder: c_int) ();
            MPI_Cart_sub PMPI_Cart_sub cart_sub CART_SUB Parent (remain: *const c_int) ();
            MPI_Graph_create PMPI_Graph_create graph_create GRAPH_CREATE Parent
                (number: c_int, index: *const c_int, edges: *const c_int, reorder: c_int) ();
            MPI_Dist_graph_create PMPI_Dist_graph_create dist_graph_create DIST_GRAPH_CREATE Parent
                (number: c_int, sources: *const c_int, degrees: *const c_int, targets: *const c_int,
                 weights: *const c_int, info: MPI_Info, reorder: c_int) ();
            MPI_Dist_graph_create_adjacent PMPI_Dist_graph_create_adjacent dist_graph_create_adjacent
                DIST_GRAPH_CREATE_ADJACENT Parent
                (in_degree: c_int, sources: *const c_int, source_weights: *const c_int, out_degree: c_int,
                 targets: *const c_int, target_weights: *const c_int, info: MPI_Info, reorder: c_int) ();
            MPI_Intercomm_create PMPI_Intercomm_create intercomm_create INTERCOMM_CREATE TwoParents
                (leader: c_int, peer: MPI_Comm, remote_leader: c_int, tag: c_int) ();
            MPI_Intercomm_merge PMPI_Intercomm_merge intercomm_merge INTERCOMM_MERGE Parent (high: c_int) ();
        }
    };
}
pub(crate) use makers_of_communicators;

macro_rules! entries {
    ($($name:ident $native:ident $lower:ident $upper:ident $makers:ident
        ($($argument:ident: $type:ty),*) ($($request:ident: $request_type:ty)?);)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "` of the MPI standard.")]
            ///
            /// # Safety
            /// As the MPI standard says.
            #[unsafe(no_mangle)]
            pub unsafe extern "C-unwind" fn $name(
                parent: MPI_Comm, $($argument: $type,)* new: *mut MPI_Comm $(, $request: $request_type)?
            ) -> c_int {
                // SAFETY: the program's own arguments, passed on as they came.
                let native = || unsafe {
                    throwing!($native(MPI_Comm $(, $type)*, *mut MPI_Comm $(, $request_type)?))(
                        parent, $($argument,)* new $(, $request)?
                    )
                };
                // SAFETY: asked for only when the native function has written there.
                let (made, request) = (|| unsafe { *new }, || None $(.or(Some(unsafe { *$request })))?);
                watch(stringify!($name), Makers::$makers, parent, (made, request), native)
            }
        )*
    };
}

makers_of_communicators! { entries }

/// `MPI_Comm_idup_with_info` of the MPI standard, which has it from version 4.0 on: whether the MPI library does shows in
/// the process only.
///
/// # Safety
/// As the MPI standard says.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn MPI_Comm_idup_with_info(
    parent: MPI_Comm,
    info: MPI_Info,
    new: *mut MPI_Comm,
    request: *mut MPI_Request,
) -> c_int {
    let native = native_procedure!(procedure("PMPI_Comm_idup_with_info\0")
        as fn(parent: MPI_Comm, info: MPI_Info, new: *mut MPI_Comm, request: *mut MPI_Request) -> c_int);
    // SAFETY: the library's procedure of that name takes these arguments, which are the program's own.
    let native = || unsafe { native(parent, info, new, request) };
    // SAFETY: asked for only when the native procedure has written there.
    let (made, request) = (|| unsafe { *new }, || Some(unsafe { *request }));
    watch("MPI_Comm_idup_with_info", Makers::ParentLater, parent, (made, request), native)
}
