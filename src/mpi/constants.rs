//! MPI's constants, which mpi.h offers as macros and the shim turns into values.
//!
//! They are filled in when the library is loaded, as far as the MPI library of the process is there by then, and once
//! more at the program's `MPI_Init`, by [`fill`]. Until then they are zero, and nothing of MPI's may be called.

use mpi_sys::{MPI_Comm, MPI_Datatype, MPI_Errhandler, MPI_Info, MPI_Op, MPI_Request, MPI_Status};
use std::cell::UnsafeCell;
use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::raw::{c_char, c_int, c_void};

#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct PredefinedType {
    pub handle: MPI_Datatype,
    pub kind: c_char,
    pub pair: c_char,
}

/// In the order of `struct collie_constants` in shim.c.
#[repr(C)]
struct Constants {
    in_place: *const c_void,
    comm_world: MPI_Comm,
    comm_self: MPI_Comm,
    comm_null: MPI_Comm,
    datatype_null: MPI_Datatype,
    byte: MPI_Datatype,
    uint64: MPI_Datatype,
    double: MPI_Datatype,
    float: MPI_Datatype,
    int: MPI_Datatype,
    op_null: MPI_Op,
    op_min: MPI_Op,
    request_null: MPI_Request,
    info_null: MPI_Info,
    errors_return: MPI_Errhandler,
    errors_are_fatal: MPI_Errhandler,
    status_ignore: *mut MPI_Status,
    statuses_ignore: *mut MPI_Status,
    null_copy: mpi_sys::MPI_Comm_copy_attr_function,
    pvar_class_size: c_int,
    combiners: [c_int; 6],
    combiners_f90: [c_int; 3],
    topologies: [c_int; 3],
    ops: [MPI_Op; 12],
    ops_of_windows: [MPI_Op; 2],
    types: [PredefinedType; TYPES],
}

/// Rows of the shim's table of types; the shim refuses to compile with another number than that of its structure.
const TYPES: usize = 62;

unsafe extern "C" {
    fn collie_fill_constants(
        constants: *mut Constants,
        find: unsafe extern "C" fn(*const c_char) -> *mut c_void,
    ) -> *const c_char;
    static collie_constants_size: usize;
}

struct Place(UnsafeCell<MaybeUninit<Constants>>);

// SAFETY: written by `fill` only, whose callers promise that nobody reads meanwhile.
unsafe impl Sync for Place {}

static CONSTANTS: Place = Place(UnsafeCell::new(MaybeUninit::zeroed()));

/// Fills the constants in; objects of the MPI library are looked up by `find`, which gives null for those it lacks.
///
/// # Errors
/// The name of an object that this library cannot do without and the MPI library has not.
///
/// # Safety
/// No other thread reads or fills constants: the library is being loaded, or `MPI_Init` is called for the first time.
pub(super) unsafe fn fill(find: unsafe extern "C" fn(*const c_char) -> *mut c_void) -> Result<(), &'static str> {
    // SAFETY: an object of the shim.
    let size = unsafe { collie_constants_size };
    assert_eq!(size, size_of::<Constants>(), "the shim's structure and this one differ");
    // SAFETY: the structure has the shim's layout, as far as its size tells; nobody else looks at it now.
    let missing = unsafe { collie_fill_constants(CONSTANTS.0.get().cast(), find) };
    if missing.is_null() {
        return Ok(());
    }
    // SAFETY: a name that the shim's compiler wrote down, which lives as long as the shim.
    Err(unsafe { CStr::from_ptr(missing) }.to_str().unwrap_or("an object without a name"))
}

/// What is filled in.
fn all() -> &'static Constants {
    // SAFETY: zeroes are a value of each field (handles are integers or pointers, the function is optional), and
    // whoever fills keeps readers away.
    unsafe { &*CONSTANTS.0.get().cast() }
}

macro_rules! constants {
    ($($(#[$doc:meta])* $name:ident: $type:ty;)*) => {
        $($(#[$doc])*
        #[inline]
        pub fn $name() -> $type {
            all().$name
        })*
    };
}

constants! {
    /// `MPI_IN_PLACE`.
    in_place: *const c_void;
    /// `MPI_COMM_WORLD`.
    comm_world: MPI_Comm;
    /// `MPI_COMM_SELF`.
    comm_self: MPI_Comm;
    /// `MPI_COMM_NULL`.
    comm_null: MPI_Comm;
    /// `MPI_DATATYPE_NULL`.
    datatype_null: MPI_Datatype;
    /// `MPI_BYTE`.
    byte: MPI_Datatype;
    /// `MPI_UINT64_T`.
    uint64: MPI_Datatype;
    /// `MPI_DOUBLE`.
    double: MPI_Datatype;
    /// `MPI_FLOAT`.
    float: MPI_Datatype;
    /// `MPI_INT`.
    int: MPI_Datatype;
    /// `MPI_OP_NULL`.
    op_null: MPI_Op;
    /// `MPI_MIN`.
    op_min: MPI_Op;
    /// `MPI_REQUEST_NULL`.
    request_null: MPI_Request;
    /// `MPI_INFO_NULL`.
    info_null: MPI_Info;
    /// `MPI_T_PVAR_CLASS_SIZE`.
    pvar_class_size: c_int;
    /// `MPI_ERRORS_RETURN`.
    errors_return: MPI_Errhandler;
    /// `MPI_ERRORS_ARE_FATAL`.
    errors_are_fatal: MPI_Errhandler;
    /// `MPI_STATUS_IGNORE`.
    status_ignore: *mut MPI_Status;
    /// `MPI_STATUSES_IGNORE`.
    statuses_ignore: *mut MPI_Status;
    /// What `MPI_COMM_NULL_COPY_FN` does.
    null_copy: mpi_sys::MPI_Comm_copy_attr_function;
    /// The predefined operations, `MPI_SUM` first, in the order of the shim.
    ops: [MPI_Op; 12];
    /// `MPI_REPLACE` and `MPI_NO_OP`, which are predefined but no reductions.
    ops_of_windows: [MPI_Op; 2];
    /// The combiners named, dup, contiguous, vector, hvector, struct, in this order.
    combiners: [c_int; 6];
    /// The combiners of predefined types that are asked for by precision and range: real, complex, integer, in this
    /// order.
    combiners_f90: [c_int; 3];
    /// The topologies Cartesian, graph, distributed graph, in this order.
    topologies: [c_int; 3];
}

/// The predefined datatypes with their kinds; those that the MPI library lacks have a null handle, a zero.
pub(super) fn types() -> &'static [PredefinedType] {
    &all().types
}
