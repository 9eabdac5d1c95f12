//! The Fortran entries of the calls that deal with requests: all of Open MPI's bindings, and those of MPICH's
//! `mpi_f08`, call PMPI past the C symbols.

use super::fortran::{answer_of, request};
use super::names::under_each_name;
use super::native::native_procedure;
use crate::call::requests::{self, Handles};
use crate::monitor::MessageCall;
use crate::mpi::procedures::of_fortran;
use std::os::raw::c_int;

/// The program's requests.
unsafe fn read(count: *mut c_int, requests: *mut c_int) -> Handles {
    // SAFETY: Fortran passes that many.
    unsafe {
        let count = usize::try_from(*count).unwrap_or(0);
        (0..count).map(|place| request(requests.add(place))).collect()
    }
}

/// What tells whether a place is among the first indices, which count from 1; of `count` requests no more than that, even
/// if a call that failed unnoticed has written nothing.
unsafe fn among(count: *const c_int, number: *const c_int, indices: *const c_int) -> impl Fn(usize) -> bool {
    requests::listed(move || {
        // SAFETY: asked for when the native call has written it, and that many.
        unsafe {
            let number = usize::try_from((*number).min(*count)).unwrap_or(0);
            (0..number).map(|index| (*indices.add(index) as usize).wrapping_sub(1)).collect()
        }
    })
}

/// The entries. They have a table of their own: what they pass by address, and count from 1, the C entries do not.
macro_rules! entries {
    (@one $symbol:expr, $native:expr, $kind:ident $call:ident
        { ($($argument:ident)*) $requests:expr $(, $done:expr)? }) => {
        const _: () = {
            /// # Safety
            /// As the MPI standard says of the Fortran binding.
            #[unsafe(export_name = $symbol)]
            #[allow(unused_unsafe, reason = "some arguments of the macro need it")]
            unsafe extern "C-unwind" fn entry($($argument: *mut c_int,)* ierror: *mut c_int) {
                let native =
                    native_procedure!(of_fortran($native) as fn($($argument: *mut c_int,)* ierror: *mut c_int));
                let native = || {
                    // SAFETY: the procedure takes these arguments, which are the program's own, the error among them.
                    unsafe { answer_of(ierror, |ierror| native($($argument,)* ierror)) }
                };
                // SAFETY: read as MPI reads and writes them.
                entries! { @$kind $call || unsafe { $requests }, native $(, unsafe { $done })? };
            }
        };
    };
    (@wait $call:ident $requests:expr, $native:expr) => { requests::wait(MessageCall::$call, $requests, |_| true, $native) };
    (@wait $call:ident $requests:expr, $native:expr, $done:expr) => { requests::wait(MessageCall::$call, $requests, $done, $native) };
    (@start $call:ident $requests:expr, $native:expr) => { requests::start(MessageCall::$call, $requests, $native) };
    (@free $call:ident $requests:expr, $native:expr) => { requests::free($requests, $native) };
    ($($kind:ident $call:ident $lower:ident $upper:ident $arguments:tt $requests:expr $(, $done:expr)?;)*) => {
        $(under_each_name! {
            entries ["mpi_", stringify!($lower)] ["MPI_", stringify!($upper)] ["mpi_", stringify!($lower)]
            $kind $call { $arguments $requests $(, $done)? }
        })*
    };
}

entries! {
    wait Wait wait WAIT (handle status) Handles::from_slice(&[request(handle)]);
    wait Waitall waitall WAITALL (count handles statuses) read(count, handles);
    wait Waitany waitany WAITANY (count handles index status) read(count, handles), |place: usize| *index == place as c_int + 1;
    wait Waitsome waitsome WAITSOME (count handles number indices statuses) read(count, handles),
        among(count, number, indices);
    wait Test test TEST (handle flag status) Handles::from_slice(&[request(handle)]), |_: usize| *flag != 0;
    wait Testall testall TESTALL (count handles flag statuses) read(count, handles), |_: usize| *flag != 0;
    wait Testany testany TESTANY (count handles index flag status) read(count, handles),
        |place: usize| *flag != 0 && *index == place as c_int + 1;
    wait Testsome testsome TESTSOME (count handles number indices statuses) read(count, handles),
        among(count, number, indices);
    wait RequestGetStatus request_get_status REQUEST_GET_STATUS (handle flag status) Handles::from_slice(&[request(handle)]),
        |_: usize| false;
    wait RequestGetStatusAll request_get_status_all REQUEST_GET_STATUS_ALL (count handles flag statuses) read(count, handles),
        |_: usize| false;
    wait RequestGetStatusAny request_get_status_any REQUEST_GET_STATUS_ANY (count handles index flag status)
        read(count, handles), |_: usize| false;
    wait RequestGetStatusSome request_get_status_some REQUEST_GET_STATUS_SOME (count handles number indices statuses)
        read(count, handles), |_: usize| false;
    start Start start START (handle) Handles::from_slice(&[request(handle)]);
    start Startall startall STARTALL (count handles) read(count, handles);
    free Wait request_free REQUEST_FREE (handle) request(handle);
}
