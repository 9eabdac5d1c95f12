//! The entries of sessions, which MPI 4 has beside `MPI_Init`.
//!
//! Types are as wide as they are in every library of the family: one that has no sessions declares none.

use crate::communicator::{making, origin};
use crate::mpi::constants;
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
    if code == SUCCESS && asks_for_threads(info) {
        // Each session has a level of threads of its own, whatever MPI_Init was asked for.
        flags::set(flags::CONCURRENT);
    }
    code
}

/// Whether a session with this information is one for threads that call MPI at the same time.
fn asks_for_threads(info: MPI_Info) -> bool {
    static GET: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
    type Get = unsafe extern "C-unwind" fn(MPI_Info, *const c_char, c_int, *mut c_char, *mut c_int) -> c_int;
    const LEVEL: &[u8] = b"MPI_THREAD_MULTIPLE";
    let get = if_there(&GET, "PMPI_Info_get\0");
    if info == constants::info_null() || get.is_null() {
        return false;
    }
    let (mut value, mut is_set) = ([0_u8; 64], 0);
    // SAFETY: the library's procedure of that name takes these arguments: the information that a session has just been
    // made of, a name that ends, and room for a value of that length with its end.
    let code = unsafe {
        let get = std::mem::transmute::<*mut c_void, Get>(get);
        get(info, c"thread_level".as_ptr(), value.len() as c_int - 1, value.as_mut_ptr().cast(), &mut is_set)
    };
    code == SUCCESS && is_set != 0 && value.starts_with(LEVEL)
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
        guard::enter_call("MPI_Comm_create_from_group", || SUCCESS, note);
    }
    code
}
