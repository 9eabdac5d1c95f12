//! The exported C symbols of the collectives that are replaced.
//!
//! Each entry only names its arguments; [`carry_out`] does the rest. The table says for each argument what it is.

use crate::algorithm::Operation;
use crate::call::arguments::{Arguments, Side};
use crate::call::collective::carry_out;
use crate::mpi::constants;
use crate::mpi::error::throwing;
use crate::service::{ending, lifecycle};
use mpi_sys::{MPI_Comm, MPI_Datatype, MPI_Op};
use std::hint::black_box;
use std::os::raw::{c_char, c_int, c_void};

/// What the program passed, under the names of the standard; what an operation lacks stays empty.
pub(crate) struct Passed {
    pub send: *const c_void,
    pub send_count: i64,
    pub send_type: MPI_Datatype,
    pub receive: *const c_void,
    pub receive_count: i64,
    pub receive_type: MPI_Datatype,
    pub op: MPI_Op,
    pub root: c_int,
}

impl Passed {
    pub(crate) fn nothing() -> Self {
        Self {
            send: std::ptr::null(),
            send_count: 0,
            send_type: constants::datatype_null(),
            receive: std::ptr::null(),
            receive_count: 0,
            receive_type: constants::datatype_null(),
            op: constants::op_null(),
            root: 0,
        }
    }

    pub(crate) const fn to(self, operation: Operation, comm: MPI_Comm) -> Arguments {
        Arguments {
            operation,
            send: Side { address: self.send, count: self.send_count, datatype: self.send_type },
            receive: Side { address: self.receive, count: self.receive_count, datatype: self.receive_type },
            op: self.op,
            root: self.root,
            comm,
        }
    }
}

/// One C entry per line: operation, its names in Fortran, exported name, PMPI name, then arguments as `name: type => role`.
macro_rules! collectives {
    ($($operation:ident $([$lower:ident $upper:ident])? $name:ident $native:ident
        ($($argument:ident: $type:ty $(=> $($role:ident)+)?),*);)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "` of the MPI standard.")]
            ///
            /// # Safety
            /// As the MPI standard says.
            #[unsafe(no_mangle)]
            pub unsafe extern "C-unwind" fn $name($($argument: $type,)* comm: MPI_Comm) -> c_int {
                #[allow(unused_mut)]
                let mut passed = Passed::nothing();
                $($($(passed.$role = $argument as _;)+)?)*
                // SAFETY: the program's own arguments, passed on as they came.
                let native = || unsafe { throwing!($native($($type,)* MPI_Comm))($($argument,)* comm) };
                carry_out(&passed.to(Operation::$operation, comm), native)
            }
        )*
    };
}

/// The entries, C and Fortran, handed to a macro that makes something of each.
macro_rules! replaced_collectives {
    ($make:ident) => {
        $make! {
            Bcast [bcast BCAST] MPI_Bcast PMPI_Bcast(
                buffer: *mut c_void => receive, count: c_int => receive_count, datatype: MPI_Datatype => receive_type,
                root: c_int => root);
            Reduce [reduce REDUCE] MPI_Reduce PMPI_Reduce(
                sendbuf: *const c_void => send, recvbuf: *mut c_void => receive, count: c_int => send_count receive_count,
                datatype: MPI_Datatype => send_type receive_type, op: MPI_Op => op, root: c_int => root);
            Allreduce [allreduce ALLREDUCE] MPI_Allreduce PMPI_Allreduce(
                sendbuf: *const c_void => send, recvbuf: *mut c_void => receive, count: c_int => send_count receive_count,
                datatype: MPI_Datatype => send_type receive_type, op: MPI_Op => op);
            Gather [gather GATHER] MPI_Gather PMPI_Gather(
                sendbuf: *const c_void => send, sendcount: c_int => send_count, sendtype: MPI_Datatype => send_type,
                recvbuf: *mut c_void => receive, recvcount: c_int => receive_count, recvtype: MPI_Datatype => receive_type,
                root: c_int => root);
            Scatter [scatter SCATTER] MPI_Scatter PMPI_Scatter(
                sendbuf: *const c_void => send, sendcount: c_int => send_count, sendtype: MPI_Datatype => send_type,
                recvbuf: *mut c_void => receive, recvcount: c_int => receive_count, recvtype: MPI_Datatype => receive_type,
                root: c_int => root);
            Allgather [allgather ALLGATHER] MPI_Allgather PMPI_Allgather(
                sendbuf: *const c_void => send, sendcount: c_int => send_count, sendtype: MPI_Datatype => send_type,
                recvbuf: *mut c_void => receive, recvcount: c_int => receive_count, recvtype: MPI_Datatype => receive_type);
            Alltoall [alltoall ALLTOALL] MPI_Alltoall PMPI_Alltoall(
                sendbuf: *const c_void => send, sendcount: c_int => send_count, sendtype: MPI_Datatype => send_type,
                recvbuf: *mut c_void => receive, recvcount: c_int => receive_count, recvtype: MPI_Datatype => receive_type);
            Barrier [barrier BARRIER] MPI_Barrier PMPI_Barrier();
        }
    };
}

replaced_collectives! { collectives }
#[cfg(mpi_family = "openmpi")]
pub(crate) use replaced_collectives;

