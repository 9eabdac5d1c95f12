//! The exported Fortran symbols.
//!
//! Open MPI's Fortran bindings call PMPI, past the C symbols, so every entry is needed here: in the four ways in which
//! compilers spell external names, and in the one of `mpi_f08`, where the error argument may be missing. The bindings
//! of the MPICH family call the C symbols, so entries there would count every call twice; only what has no buffers goes
//! past the C symbols in `mpi_f08`.

use super::namesake::{self, Kept};
#[cfg(mpi_family = "mpich")]
use super::native::native_procedure;
#[cfg(mpi_family = "mpich")]
use crate::call::arguments::Arguments;
#[cfg(mpi_family = "mpich")]
use crate::call::collective::carry_out;
#[cfg(mpi_family = "mpich")]
use crate::call::{observed::observe, part};
#[cfg(mpi_family = "mpich")]
use crate::monitor::{Collective, Form, Function};
#[cfg(mpi_family = "mpich")]
use crate::mpi::constants;
use crate::mpi::error::SUCCESS;
use crate::mpi::family;
#[cfg(mpi_family = "mpich")]
use crate::mpi::passed::Passed;
#[cfg(mpi_family = "mpich")]
use crate::mpi::procedures::{hidden, procedure};
#[cfg(mpi_family = "mpich")]
use crate::operation::Operation;
#[cfg(mpi_family = "mpich")]
use crate::process::library;
#[cfg(mpi_family = "mpich")]
use crate::service::ending;
use crate::service::lifecycle;
#[cfg(mpi_family = "mpich")]
use mpi_sys::MPI_Info;
use mpi_sys::{MPI_Comm, MPI_Request};
#[cfg(mpi_family = "mpich")]
use std::cell::Cell;
use std::ffi::CStr;
use std::os::raw::c_int;

/// Writes an error code where the program wants one.
///
/// # Safety
/// `ierror` is null or can be written.
pub(crate) unsafe fn give(ierror: *mut c_int, code: c_int) {
    if !ierror.is_null() {
        // SAFETY: the caller's promise.
        unsafe { ierror.write(code) }
    }
}

/// The error code that a Fortran procedure gives which is handed a place for it: the program's, or another one where the
/// program has none, as programs with `mpi_f08` may.
///
/// # Safety
/// `ierror` is null or can be written.
pub(crate) unsafe fn answer_of(ierror: *mut c_int, procedure: impl FnOnce(*mut c_int)) -> c_int {
    let mut code = SUCCESS;
    let place = if ierror.is_null() { &raw mut code } else { ierror };
    procedure(place);
    // SAFETY: it is ours or by the caller's promise the program's.
    unsafe { place.read() }
}

