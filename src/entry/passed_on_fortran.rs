//! The Fortran entries of the calls in the [table](super::passed_on): all of Open MPI's bindings call PMPI past the C
//! symbols, and so do those of MPICH's `mpi_f08` without buffers. The arguments go on untouched.

use super::fortran::answer_of;
use super::names::under_each_name;
use super::native::native_procedure;
use super::passed_on::passed_on;
use crate::call::messages::{Moved, count as counted};
use crate::monitor::MessageCall;
use crate::mpi::procedures::of_fortran;
use std::os::raw::{c_int, c_void};

/// The entries under each of their names.
macro_rules! entries {
    (@one $symbol:expr, $native:expr, $call:ident ($($argument:ident)*) ($($length:ident)?) $bytes:tt) => {
        const _: () = {
            /// # Safety
            /// As the MPI standard says of the Fortran binding.
            #[unsafe(export_name = $symbol)]
            unsafe extern "C-unwind" fn entry($($argument: *mut c_void,)* ierror: *mut c_int $(, $length: usize)?) {
                let native = native_procedure!(
                    of_fortran($native) as fn($($argument: *mut c_void,)* ierror: *mut c_int $(, $length: usize)?)
                );
                let native = || {
                    // SAFETY: the procedure takes these arguments, which are the program's own, the error among them.
                    unsafe { answer_of(ierror, |ierror| native($($argument,)* ierror $(, $length)?)) }
                };
                counted(MessageCall::$call, || entries!(@bytes $bytes), native);
            }
        };
    };
    (@bytes []) => { Moved::NOTHING };
    (@bytes [$count:ident $datatype:ident]) => {
        // SAFETY: Fortran passes valid addresses.
        unsafe { super::messages_fortran::moved_to_fortran(0, *$count.cast(), *$datatype.cast()) }
    };
    (@bytes [$to:ident 1 $datatype:ident]) => {
        // SAFETY: Fortran passes valid addresses.
        unsafe { super::messages_fortran::moved_to_fortran(*$to.cast(), 1, *$datatype.cast()) }
    };
    (@bytes [$to:ident $count:ident $datatype:ident]) => {
        // SAFETY: Fortran passes valid addresses.
        unsafe { super::messages_fortran::moved_to_fortran(*$to.cast(), *$count.cast(), *$datatype.cast()) }
    };
    (@named $lower:ident $upper:ident $($rest:tt)*) => {
        under_each_name! {
            entries ["mpi_", stringify!($lower)] ["MPI_", stringify!($upper)] ["mpi_", stringify!($lower)] $($rest)*
        }
    };
    // MPICH's forms with buffers call the C symbols.
    (@kind choice $($rest:tt)*) => {
        #[cfg(mpi_family = "openmpi")]
        entries! { @named $($rest)* }
    };
    (@kind $other:ident $($rest:tt)*) => { entries! { @named $($rest)* } };
    (@line text $lower:ident $upper:ident $call:ident ($($argument:ident: $type:ty),*) $bytes:tt) => {
        entries! { @kind text $lower $upper $call ($($argument)*) (length) $bytes }
    };
    (@line $fortran:ident $lower:ident $upper:ident $call:ident ($($argument:ident: $type:ty),*) $bytes:tt) => {
        entries! { @kind $fortran $lower $upper $call ($($argument)*) () $bytes }
    };
    ($($call:ident $text:literal $lower:ident $upper:ident $large:ident $fortran:ident $arguments:tt $bytes:tt;)*) => {
        $(entries! { @line $fortran $lower $upper $call $arguments $bytes })*
    };
}

passed_on! { entries }

// What `use mpi` of Open MPI calls where the memory is a `type(c_ptr)`; in `mpi_f08` they have the usual names.
entries! {
    @kind choice win_allocate_cptr WIN_ALLOCATE_CPTR WinAllocate (size unit info comm base win) () []
}
entries! {
    @kind choice win_allocate_shared_cptr WIN_ALLOCATE_SHARED_CPTR WinAllocateShared (size unit info comm base win) () []
}

/// What `mpi_f08` of MPICH calls past the C symbols where an argument is a large integer.
#[cfg(mpi_family = "mpich")]
mod of_large_integers {
    use super::*;

    macro_rules! large {
        ($lower:literal $call:ident $arguments:tt) => {
            entries! {
                @one concat!($lower, "_f08_large_"), concat!($lower, "_f08_large_\0"), $call $arguments () []
            }
        };
    }

    large! { "mpi_win_allocate" WinAllocate (size unit info comm base win) }
    large! { "mpi_win_allocate_shared" WinAllocateShared (size unit info comm base win) }
    large! { "mpi_buffer_detach" BufferDetach (buffer size) }
}
