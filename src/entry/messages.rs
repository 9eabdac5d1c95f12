//! The C entries of the calls that send and receive messages: counted, timed and passed on.

use crate::call::messages::{Moved, count as counted, moved_to};
use crate::monitor::MessageCall;
use crate::mpi::error::throwing;
use mpi_sys::{MPI_Comm, MPI_Datatype, MPI_Message, MPI_Request, MPI_Status};
use std::os::raw::{c_int, c_void};

/// One entry per line: the call, exported name, PMPI name, arguments, and the bytes that it sends.
macro_rules! entries {
    ($($call:ident $name:ident $native:ident ($($argument:ident: $type:ty),*) $bytes:expr;)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "` of the MPI standard.")]
            ///
            /// # Safety
            /// As the MPI standard says.
            #[unsafe(no_mangle)]
            pub unsafe extern "C-unwind" fn $name($($argument: $type),*) -> c_int {
                // SAFETY: the program's own arguments, passed on as they came.
                let native = || unsafe { throwing!($native($($type),*))($($argument),*) };
                counted(MessageCall::$call, || $bytes, native)
            }
        )*
    };
}

/// The entries whose counts are of one type: `int`, or `MPI_Count` in the large-count forms.
macro_rules! counting {
    ($int:ty; $($call:ident $name:ident $native:ident $kind:ident;)*) => {
        $(counting! { @$kind $int, $call $name $native })*
    };
    (@send $int:ty, $call:ident $name:ident $native:ident) => {
        entries! {
            $call $name $native(buffer: *const c_void, count: $int, datatype: MPI_Datatype, to: c_int, tag: c_int, comm: MPI_Comm)
                moved_to(to, i64::from(count), datatype);
        }
    };
    (@start $int:ty, $call:ident $name:ident $native:ident) => {
        entries! {
            $call $name $native(buffer: *const c_void, count: $int, datatype: MPI_Datatype, to: c_int, tag: c_int, comm: MPI_Comm,
                request: *mut MPI_Request) moved_to(to, i64::from(count), datatype);
        }
    };
    (@receive $int:ty, $call:ident $name:ident $native:ident) => {
        entries! {
            $call $name $native(buffer: *mut c_void, count: $int, datatype: MPI_Datatype, from: c_int, tag: c_int, comm: MPI_Comm,
                status: *mut MPI_Status) Moved::NOTHING;
        }
    };
    (@start_receive $int:ty, $call:ident $name:ident $native:ident) => {
        entries! {
            $call $name $native(buffer: *mut c_void, count: $int, datatype: MPI_Datatype, from: c_int, tag: c_int, comm: MPI_Comm,
                request: *mut MPI_Request) Moved::NOTHING;
        }
    };
    (@matched $int:ty, $call:ident $name:ident $native:ident) => {
        entries! {
            $call $name $native(buffer: *mut c_void, count: $int, datatype: MPI_Datatype, message: *mut MPI_Message,
                status: *mut MPI_Status) Moved::NOTHING;
        }
    };
    (@start_matched $int:ty, $call:ident $name:ident $native:ident) => {
        entries! {
            $call $name $native(buffer: *mut c_void, count: $int, datatype: MPI_Datatype, message: *mut MPI_Message,
                request: *mut MPI_Request) Moved::NOTHING;
        }
    };
    (@both $int:ty, $call:ident $name:ident $native:ident) => {
        entries! {
            $call $name $native(send: *const c_void, send_count: $int, send_type: MPI_Datatype, to: c_int, send_tag: c_int,
                receive: *mut c_void, receive_count: $int, receive_type: MPI_Datatype, from: c_int, receive_tag: c_int,
                comm: MPI_Comm, status: *mut MPI_Status) moved_to(to, i64::from(send_count), send_type);
        }
    };
    (@replace $int:ty, $call:ident $name:ident $native:ident) => {
        entries! {
            $call $name $native(buffer: *mut c_void, count: $int, datatype: MPI_Datatype, to: c_int, send_tag: c_int, from: c_int,
                receive_tag: c_int, comm: MPI_Comm, status: *mut MPI_Status) moved_to(to, i64::from(count), datatype);
        }
    };
}

counting! {
    c_int;
    Send MPI_Send PMPI_Send send;
    Bsend MPI_Bsend PMPI_Bsend send;
    Ssend MPI_Ssend PMPI_Ssend send;
    Rsend MPI_Rsend PMPI_Rsend send;
    Isend MPI_Isend PMPI_Isend start;
    Ibsend MPI_Ibsend PMPI_Ibsend start;
    Issend MPI_Issend PMPI_Issend start;
    Irsend MPI_Irsend PMPI_Irsend start;
    Recv MPI_Recv PMPI_Recv receive;
    Irecv MPI_Irecv PMPI_Irecv start_receive;
    Mrecv MPI_Mrecv PMPI_Mrecv matched;
    Imrecv MPI_Imrecv PMPI_Imrecv start_matched;
    Sendrecv MPI_Sendrecv PMPI_Sendrecv both;
    SendrecvReplace MPI_Sendrecv_replace PMPI_Sendrecv_replace replace;
}

entries! {
    Probe MPI_Probe PMPI_Probe(from: c_int, tag: c_int, comm: MPI_Comm, status: *mut MPI_Status) Moved::NOTHING;
    Iprobe MPI_Iprobe PMPI_Iprobe(from: c_int, tag: c_int, comm: MPI_Comm, flag: *mut c_int, status: *mut MPI_Status)
        Moved::NOTHING;
    Mprobe MPI_Mprobe PMPI_Mprobe(
        from: c_int, tag: c_int, comm: MPI_Comm, message: *mut MPI_Message, status: *mut MPI_Status) Moved::NOTHING;
    Improbe MPI_Improbe PMPI_Improbe(
        from: c_int, tag: c_int, comm: MPI_Comm, flag: *mut c_int, message: *mut MPI_Message, status: *mut MPI_Status)
        Moved::NOTHING;
}

/// The large-count forms, where the MPI has them.
#[cfg(mpi_large_count)]
mod large_count {
    use super::*;
    use mpi_sys::MPI_Count;

    counting! {
        MPI_Count;
        Send MPI_Send_c PMPI_Send_c send;
        Bsend MPI_Bsend_c PMPI_Bsend_c send;
        Ssend MPI_Ssend_c PMPI_Ssend_c send;
        Rsend MPI_Rsend_c PMPI_Rsend_c send;
        Isend MPI_Isend_c PMPI_Isend_c start;
        Ibsend MPI_Ibsend_c PMPI_Ibsend_c start;
        Issend MPI_Issend_c PMPI_Issend_c start;
        Irsend MPI_Irsend_c PMPI_Irsend_c start;
        Recv MPI_Recv_c PMPI_Recv_c receive;
        Irecv MPI_Irecv_c PMPI_Irecv_c start_receive;
        Mrecv MPI_Mrecv_c PMPI_Mrecv_c matched;
        Imrecv MPI_Imrecv_c PMPI_Imrecv_c start_matched;
        Sendrecv MPI_Sendrecv_c PMPI_Sendrecv_c both;
        SendrecvReplace MPI_Sendrecv_replace_c PMPI_Sendrecv_replace_c replace;
    }
}
