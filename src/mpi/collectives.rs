//! THE table of the calls that are replaced: for each operation the names of its entries and its arguments, and which
//! of them is what. The C and Fortran entries, the benchmark's calls and those of the library's own come of it.

use super::constants;
use crate::algorithm::Operation;
use mpi_sys::{MPI_Comm, MPI_Datatype, MPI_Op};
use std::os::raw::{c_int, c_void};

/// What the program passed, under the names of the standard; what an operation lacks stays empty.
pub struct Passed {
    /// Send buffer.
    pub send: *const c_void,
    /// Its count.
    pub send_count: i64,
    /// Its type.
    pub send_type: MPI_Datatype,
    /// Receive buffer; of a broadcast, the only one.
    pub receive: *const c_void,
    /// Its count.
    pub receive_count: i64,
    /// Its type.
    pub receive_type: MPI_Datatype,
    /// Reduction operation.
    pub op: MPI_Op,
    /// Root.
    pub root: c_int,
    /// Counts by rank, of the blocks to send.
    pub send_counts: *const c_void,
    /// Where those blocks are, in elements.
    pub send_displacements: *const c_void,
    /// Counts by rank, of the blocks to receive.
    pub receive_counts: *const c_void,
    /// Where those blocks go, in elements.
    pub receive_displacements: *const c_void,
    /// Whether the arrays hold large counts and addresses rather than `int`.
    pub wide: bool,
}

/// Counts and displacements of one side, by rank, as the program passed them.
#[derive(Clone, Copy, Debug)]
pub struct Arrays {
    /// Counts.
    pub counts: *const c_void,
    /// Displacements, in elements.
    pub displacements: *const c_void,
    /// Whether both hold 64 bits rather than `int`.
    pub wide: bool,
}

impl Arrays {
    /// Whether one is missing.
    pub const fn are_missing(&self) -> bool {
        self.counts.is_null() || self.displacements.is_null()
    }

    /// Count and displacement of each of `ranks` ranks.
    ///
    /// # Safety
    /// Neither is missing, and both have so many entries.
    #[inline]
    pub unsafe fn each(self, ranks: usize) -> impl ExactSizeIterator<Item = [i64; 2]> {
        // SAFETY: the caller's promise.
        let entry = move |array: *const c_void, rank| unsafe {
            match self.wide {
                true => *array.cast::<i64>().add(rank),
                false => i64::from(*array.cast::<c_int>().add(rank)),
            }
        };
        (0..ranks).map(move |rank| [entry(self.counts, rank), entry(self.displacements, rank)])
    }
}

impl Arrays {
    /// Whether counts and displacements are these; any are none.
    ///
    /// # Safety
    /// Unless one is missing, both have so many entries.
    #[inline(always)]
    pub unsafe fn hold(self, entries: &[[i64; 2]]) -> bool {
        if entries.is_empty() {
            return true;
        }
        if self.are_missing() {
            return false;
        }
        let Self { counts, displacements, wide } = self;
        // SAFETY: the caller's promise.
        unsafe {
            match wide {
                true => are::<i64>(counts.cast(), displacements.cast(), entries),
                false => are::<c_int>(counts.cast(), displacements.cast(), entries),
            }
        }
    }
}

/// Whether the two arrays hold these entries.
///
/// # Safety
/// They have so many.
#[inline(always)]
unsafe fn are<T: Copy + Into<i64>>(counts: *const T, displacements: *const T, entries: &[[i64; 2]]) -> bool {
    for (rank, entry) in entries.iter().enumerate() {
        // SAFETY: the caller's promise.
        let found = unsafe { [(*counts.add(rank)).into(), (*displacements.add(rank)).into()] };
        if found != *entry {
            return false;
        }
    }
    true
}

impl Passed {
    /// Nothing yet.
    pub fn nothing() -> Self {
        Self {
            send: std::ptr::null(),
            send_count: 0,
            send_type: constants::datatype_null(),
            receive: std::ptr::null(),
            receive_count: 0,
            receive_type: constants::datatype_null(),
            op: constants::op_null(),
            root: 0,
            send_counts: std::ptr::null(),
            send_displacements: std::ptr::null(),
            receive_counts: std::ptr::null(),
            receive_displacements: std::ptr::null(),
            wide: false,
        }
    }

    /// Counts and displacements, of the send and of the receive side.
    #[inline(always)]
    pub const fn arrays(&self) -> [Arrays; 2] {
        let Self { send_counts, send_displacements, receive_counts, receive_displacements, wide, .. } = *self;
        [
            Arrays { counts: send_counts, displacements: send_displacements, wide },
            Arrays { counts: receive_counts, displacements: receive_displacements, wide },
        ]
    }
}

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
