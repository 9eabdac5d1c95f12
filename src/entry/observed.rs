//! The table and the C entries of what is only observed: the collectives that are not replaced, and the starts of the
//! nonblocking and persistent ones.

use super::native::native_procedure;
use crate::call::arguments::is_in_place as in_place;
use crate::call::observed::observe;
use crate::call::part::sum_to_neighbours;
use crate::call::part::{nothing, own, product, reduced, sum, sum_of_types, sum_of_types_to_neighbours, sum_reduced};
use crate::monitor::{Collective, Form, Function};
use crate::mpi::constants;
use crate::mpi::error::throwing;
use crate::mpi::procedures::of_either_name;
use mpi_sys::{MPI_Aint, MPI_Comm, MPI_Datatype, MPI_Info, MPI_Op, MPI_Request};
use std::os::raw::{c_int, c_void};

/// What is passed on, one function per line, handed to the macro that makes the entries:
///
/// the collective; the last part of its name, and in lower and in upper case, for Fortran; exported and native name of
/// `MPI_X`, `MPI_X_c`, `MPI_Ix` and `MPI_Ix_c`, where they are to be observed; the arguments before the communicator;
/// the root, -1 where there is none; the signature bytes, as `LocalArguments::bytes` means them: one rank's block.
/// Where blocks are of several sizes, all of what the rank contributes.
///
/// `Count` and `Shift` are what the form of the function counts and displaces in. The arguments that give the bytes are
/// those that count on every rank, unless `in_place` picks others.
macro_rules! observed_collectives {
    ($emit:ident) => {
        $emit! {
            Bcast "Bcast" bcast BCAST [] [] [MPI_Ibcast PMPI_Ibcast] [MPI_Ibcast_c PMPI_Ibcast_c]
                (buffer: *mut c_void, count: Count, datatype: MPI_Datatype, root: c_int) at(root),
                product(count, datatype);
            Reduce "Reduce" reduce REDUCE [] [] [MPI_Ireduce PMPI_Ireduce] [MPI_Ireduce_c PMPI_Ireduce_c]
                (sendbuf: *const c_void, recvbuf: *mut c_void, count: Count, datatype: MPI_Datatype, op: MPI_Op,
                 root: c_int) at(root), reduced(count, datatype, op);
            Allreduce "Allreduce" allreduce ALLREDUCE [] [] [MPI_Iallreduce PMPI_Iallreduce] [MPI_Iallreduce_c PMPI_Iallreduce_c]
                (sendbuf: *const c_void, recvbuf: *mut c_void, count: Count, datatype: MPI_Datatype, op: MPI_Op) -1,
                reduced(count, datatype, op);
            Gather "Gather" gather GATHER [] [] [MPI_Igather PMPI_Igather] [MPI_Igather_c PMPI_Igather_c]
                (sendbuf: *const c_void, sendcount: Count, sendtype: MPI_Datatype, recvbuf: *mut c_void,
                 recvcount: Count, recvtype: MPI_Datatype, root: c_int) at(root),
                if in_place(sendbuf) { product(recvcount, recvtype) } else { product(sendcount, sendtype) };
            Scatter "Scatter" scatter SCATTER [] [] [MPI_Iscatter PMPI_Iscatter] [MPI_Iscatter_c PMPI_Iscatter_c]
                (sendbuf: *const c_void, sendcount: Count, sendtype: MPI_Datatype, recvbuf: *mut c_void,
                 recvcount: Count, recvtype: MPI_Datatype, root: c_int) at(root),
                if in_place(recvbuf) { product(sendcount, sendtype) } else { product(recvcount, recvtype) };
            Allgather "Allgather" allgather ALLGATHER [] [] [MPI_Iallgather PMPI_Iallgather] [MPI_Iallgather_c PMPI_Iallgather_c]
                (sendbuf: *const c_void, sendcount: Count, sendtype: MPI_Datatype, recvbuf: *mut c_void,
                 recvcount: Count, recvtype: MPI_Datatype) -1, product(recvcount, recvtype);
            Barrier "Barrier" barrier BARRIER [] [] [MPI_Ibarrier PMPI_Ibarrier] [] () -1, nothing();
            Gatherv "Gatherv" gatherv GATHERV [MPI_Gatherv PMPI_Gatherv] [MPI_Gatherv_c PMPI_Gatherv_c]
                [MPI_Igatherv PMPI_Igatherv] [MPI_Igatherv_c PMPI_Igatherv_c]
                (sendbuf: *const c_void, sendcount: Count, sendtype: MPI_Datatype, recvbuf: *mut c_void,
                 recvcounts: *const Count, displs: *const Shift, recvtype: MPI_Datatype, root: c_int) at(root),
                if in_place(sendbuf) { own(recvcounts, recvtype) } else { product(sendcount, sendtype) };
            Scatterv "Scatterv" scatterv SCATTERV [MPI_Scatterv PMPI_Scatterv] [MPI_Scatterv_c PMPI_Scatterv_c]
                [MPI_Iscatterv PMPI_Iscatterv] [MPI_Iscatterv_c PMPI_Iscatterv_c]
                (sendbuf: *const c_void, sendcounts: *const Count, displs: *const Shift, sendtype: MPI_Datatype,
                 recvbuf: *mut c_void, recvcount: Count, recvtype: MPI_Datatype, root: c_int) at(root),
                if in_place(recvbuf) { own(sendcounts, sendtype) } else { product(recvcount, recvtype) };
            Allgatherv "Allgatherv" allgatherv ALLGATHERV [MPI_Allgatherv PMPI_Allgatherv] [MPI_Allgatherv_c PMPI_Allgatherv_c]
                [MPI_Iallgatherv PMPI_Iallgatherv] [MPI_Iallgatherv_c PMPI_Iallgatherv_c]
                (sendbuf: *const c_void, sendcount: Count, sendtype: MPI_Datatype, recvbuf: *mut c_void,
                 recvcounts: *const Count, displs: *const Shift, recvtype: MPI_Datatype) -1,
                if in_place(sendbuf) { own(recvcounts, recvtype) } else { product(sendcount, sendtype) };
            Alltoall "Alltoall" alltoall ALLTOALL [] [] [MPI_Ialltoall PMPI_Ialltoall] [MPI_Ialltoall_c PMPI_Ialltoall_c]
                (sendbuf: *const c_void, sendcount: Count, sendtype: MPI_Datatype, recvbuf: *mut c_void,
                 recvcount: Count, recvtype: MPI_Datatype) -1, product(recvcount, recvtype);
            Alltoallv "Alltoallv" alltoallv ALLTOALLV [] []
                [MPI_Ialltoallv PMPI_Ialltoallv] [MPI_Ialltoallv_c PMPI_Ialltoallv_c]
                (sendbuf: *const c_void, sendcounts: *const Count, sdispls: *const Shift, sendtype: MPI_Datatype,
                 recvbuf: *mut c_void, recvcounts: *const Count, rdispls: *const Shift, recvtype: MPI_Datatype) -1,
                if in_place(sendbuf) { sum(recvcounts, recvtype) } else { sum(sendcounts, sendtype) };
            Alltoallw "Alltoallw" alltoallw ALLTOALLW [MPI_Alltoallw PMPI_Alltoallw] [MPI_Alltoallw_c PMPI_Alltoallw_c]
                [MPI_Ialltoallw PMPI_Ialltoallw] [MPI_Ialltoallw_c PMPI_Ialltoallw_c]
                (sendbuf: *const c_void, sendcounts: *const Count, sdispls: *const Shift,
                 sendtypes: *const MPI_Datatype, recvbuf: *mut c_void, recvcounts: *const Count,
                 rdispls: *const Shift, recvtypes: *const MPI_Datatype) -1,
                if in_place(sendbuf) { sum_of_types(recvcounts, recvtypes) } else { sum_of_types(sendcounts, sendtypes) };
            ReduceScatter "Reduce_scatter" reduce_scatter REDUCE_SCATTER
                [MPI_Reduce_scatter PMPI_Reduce_scatter] [MPI_Reduce_scatter_c PMPI_Reduce_scatter_c]
                [MPI_Ireduce_scatter PMPI_Ireduce_scatter] [MPI_Ireduce_scatter_c PMPI_Ireduce_scatter_c]
                (sendbuf: *const c_void, recvbuf: *mut c_void, recvcounts: *const Count, datatype: MPI_Datatype,
                 op: MPI_Op) -1, sum_reduced(recvcounts, datatype, op);
            ReduceScatterBlock "Reduce_scatter_block" reduce_scatter_block REDUCE_SCATTER_BLOCK
                [MPI_Reduce_scatter_block PMPI_Reduce_scatter_block]
                [MPI_Reduce_scatter_block_c PMPI_Reduce_scatter_block_c]
                [MPI_Ireduce_scatter_block PMPI_Ireduce_scatter_block]
                [MPI_Ireduce_scatter_block_c PMPI_Ireduce_scatter_block_c]
                (sendbuf: *const c_void, recvbuf: *mut c_void, recvcount: Count, datatype: MPI_Datatype, op: MPI_Op) -1,
                reduced(recvcount, datatype, op);
            Scan "Scan" scan SCAN [MPI_Scan PMPI_Scan] [MPI_Scan_c PMPI_Scan_c] [MPI_Iscan PMPI_Iscan]
                [MPI_Iscan_c PMPI_Iscan_c]
                (sendbuf: *const c_void, recvbuf: *mut c_void, count: Count, datatype: MPI_Datatype, op: MPI_Op) -1,
                reduced(count, datatype, op);
            Exscan "Exscan" exscan EXSCAN [MPI_Exscan PMPI_Exscan] [MPI_Exscan_c PMPI_Exscan_c] [MPI_Iexscan PMPI_Iexscan]
                [MPI_Iexscan_c PMPI_Iexscan_c]
                (sendbuf: *const c_void, recvbuf: *mut c_void, count: Count, datatype: MPI_Datatype, op: MPI_Op) -1,
                reduced(count, datatype, op);
            NeighborAllgather "Neighbor_allgather" neighbor_allgather NEIGHBOR_ALLGATHER
                [MPI_Neighbor_allgather PMPI_Neighbor_allgather] [MPI_Neighbor_allgather_c PMPI_Neighbor_allgather_c]
                [MPI_Ineighbor_allgather PMPI_Ineighbor_allgather]
                [MPI_Ineighbor_allgather_c PMPI_Ineighbor_allgather_c]
                (sendbuf: *const c_void, sendcount: Count, sendtype: MPI_Datatype, recvbuf: *mut c_void,
                 recvcount: Count, recvtype: MPI_Datatype) -1, product(sendcount, sendtype);
            NeighborAllgatherv "Neighbor_allgatherv" neighbor_allgatherv NEIGHBOR_ALLGATHERV
                [MPI_Neighbor_allgatherv PMPI_Neighbor_allgatherv]
                [MPI_Neighbor_allgatherv_c PMPI_Neighbor_allgatherv_c]
                [MPI_Ineighbor_allgatherv PMPI_Ineighbor_allgatherv]
                [MPI_Ineighbor_allgatherv_c PMPI_Ineighbor_allgatherv_c]
                (sendbuf: *const c_void, sendcount: Count, sendtype: MPI_Datatype, recvbuf: *mut c_void,
                 recvcounts: *const Count, displs: *const Shift, recvtype: MPI_Datatype) -1,
                product(sendcount, sendtype);
            NeighborAlltoall "Neighbor_alltoall" neighbor_alltoall NEIGHBOR_ALLTOALL
                [MPI_Neighbor_alltoall PMPI_Neighbor_alltoall] [MPI_Neighbor_alltoall_c PMPI_Neighbor_alltoall_c]
                [MPI_Ineighbor_alltoall PMPI_Ineighbor_alltoall]
                [MPI_Ineighbor_alltoall_c PMPI_Ineighbor_alltoall_c]
                (sendbuf: *const c_void, sendcount: Count, sendtype: MPI_Datatype, recvbuf: *mut c_void,
                 recvcount: Count, recvtype: MPI_Datatype) -1, product(sendcount, sendtype);
            NeighborAlltoallv "Neighbor_alltoallv" neighbor_alltoallv NEIGHBOR_ALLTOALLV
                [MPI_Neighbor_alltoallv PMPI_Neighbor_alltoallv]
                [MPI_Neighbor_alltoallv_c PMPI_Neighbor_alltoallv_c]
                [MPI_Ineighbor_alltoallv PMPI_Ineighbor_alltoallv]
                [MPI_Ineighbor_alltoallv_c PMPI_Ineighbor_alltoallv_c]
                (sendbuf: *const c_void, sendcounts: *const Count, sdispls: *const Shift, sendtype: MPI_Datatype,
                 recvbuf: *mut c_void, recvcounts: *const Count, rdispls: *const Shift, recvtype: MPI_Datatype) -1,
                sum_to_neighbours(sendcounts, sendtype);
            NeighborAlltoallw "Neighbor_alltoallw" neighbor_alltoallw NEIGHBOR_ALLTOALLW
                [MPI_Neighbor_alltoallw PMPI_Neighbor_alltoallw]
                [MPI_Neighbor_alltoallw_c PMPI_Neighbor_alltoallw_c]
                [MPI_Ineighbor_alltoallw PMPI_Ineighbor_alltoallw]
                [MPI_Ineighbor_alltoallw_c PMPI_Ineighbor_alltoallw_c]
                (sendbuf: *const c_void, sendcounts: *const Count, sdispls: *const MPI_Aint,
                 sendtypes: *const MPI_Datatype, recvbuf: *mut c_void, recvcounts: *const Count,
                 rdispls: *const MPI_Aint, recvtypes: *const MPI_Datatype) -1,
                sum_of_types_to_neighbours(sendcounts, sendtypes);
        }
    };
}
#[cfg(mpi_family = "openmpi")]
pub(crate) use observed_collectives;

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