/// A name that ends in a zero byte.
fn c_name(text: &'static str) -> &'static CStr {
    CStr::from_bytes_with_nul(text.as_bytes()).expect("written with its end")
}

/// Entries under several exported names each; the body sees the arguments and gives the error code.
macro_rules! entries {
    (@one $symbol:literal ($($argument:ident: $type:ty),*) $body:block) => {
        const _: () = {
            /// # Safety
            /// As the MPI standard says of the Fortran binding.
            #[unsafe(export_name = $symbol)]
            unsafe extern "C" fn entry(a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> usize {
                static KEPT: Kept = Kept::new();
                if namesake::may_have_one($symbol)
                    && let Some(theirs) = KEPT.of(c_name(concat!($symbol, "\0")))
                {
                    // SAFETY: the call is the program's, of that function.
                    return unsafe { theirs(a, b, c, d, e, f) };
                }
                // What it does not take is in registers that nobody looks at.
                let [$($argument,)* ierror, ..] = [a, b, c, d, e, f];
                $(let $argument = $argument as *mut $type;)*
                let ierror = ierror as *mut c_int;
                // SAFETY: Fortran passes every argument by an address that is valid for the call.
                unsafe { give(ierror, $body) };
                0
            }
        };
    };
    ($($($symbol:literal)+ => $arguments:tt $body:block)*) => {
        $($(entries! { @one $symbol $arguments $body })+)*
    };
}

#[cfg(mpi_family = "mpich")]
entries! {
    "mpi_init_f08_" => () {
        lifecycle::init(|| mpi_sys::PMPI_Init(std::ptr::null_mut(), std::ptr::null_mut()))
    }
    "mpi_init_thread_f08_" => (required: c_int, provided: c_int) {
        lifecycle::init(|| {
            mpi_sys::PMPI_Init_thread(std::ptr::null_mut(), std::ptr::null_mut(), *required, provided)
        })
    }
    "mpi_finalize_f08_" => () {
        lifecycle::finalize(|| mpi_sys::PMPI_Finalize())
    }
    "mpi_abort_f08_" => (c: c_int, code: c_int) {
        let (c, code) = (comm(c), *code);
        ending::abort(code, || mpi_sys::PMPI_Abort(c, code))
    }
    "mpi_barrier_f08_" => (c: c_int) {
        let c = comm(c);
        carry_out(&Arguments::of(Operation::Barrier, &Passed::nothing(), c), || mpi_sys::PMPI_Barrier(c))
    }
    "mpi_ibarrier_f08_" => (c: c_int, request: c_int) {
        let (c, function) = (comm(c), Function { collective: Collective::Barrier, form: Form::Nonblocking });
        let made = Cell::new(constants::request_null());
        let native = || {
            let mut request = made.get();
            let code = mpi_sys::PMPI_Ibarrier(c, &mut request);
            made.set(request);
            code
        };
        let code = observe(function, c, -1, &part::nothing, &|| made.get(), &native);
        request.write(family::request_to_fortran(made.get()));
        code
    }
}

/// `MPI_Barrier_init` of `mpi_f08`, which MPICH has from version 4 on: the other persistent collectives call the C symbols.
///
/// # Safety
/// As the MPI standard says of the Fortran binding.
#[cfg(mpi_family = "mpich")]
#[unsafe(export_name = "mpi_barrier_init_f08_")]
unsafe extern "C" fn barrier_init(c: *mut c_int, info: *mut c_int, request: *mut c_int, ierror: *mut c_int) {
    let native = native_procedure!(
        procedure("PMPI_Barrier_init\0") as fn(comm: MPI_Comm, info: MPI_Info, request: *mut MPI_Request) -> c_int
    );
    let made = Cell::new(constants::request_null());
    // SAFETY: Fortran passes every argument by an address that is valid for the call; the library's function of that
    // name takes these arguments.
    unsafe {
        let (c, info) = (comm(c), family::info_of_fortran(*info));
        let native = || {
            let mut request = made.get();
            let code = native(c, info, &mut request);
            made.set(request);
            code
        };
        let function = Function { collective: Collective::Barrier, form: Form::Persistent };
        let code = observe(function, c, -1, &part::nothing, &|| made.get(), &native);
        request.write(family::request_to_fortran(made.get()));
        give(ierror, code);
    }
}

/// The start of a Fortran program that uses `mpif.h` or `use mpi`. The bindings of this family come to the C entry;
/// those of Open MPI pass by it, so that the wrong library would say nothing.
#[cfg(mpi_family = "mpich")]
macro_rules! beginnings {
    ($($symbol:literal ($($argument:ident),*);)*) => {
        $(const _: () = {
            /// # Safety
            /// As the MPI standard says of the Fortran binding.
            #[unsafe(export_name = $symbol)]
            unsafe extern "C" fn entry(a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> usize {
                static KEPT: Kept = Kept::new();
                if namesake::may_have_one($symbol)
                    && let Some(theirs) = KEPT.of(c_name(concat!($symbol, "\0")))
                {
                    // SAFETY: the call is the program's, of that function.
                    return unsafe { theirs(a, b, c, d, e, f) };
                }
                let [$($argument,)* ..] = [a, b, c, d, e, f].map(|word| word as *mut c_int);
                library::bind();
                let native =
                    native_procedure!(hidden(concat!($symbol, "\0")) as fn($($argument: *mut c_int),*));
                // SAFETY: the library's procedure of that name takes these arguments, which are the program's own.
                unsafe { native($($argument),*) };
                0
            }
        };)*
    };
}

#[cfg(mpi_family = "mpich")]
beginnings! {
    "mpi_init" (ierror);
    "mpi_init_" (ierror);
    "mpi_init__" (ierror);
    "MPI_INIT" (ierror);
    "mpi_init_thread" (required, provided, ierror);
    "mpi_init_thread_" (required, provided, ierror);
    "mpi_init_thread__" (required, provided, ierror);
    "MPI_INIT_THREAD" (required, provided, ierror);
}

/// A communicator as C would have passed it.
///
/// # Safety
/// The handle can be read.
pub(crate) unsafe fn comm(handle: *mut c_int) -> MPI_Comm {
    // SAFETY: the caller's promise.
    family::comm_of_fortran(unsafe { *handle })
}

/// A request as C would have passed it.
///
/// # Safety
/// The handle can be read.
pub(crate) unsafe fn request(handle: *mut c_int) -> MPI_Request {
    // SAFETY: the caller's promise.
    family::request_of_fortran(unsafe { *handle })
}

/// `MPI_PCONTROL` has no error argument.
macro_rules! pcontrol {
    ($($symbol:literal)+) => {
        $(const _: () = {
            /// # Safety
            /// As the MPI standard says of the Fortran binding.
            #[unsafe(export_name = $symbol)]
            unsafe extern "C" fn entry(level: *const c_int) {
                // SAFETY: Fortran passes a valid address.
                lifecycle::pcontrol(unsafe { *level }, || None);
            }
        };)+
    };
}

#[cfg(mpi_family = "openmpi")]
pcontrol! { "mpi_pcontrol_" "mpi_pcontrol" "mpi_pcontrol__" "MPI_PCONTROL" "mpi_pcontrol_f08_" }
#[cfg(mpi_family = "mpich")]
pcontrol! { "mpi_pcontrol_f08_" }

#[cfg(mpi_family = "openmpi")]
pub(crate) mod open_mpi {
    use super::{Kept, SUCCESS, c_int, c_name, comm, give, lifecycle, namesake};
    use crate::entry::revoking::MPIX_Comm_revoke;
    use crate::mpi::end::{EX_CONFIG, end_job};
    use crate::mpi::{constants, family, sentinels};
    use crate::service::ending;
    use mpi_sys::{MPI_Datatype, MPI_Op};
    use std::os::raw::c_void;

    /// A buffer argument as C would have passed it.
    pub(crate) fn buffer(address: *mut c_void) -> *mut c_void {
        if sentinels::is_in_place(address) {
            constants::in_place().cast_mut()
        } else if sentinels::is_bottom(address) {
            std::ptr::null_mut()
        } else {
            address
        }
    }

    /// A datatype as C would have passed it.
    ///
    /// # Safety
    /// The handle can be read.
    pub(crate) unsafe fn datatype(handle: *mut c_int) -> MPI_Datatype {
        // SAFETY: the caller's promise.
        family::datatype_of_fortran(unsafe { *handle })
    }

    /// An operation as C would have passed it.
    ///
    /// # Safety
    /// The handle can be read.
    pub(crate) unsafe fn op(handle: *mut c_int) -> MPI_Op {
        // SAFETY: the caller's promise.
        family::op_of_fortran(unsafe { *handle })
    }

    /// `MPI_INTEGER` as Fortran passes it.
    const INTEGER: c_int = 7;

    /// Refuses a library whose Fortran integers are not C's `int`, once it has begun: arguments would be misread.
    fn with_integers_of_c(code: c_int) -> c_int {
        let mut size = 0;
        // SAFETY: the library has begun; the out-parameter is valid for writes.
        let known = code == SUCCESS
            && unsafe { mpi_sys::PMPI_Type_size(family::datatype_of_fortran(INTEGER), &mut size) } == SUCCESS;
        if known && size as usize != size_of::<c_int>() {
            end_job(
                &format!("this MPI library's Fortran INTEGER takes {size} bytes; Collie serves those of 4"),
                EX_CONFIG,
            );
        }
        code
    }

    entries! {
        "mpi_init_" "mpi_init" "mpi_init__" "MPI_INIT" "mpi_init_f08_" => () {
            lifecycle::init(|| {
                with_integers_of_c(mpi_sys::PMPI_Init(std::ptr::null_mut(), std::ptr::null_mut()))
            })
        }
        "mpi_init_thread_" "mpi_init_thread" "mpi_init_thread__" "MPI_INIT_THREAD" "mpi_init_thread_f08_" =>
            (required: c_int, provided: c_int)
        {
            lifecycle::init(|| {
                let (no_count, no_words) = (std::ptr::null_mut(), std::ptr::null_mut());
                with_integers_of_c(mpi_sys::PMPI_Init_thread(no_count, no_words, *required, provided))
            })
        }
        "mpix_comm_revoke_" "mpix_comm_revoke" "mpix_comm_revoke__" "MPIX_COMM_REVOKE" "mpix_comm_revoke_f08_" =>
            (c: c_int)
        {
            MPIX_Comm_revoke(comm(c))
        }
        "mpi_finalize_" "mpi_finalize" "mpi_finalize__" "MPI_FINALIZE" "mpi_finalize_f08_" => () {
            lifecycle::finalize(|| mpi_sys::PMPI_Finalize())
        }
        "mpi_abort_" "mpi_abort" "mpi_abort__" "MPI_ABORT" "mpi_abort_f08_" => (c: c_int, code: c_int) {
            let (c, code) = (comm(c), *code);
            ending::abort(code, || mpi_sys::PMPI_Abort(c, code))
        }
    }
}
