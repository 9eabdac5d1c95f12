//! The Fortran entries of the calls that send and receive messages: all of Open MPI's bindings call PMPI past the C
//! symbols, and so do the probes of MPICH's `mpi_f08`, which have no buffers. The arguments go on untouched.

use super::fortran::answer_of;
use super::names::under_each_name;
use super::native::native_procedure;
use crate::call::messages::{Moved, count as counted};
use crate::monitor::MessageCall;
#[cfg(mpi_family = "openmpi")]
use crate::mpi::family;
use crate::mpi::procedures::of_fortran;
use std::os::raw::c_int;

/// The entries under each of their names.
macro_rules! entries {
    (@one $symbol:expr, $native:expr, $call:ident ($($argument:ident)*) $bytes:expr) => {
        const _: () = {
            /// # Safety
            /// As the MPI standard says of the Fortran binding.
            #[unsafe(export_name = $symbol)]
            unsafe extern "C-unwind" fn entry($($argument: *mut c_int,)* ierror: *mut c_int) {
                let native =
                    native_procedure!(of_fortran($native) as fn($($argument: *mut c_int,)* ierror: *mut c_int));
                let native = || {
                    // SAFETY: the procedure takes these arguments, which are the program's own, the error among them.
                    unsafe { answer_of(ierror, |ierror| native($($argument,)* ierror)) }
                };
                counted(MessageCall::$call, || {
                    // SAFETY: Fortran passes valid addresses.
                    #[allow(unused_unsafe, reason = "some arguments of the macro need it")]
                    unsafe { $bytes }
                }, native);
            }
        };
    };
    ($($call:ident $lower:ident $upper:ident $arguments:tt $bytes:expr;)*) => {
        $(under_each_name! {
            entries ["mpi_", stringify!($lower)] ["MPI_", stringify!($upper)] ["mpi_", stringify!($lower)]
            $call $arguments $bytes
        })*
    };
}

/// So many elements of the datatype that Fortran names so, where they are sent to that rank.
#[cfg(mpi_family = "openmpi")]
#[inline]
pub(super) fn moved_to_fortran(to: c_int, count: c_int, datatype: c_int) -> Moved {
    // No address of C's is that high.
    let name = !(datatype as u32 as usize);
    crate::call::messages::moved_of_named(to, count.into(), name, || family::datatype_of_fortran(datatype))
}

#[cfg(mpi_family = "openmpi")]
entries! {
    Send send SEND (buffer count datatype to tag comm) moved_to_fortran(*to, *count, *datatype);
    Bsend bsend BSEND (buffer count datatype to tag comm) moved_to_fortran(*to, *count, *datatype);
    Ssend ssend SSEND (buffer count datatype to tag comm) moved_to_fortran(*to, *count, *datatype);
    Rsend rsend RSEND (buffer count datatype to tag comm) moved_to_fortran(*to, *count, *datatype);
    Isend isend ISEND (buffer count datatype to tag comm request) moved_to_fortran(*to, *count, *datatype);
    Ibsend ibsend IBSEND (buffer count datatype to tag comm request) moved_to_fortran(*to, *count, *datatype);
    Issend issend ISSEND (buffer count datatype to tag comm request) moved_to_fortran(*to, *count, *datatype);
    Irsend irsend IRSEND (buffer count datatype to tag comm request) moved_to_fortran(*to, *count, *datatype);
    Recv recv RECV (buffer count datatype from tag comm status) Moved::NOTHING;
    Irecv irecv IRECV (buffer count datatype from tag comm request) Moved::NOTHING;
    Mrecv mrecv MRECV (buffer count datatype message status) Moved::NOTHING;
    Imrecv imrecv IMRECV (buffer count datatype message request) Moved::NOTHING;
    Sendrecv sendrecv SENDRECV (buffer count datatype to tag receive receive_count receive_type from receive_tag comm status)
        moved_to_fortran(*to, *count, *datatype);
    SendrecvReplace sendrecv_replace SENDRECV_REPLACE (buffer count datatype to tag from receive_tag comm status)
        moved_to_fortran(*to, *count, *datatype);
}

entries! {
    Probe probe PROBE (from tag comm status) Moved::NOTHING;
    Iprobe iprobe IPROBE (from tag comm flag status) Moved::NOTHING;
    Mprobe mprobe MPROBE (from tag comm message status) Moved::NOTHING;
    Improbe improbe IMPROBE (from tag comm flag message status) Moved::NOTHING;
}
