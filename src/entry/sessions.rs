//! The entries of sessions, which MPI 4 has beside `MPI_Init`.
//!
//! Types are as wide as they are in every library of the family: one that has no sessions declares none.

use crate::communicator::{making, origin};
use crate::mpi::error::SUCCESS;
use crate::mpi::procedures::if_there;
use crate::process::{flags, guard, library, runtime};
use mpi_sys::{MPI_Comm, MPI_Errhandler, MPI_Group, MPI_Info};
use std::os::raw::{c_char, c_int, c_void};
use std::sync::atomic::AtomicPtr;

/// What a library without sessions would say if it had a word for it.
const UNSUPPORTED: c_int = mpi_sys::MPI_ERR_UNSUPPORTED_OPERATION as c_int;

/// `MPI_Session_init` of the MPI standard. May be the program's first call of MPI.
///
/// # Safety
/// As the MPI standard says.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn MPI_Session_init(
    info: MPI_Info,
    handler: MPI_Errhandler,
    session: *mut c_void,
) -> c_int {
    static NATIVE: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
    type Native = unsafe extern "C-unwind" fn(MPI_Info, MPI_Errhandler, *mut c_void) -> c_int;
    library::bind();
    let native = if_there(&NATIVE, "PMPI_Session_init\0");
    if native.is_null() {
        return UNSUPPORTED;
    }
    // SAFETY: the library's procedure of that name takes these arguments, which are the program's own.
    let code = unsafe { std::mem::transmute::<*mut c_void, Native>(native)(info, handler, session) };
    if code == SUCCESS {
        // Each session has a level of threads of its own, whatever MPI_Init was asked for.
        flags::set(flags::CONCURRENT);
    }
    code
}

/// `MPI_Comm_create_from_group` of the MPI standard, which makes the communicators of sessions.
///
/// # Safety
/// As the MPI standard says.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn MPI_Comm_create_from_group(
    group: MPI_Group,
    tag: *const c_char,
    info: MPI_Info,
    handler: MPI_Errhandler,
    new: *mut MPI_Comm,
) -> c_int {
    static NATIVE: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
    type Native =
        unsafe extern "C-unwind" fn(MPI_Group, *const c_char, MPI_Info, MPI_Errhandler, *mut MPI_Comm) -> c_int;
    let native = if_there(&NATIVE, "PMPI_Comm_create_from_group\0");
    if native.is_null() {
        return UNSUPPORTED;
    }
    // SAFETY: the library's procedure of that name takes these arguments, which are the program's own.
    let native = || unsafe { std::mem::transmute::<*mut c_void, Native>(native)(group, tag, info, handler, new) };
    let code = making::by_program(native);
    if code == SUCCESS && runtime::get().is_some() {
        let note = || {
            // SAFETY: the native function has just written there.
            if let Err(error) = origin::note_first("MPI_Comm_create_from_group", unsafe { *new }) {
                log::warn!("the origin of a communicator could not be recorded: {error}");
            }
            SUCCESS
        };
        guard::enter("MPI_Comm_create_from_group", || SUCCESS, note);
    }
    code
}
