//! MPI's constants, which mpi.h offers as macros and the shim turns into symbols.

use mpi_sys::{MPI_Comm, MPI_Datatype, MPI_Errhandler, MPI_Op, MPI_Request, MPI_Status};
use std::os::raw::{c_char, c_int, c_void};

#[repr(C)]
pub(super) struct PredefinedType {
    pub handle: MPI_Datatype,
    pub kind: c_char,
    pub pair: c_char,
}

unsafe extern "C" {
    static collie_in_place: *const c_void;
    static collie_comm_world: MPI_Comm;
    static collie_comm_self: MPI_Comm;
    static collie_comm_null: MPI_Comm;
    static collie_datatype_null: MPI_Datatype;
    static collie_byte: MPI_Datatype;
    static collie_uint64: MPI_Datatype;
    static collie_double: MPI_Datatype;
    static collie_float: MPI_Datatype;
    static collie_int: MPI_Datatype;
    static collie_op_null: MPI_Op;
    static collie_op_min: MPI_Op;
    static collie_request_null: MPI_Request;
    static collie_pvar_class_size: c_int;
    static collie_errors_return: MPI_Errhandler;
    static collie_status_ignore: *mut MPI_Status;
    static collie_statuses_ignore: *mut MPI_Status;
    static collie_null_copy: mpi_sys::MPI_Comm_copy_attr_function;
    static collie_types: [PredefinedType; 0];
    static collie_types_number: usize;
    static collie_ops: [MPI_Op; 12];
    static collie_combiners: [c_int; 6];
    static collie_topologies: [c_int; 3];
}

macro_rules! constants {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $symbol:ident;)*) => {
        $($(#[$doc])*
        pub fn $name() -> $type {
            // SAFETY: an immutable object of the shim, of this type, initialised before any code runs.
            unsafe { $symbol }
        })*
    };
}

constants! {
    /// `MPI_IN_PLACE`.
    in_place: *const c_void = collie_in_place;
    /// `MPI_COMM_WORLD`.
    comm_world: MPI_Comm = collie_comm_world;
    /// `MPI_COMM_SELF`.
    comm_self: MPI_Comm = collie_comm_self;
    /// `MPI_COMM_NULL`.
    comm_null: MPI_Comm = collie_comm_null;
    /// `MPI_DATATYPE_NULL`.
    datatype_null: MPI_Datatype = collie_datatype_null;
    /// `MPI_BYTE`.
    byte: MPI_Datatype = collie_byte;
    /// `MPI_UINT64_T`.
    uint64: MPI_Datatype = collie_uint64;
    /// `MPI_DOUBLE`.
    double: MPI_Datatype = collie_double;
    /// `MPI_FLOAT`.
    float: MPI_Datatype = collie_float;
    /// `MPI_INT`.
    int: MPI_Datatype = collie_int;
    /// `MPI_OP_NULL`.
    op_null: MPI_Op = collie_op_null;
    /// `MPI_MIN`.
    op_min: MPI_Op = collie_op_min;
    /// `MPI_REQUEST_NULL`.
    request_null: MPI_Request = collie_request_null;
    /// `MPI_T_PVAR_CLASS_SIZE`.
    pvar_class_size: c_int = collie_pvar_class_size;
    /// `MPI_ERRORS_RETURN`.
    errors_return: MPI_Errhandler = collie_errors_return;
    /// `MPI_STATUS_IGNORE`.
    status_ignore: *mut MPI_Status = collie_status_ignore;
    /// `MPI_STATUSES_IGNORE`.
    statuses_ignore: *mut MPI_Status = collie_statuses_ignore;
    /// `MPI_COMM_NULL_COPY_FN`.
    null_copy: mpi_sys::MPI_Comm_copy_attr_function = collie_null_copy;
    /// The predefined operations, `MPI_SUM` first, in the order of the shim.
    ops: [MPI_Op; 12] = collie_ops;
    /// The combiners named, dup, contiguous, vector, hvector, struct, in this order.
    combiners: [c_int; 6] = collie_combiners;
    /// The topologies Cartesian, graph, distributed graph, in this order.
    topologies: [c_int; 3] = collie_topologies;
}

/// The predefined datatypes with their kinds.
pub(super) fn types() -> &'static [PredefinedType] {
    // SAFETY: the shim's array has `collie_types_number` elements of this layout, never written.
    unsafe { std::slice::from_raw_parts((&raw const collie_types).cast(), collie_types_number) }
}
