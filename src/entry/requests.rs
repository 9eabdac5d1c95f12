//! The C entries of the calls that start requests again, wait for them, test them, ask after them and free them.

use super::native::native_procedure;
use crate::call::requests::{self, Handles};
use crate::monitor::MessageCall;
use crate::mpi::constants;
use crate::mpi::error::throwing;
use crate::mpi::procedures::procedure;
use mpi_sys::{MPI_Request, MPI_Status};
use std::os::raw::c_int;

/// The program's requests; none for a count or address that MPI forbids.
unsafe fn read(count: c_int, requests: *const MPI_Request) -> Handles {
    let count = usize::try_from(count).unwrap_or(0);
    if requests.is_null() {
        return Handles::new();
    }
    // SAFETY: the program passes that many.
    unsafe { std::slice::from_raw_parts(requests, count) }.into()
}

/// The program's request; the null request for an address that MPI forbids.
unsafe fn one(request: *const MPI_Request) -> MPI_Request {
    if request.is_null() {
        return constants::request_null();
    }
    // SAFETY: the program passes the address of a handle.
    unsafe { *request }
}

/// What tells whether a place is among the first indices, of which the native call writes how many there are: of `count`
/// requests no more than that, even if a call that failed unnoticed has written nothing.
unsafe fn among(count: c_int, number: *const c_int, indices: *const c_int) -> impl Fn(usize) -> bool {
    requests::listed(move || {
        // SAFETY: asked for when the native call has written it, and that many.
        unsafe {
            let number = usize::try_from((*number).min(count)).unwrap_or(0);
            (0..number).map(|index| *indices.add(index) as usize).collect()
        }
    })
}

macro_rules! entries {
    ($($kind:ident $call:ident $name:ident $native:ident ($($argument:ident: $type:ty),*)
        $requests:expr $(, $done:expr)?;)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "` of the MPI standard.")]
            ///
            /// # Safety
            /// As the MPI standard says.
            #[unsafe(no_mangle)]
            #[allow(unused_unsafe, reason = "some arguments of the macro need it")]
            pub unsafe extern "C-unwind" fn $name($($argument: $type),*) -> c_int {
                // SAFETY: the program's own arguments, passed on as they came.
                let native = || unsafe { throwing!($native($($type),*))($($argument),*) };
                entries! {
                    @$kind $call
                    || {
                        // SAFETY: the requests are read as MPI reads them.
                        unsafe { $requests }
                    },
                    native
                    $(, {
                        // SAFETY: asked only when the native call has written there.
                        unsafe { $done }
                    })?
                }
            }
        )*
    };
    (@wait $call:ident $requests:expr, $native:expr) => {
        requests::wait(MessageCall::$call, $requests, |_| true, $native)
    };
    (@wait $call:ident $requests:expr, $native:expr, $done:expr) => {
        requests::wait(MessageCall::$call, $requests, $done, $native)
    };
    (@start $call:ident $requests:expr, $native:expr) => { requests::start(MessageCall::$call, $requests, $native) };
    (@free $call:ident $requests:expr, $native:expr) => { requests::free($requests, $native) };
}

entries! {
    wait Wait MPI_Wait PMPI_Wait(request: *mut MPI_Request, status: *mut MPI_Status) read(1, request);
    wait Waitall MPI_Waitall PMPI_Waitall(count: c_int, requests: *mut MPI_Request, statuses: *mut MPI_Status)
        read(count, requests);
    wait Waitany MPI_Waitany PMPI_Waitany(
        count: c_int, requests: *mut MPI_Request, index: *mut c_int, status: *mut MPI_Status)
        read(count, requests), |place: usize| *index == place as c_int;
    wait Waitsome MPI_Waitsome PMPI_Waitsome(
        count: c_int, requests: *mut MPI_Request, number: *mut c_int, indices: *mut c_int,
        statuses: *mut MPI_Status)
        read(count, requests), among(count, number, indices);
    wait Test MPI_Test PMPI_Test(request: *mut MPI_Request, flag: *mut c_int, status: *mut MPI_Status)
        read(1, request), |_: usize| *flag != 0;
    wait Testall MPI_Testall PMPI_Testall(
        count: c_int, requests: *mut MPI_Request, flag: *mut c_int, statuses: *mut MPI_Status)
        read(count, requests), |_: usize| *flag != 0;
    wait Testany MPI_Testany PMPI_Testany(
        count: c_int, requests: *mut MPI_Request, index: *mut c_int, flag: *mut c_int, status: *mut MPI_Status)
        read(count, requests), |place: usize| *flag != 0 && *index == place as c_int;
    wait Testsome MPI_Testsome PMPI_Testsome(
        count: c_int, requests: *mut MPI_Request, number: *mut c_int, indices: *mut c_int,
        statuses: *mut MPI_Status)
        read(count, requests), among(count, number, indices);
    wait RequestGetStatus MPI_Request_get_status PMPI_Request_get_status(
        request: MPI_Request, flag: *mut c_int, status: *mut MPI_Status)
        Handles::from_slice(&[request]), |_: usize| false;
    start Start MPI_Start PMPI_Start(request: *mut MPI_Request) read(1, request);
    start Startall MPI_Startall PMPI_Startall(count: c_int, requests: *mut MPI_Request) read(count, requests);
    free Wait MPI_Request_free PMPI_Request_free(request: *mut MPI_Request) one(request);
}

/// What MPI 4.1 added, which the header may not declare: completes no request either.
macro_rules! asking {
    ($($call:ident $text:literal ($($argument:ident: $type:ty),*);)*) => {
        $(const _: () = {
            /// # Safety
            /// As the MPI standard says.
            #[unsafe(export_name = concat!("MPI_", $text))]
            unsafe extern "C-unwind" fn entry(count: c_int, requests: *const MPI_Request, $($argument: $type),*) -> c_int {
                let native = native_procedure!(procedure(concat!("PMPI_", $text, "\0")) as fn(
                    count: c_int, requests: *const MPI_Request, $($argument: $type),*
                ) -> c_int);
                // SAFETY: the requests are read as MPI reads them.
                let requests_of = || unsafe { read(count, requests) };
                // SAFETY: the library's procedure of that name takes these arguments, which are the program's own.
                let native = || unsafe { native(count, requests, $($argument),*) };
                requests::wait(MessageCall::$call, requests_of, |_| false, native)
            }
        };)*
    };
}

asking! {
    RequestGetStatusAll "Request_get_status_all" (flag: *mut c_int, statuses: *mut MPI_Status);
    RequestGetStatusAny "Request_get_status_any" (index: *mut c_int, flag: *mut c_int, status: *mut MPI_Status);
    RequestGetStatusSome "Request_get_status_some" (number: *mut c_int, indices: *mut c_int, statuses: *mut MPI_Status);
}
