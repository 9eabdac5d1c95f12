//! THE tables of the collective calls. One is of those that are replaced: for each operation the names of its entries and
//! its arguments, and which of them is what. The C and Fortran entries, the benchmark's calls and those of the library's
//! own come of it. The other is of those that are only observed: the collectives that are not replaced, and the starts of
//! the nonblocking and persistent ones. A function that stands in both is a symbol that is defined twice.

use super::passed::Passed;
use crate::operation::Operation;
use mpi_sys::MPI_Comm;
use std::os::raw::c_int;

/// The table, handed to a macro that makes something of each row: the operation; the last part of its name, in lower
/// and in upper case, for Fortran; exported and native name of `MPI_X`, and of `MPI_X_c` where there is one; the
/// arguments before the communicator as `name: type => role`, the field of [`Passed`] that it is, or fields. `Count`
/// and `Shift` are what the form of the function counts and displaces in.
macro_rules! replaced_collectives {
    ($make:ident) => {
        $make! {
            Bcast [bcast BCAST] [MPI_Bcast PMPI_Bcast] [MPI_Bcast_c PMPI_Bcast_c] (
                buffer: *mut c_void => receive, count: Count => receive_count, datatype: MPI_Datatype => receive_type,
                root: c_int => root);
            Reduce [reduce REDUCE] [MPI_Reduce PMPI_Reduce] [MPI_Reduce_c PMPI_Reduce_c] (
                sendbuf: *const c_void => send, recvbuf: *mut c_void => receive, count: Count => send_count receive_count,
                datatype: MPI_Datatype => send_type receive_type, op: MPI_Op => op, root: c_int => root);
            Allreduce [allreduce ALLREDUCE] [MPI_Allreduce PMPI_Allreduce] [MPI_Allreduce_c PMPI_Allreduce_c] (
                sendbuf: *const c_void => send, recvbuf: *mut c_void => receive, count: Count => send_count receive_count,
                datatype: MPI_Datatype => send_type receive_type, op: MPI_Op => op);
            Gather [gather GATHER] [MPI_Gather PMPI_Gather] [MPI_Gather_c PMPI_Gather_c] (
                sendbuf: *const c_void => send, sendcount: Count => send_count, sendtype: MPI_Datatype => send_type,
                recvbuf: *mut c_void => receive, recvcount: Count => receive_count, recvtype: MPI_Datatype => receive_type,
                root: c_int => root);
            Scatter [scatter SCATTER] [MPI_Scatter PMPI_Scatter] [MPI_Scatter_c PMPI_Scatter_c] (
                sendbuf: *const c_void => send, sendcount: Count => send_count, sendtype: MPI_Datatype => send_type,
                recvbuf: *mut c_void => receive, recvcount: Count => receive_count, recvtype: MPI_Datatype => receive_type,
                root: c_int => root);
            Allgather [allgather ALLGATHER] [MPI_Allgather PMPI_Allgather] [MPI_Allgather_c PMPI_Allgather_c] (
                sendbuf: *const c_void => send, sendcount: Count => send_count, sendtype: MPI_Datatype => send_type,
                recvbuf: *mut c_void => receive, recvcount: Count => receive_count, recvtype: MPI_Datatype => receive_type);
            Alltoall [alltoall ALLTOALL] [MPI_Alltoall PMPI_Alltoall] [MPI_Alltoall_c PMPI_Alltoall_c] (
                sendbuf: *const c_void => send, sendcount: Count => send_count, sendtype: MPI_Datatype => send_type,
                recvbuf: *mut c_void => receive, recvcount: Count => receive_count, recvtype: MPI_Datatype => receive_type);
            Alltoallv [alltoallv ALLTOALLV] [MPI_Alltoallv PMPI_Alltoallv] [MPI_Alltoallv_c PMPI_Alltoallv_c] (
                sendbuf: *const c_void => send, sendcounts: *const Count => send_counts,
                sdispls: *const Shift => send_displacements, sendtype: MPI_Datatype => send_type,
                recvbuf: *mut c_void => receive, recvcounts: *const Count => receive_counts,
                rdispls: *const Shift => receive_displacements, recvtype: MPI_Datatype => receive_type);
            Barrier [barrier BARRIER] [MPI_Barrier PMPI_Barrier] [] ();
        }
    };
}
pub(crate) use replaced_collectives;

/// The table of what is passed on, one function per line, handed to the macro that makes the entries:
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
pub(crate) use observed_collectives;

/// What calls the library's own.
macro_rules! natives {
    ($($operation:ident $names:tt [$name:ident $native:ident] $large:tt
        ($($argument:ident: $type:ty => $role:ident $($same:ident)*),*);)*) => {
        /// Calls `PMPI_X` of `operation` through the linkage table, which comes to the same as calling into a shared
        /// library.
        ///
        /// # Safety
        /// As the MPI standard says.
        #[inline]
        pub unsafe fn native(operation: Operation, passed: &Passed, comm: MPI_Comm) -> c_int {
            match operation {
                $(Operation::$operation => {
                    // SAFETY: the caller's promise.
                    unsafe { mpi_sys::$native($(passed.$role as _,)* comm) }
                })*
            }
        }
    };
}

replaced_collectives! { natives }