/// What calls each of them, as a program does.
macro_rules! calls {
    ($($operation:ident [$lower:ident $upper:ident] $name:ident $native:ident
        ($($argument:ident: $type:ty => $role:ident $($same:ident)*),*);)*) => {
        /// Calls `MPI_X` of `operation` by pointer, or `PMPI_X` through the linkage table, which comes to the same: as a program
        /// calls into a shared library.
        ///
        /// # Safety
        /// As the MPI standard says.
        #[inline]
        pub(crate) unsafe fn call(operation: Operation, native: bool, passed: &Passed, comm: MPI_Comm) -> c_int {
            match operation {
                $(Operation::$operation => {
                    let ours: unsafe extern "C-unwind" fn($($type,)* MPI_Comm) -> c_int = $name;
                    // SAFETY: the caller's promise.
                    unsafe {
                        match native {
                            true => mpi_sys::$native($(passed.$role as _,)* comm),
                            false => black_box(ours)($(passed.$role as _,)* comm),
                        }
                    }
                })*
            }
        }
    };
}

replaced_collectives! { calls }

/// The large-count forms, where the MPI has them: exporting them elsewhere would make mpi4py call them.
#[cfg(mpi_large_count)]
mod large_count {
    use super::*;
    use mpi_sys::MPI_Count;

    collectives! {
        Bcast MPI_Bcast_c PMPI_Bcast_c(
            buffer: *mut c_void => receive, count: MPI_Count => receive_count, datatype: MPI_Datatype => receive_type,
            root: c_int => root);
        Reduce MPI_Reduce_c PMPI_Reduce_c(
            sendbuf: *const c_void => send, recvbuf: *mut c_void => receive,
            count: MPI_Count => send_count receive_count, datatype: MPI_Datatype => send_type receive_type,
            op: MPI_Op => op, root: c_int => root);
        Allreduce MPI_Allreduce_c PMPI_Allreduce_c(
            sendbuf: *const c_void => send, recvbuf: *mut c_void => receive,
            count: MPI_Count => send_count receive_count, datatype: MPI_Datatype => send_type receive_type,
            op: MPI_Op => op);
        Gather MPI_Gather_c PMPI_Gather_c(
            sendbuf: *const c_void => send, sendcount: MPI_Count => send_count, sendtype: MPI_Datatype => send_type,
            recvbuf: *mut c_void => receive, recvcount: MPI_Count => receive_count,
            recvtype: MPI_Datatype => receive_type, root: c_int => root);
        Scatter MPI_Scatter_c PMPI_Scatter_c(
            sendbuf: *const c_void => send, sendcount: MPI_Count => send_count, sendtype: MPI_Datatype => send_type,
            recvbuf: *mut c_void => receive, recvcount: MPI_Count => receive_count,
            recvtype: MPI_Datatype => receive_type, root: c_int => root);
        Allgather MPI_Allgather_c PMPI_Allgather_c(
            sendbuf: *const c_void => send, sendcount: MPI_Count => send_count, sendtype: MPI_Datatype => send_type,
            recvbuf: *mut c_void => receive, recvcount: MPI_Count => receive_count,
            recvtype: MPI_Datatype => receive_type);
        Alltoall MPI_Alltoall_c PMPI_Alltoall_c(
            sendbuf: *const c_void => send, sendcount: MPI_Count => send_count, sendtype: MPI_Datatype => send_type,
            recvbuf: *mut c_void => receive, recvcount: MPI_Count => receive_count,
            recvtype: MPI_Datatype => receive_type);
    }
}

/// `MPI_Init` of the MPI standard.
///
/// # Safety
/// As the MPI standard says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPI_Init(argc: *mut c_int, argv: *mut *mut *mut c_char) -> c_int {
    // SAFETY: the program's own arguments, passed on as they came.
    lifecycle::init(|| unsafe { mpi_sys::PMPI_Init(argc, argv) })
}

/// `MPI_Init_thread` of the MPI standard.
///
/// # Safety
/// As the MPI standard says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPI_Init_thread(
    argc: *mut c_int,
    argv: *mut *mut *mut c_char,
    required: c_int,
    provided: *mut c_int,
) -> c_int {
    // SAFETY: the program's own arguments, passed on as they came.
    lifecycle::init(|| unsafe { mpi_sys::PMPI_Init_thread(argc, argv, required, provided) })
}

/// `MPI_Finalize` of the MPI standard.
///
/// # Safety
/// As the MPI standard says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPI_Finalize() -> c_int {
    // SAFETY: no preconditions beyond the standard's, which are the program's to keep.
    lifecycle::finalize(|| unsafe { mpi_sys::PMPI_Finalize() })
}

/// `MPI_Abort` of the MPI standard.
///
/// # Safety
/// As the MPI standard says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPI_Abort(comm: MPI_Comm, code: c_int) -> c_int {
    // SAFETY: the program's own arguments, passed on as they came.
    ending::abort(code, || unsafe { mpi_sys::PMPI_Abort(comm, code) })
}

/// `MPI_Pcontrol` of the MPI standard, with the levels that mpiP's users know. The standard's further arguments are
/// not looked at.
#[unsafe(no_mangle)]
pub extern "C" fn MPI_Pcontrol(level: c_int) -> c_int {
    lifecycle::pcontrol(level);
    mpi_sys::MPI_SUCCESS as c_int
}
