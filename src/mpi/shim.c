/* Turns what mpi.h offers only as macros into symbols that Rust can read. Values only, no logic. */
#include <mpi.h>
#include <stddef.h>

void *const collie_in_place = MPI_IN_PLACE;
const MPI_Comm collie_comm_world = MPI_COMM_WORLD;
const MPI_Comm collie_comm_self = MPI_COMM_SELF;
const MPI_Comm collie_comm_null = MPI_COMM_NULL;
const MPI_Datatype collie_datatype_null = MPI_DATATYPE_NULL;
const MPI_Datatype collie_byte = MPI_BYTE;
const MPI_Datatype collie_uint64 = MPI_UINT64_T;
const MPI_Datatype collie_double = MPI_DOUBLE;
const MPI_Datatype collie_float = MPI_FLOAT;
const MPI_Datatype collie_int = MPI_INT;
const MPI_Op collie_op_null = MPI_OP_NULL;
const MPI_Op collie_op_min = MPI_MIN;
const MPI_Request collie_request_null = MPI_REQUEST_NULL;
/* Of the tools interface. */
const int collie_pvar_class_size = MPI_T_PVAR_CLASS_SIZE;
const MPI_Errhandler collie_errors_return = MPI_ERRORS_RETURN;
/* Named, dup, contiguous, vector, hvector: the combiners whose layout is looked into; and struct. */
const int collie_combiners[] = {
    MPI_COMBINER_NAMED,  MPI_COMBINER_DUP,     MPI_COMBINER_CONTIGUOUS,
    MPI_COMBINER_VECTOR, MPI_COMBINER_HVECTOR, MPI_COMBINER_STRUCT,
};
/* Kinds of topology. */
const int collie_topologies[] = {MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH};
MPI_Status *const collie_status_ignore = MPI_STATUS_IGNORE;
MPI_Status *const collie_statuses_ignore = MPI_STATUSES_IGNORE;
MPI_Comm_copy_attr_function *const collie_null_copy = MPI_COMM_NULL_COPY_FN;

/*
 * Predefined datatypes by what the standard lets be done to them: i C integer, u unsigned C integer, I Fortran
 * integer, a integer of several languages, f floating point, c complex, b C logical, l Fortran logical, B byte,
 * t text and packed data (no reduction), p value-and-index pair (told apart by `pair`). Long doubles have the pair L.
 */
struct collie_predefined_type {
    MPI_Datatype handle;
    char kind;
    char pair;
};

const struct collie_predefined_type collie_types[] = {
    {MPI_SIGNED_CHAR, 'i', 0},
    {MPI_SHORT, 'i', 0},
    {MPI_INT, 'i', 0},
    {MPI_LONG, 'i', 0},
    {MPI_LONG_LONG, 'i', 0},
    {MPI_INT8_T, 'i', 0},
    {MPI_INT16_T, 'i', 0},
    {MPI_INT32_T, 'i', 0},
    {MPI_INT64_T, 'i', 0},
    {MPI_UNSIGNED_CHAR, 'u', 0},
    {MPI_UNSIGNED_SHORT, 'u', 0},
    {MPI_UNSIGNED, 'u', 0},
    {MPI_UNSIGNED_LONG, 'u', 0},
    {MPI_UNSIGNED_LONG_LONG, 'u', 0},
    {MPI_UINT8_T, 'u', 0},
    {MPI_UINT16_T, 'u', 0},
    {MPI_UINT32_T, 'u', 0},
    {MPI_UINT64_T, 'u', 0},
    {MPI_AINT, 'a', 0},
    {MPI_OFFSET, 'a', 0},
    {MPI_COUNT, 'a', 0},
    {MPI_FLOAT, 'f', 0},
    {MPI_DOUBLE, 'f', 0},
    {MPI_LONG_DOUBLE, 'f', 'L'},
    {MPI_C_FLOAT_COMPLEX, 'c', 0},
    {MPI_C_DOUBLE_COMPLEX, 'c', 0},
    {MPI_C_LONG_DOUBLE_COMPLEX, 'c', 'L'},
    {MPI_CXX_FLOAT_COMPLEX, 'c', 0},
    {MPI_CXX_DOUBLE_COMPLEX, 'c', 0},
    {MPI_CXX_LONG_DOUBLE_COMPLEX, 'c', 'L'},
    {MPI_C_BOOL, 'b', 0},
    {MPI_CXX_BOOL, 'b', 0},
    {MPI_BYTE, 'B', 0},
    {MPI_CHAR, 't', 0},
    {MPI_WCHAR, 't', 0},
    {MPI_PACKED, 't', 0},
    {MPI_FLOAT_INT, 'p', 'f'},
    {MPI_DOUBLE_INT, 'p', 'd'},
    {MPI_LONG_INT, 'p', 'l'},
    {MPI_SHORT_INT, 'p', 's'},
    {MPI_2INT, 'p', 'i'},
    {MPI_LONG_DOUBLE_INT, 'p', 'L'},
    {MPI_CHARACTER, 't', 0},
    {MPI_LOGICAL, 'l', 0},
    {MPI_INTEGER, 'I', 0},
    {MPI_INTEGER1, 'I', 0},
    {MPI_INTEGER2, 'I', 0},
    {MPI_INTEGER4, 'I', 0},
    {MPI_INTEGER8, 'I', 0},
    {MPI_REAL, 'f', 0},
    {MPI_DOUBLE_PRECISION, 'f', 0},
    {MPI_REAL4, 'f', 0},
    {MPI_REAL8, 'f', 0},
    {MPI_REAL16, 'f', 0},
    {MPI_COMPLEX, 'c', 0},
    {MPI_DOUBLE_COMPLEX, 'c', 0},
    {MPI_COMPLEX8, 'c', 0},
    {MPI_COMPLEX16, 'c', 0},
    {MPI_COMPLEX32, 'c', 0},
    {MPI_2INTEGER, 'p', 'i'},
    {MPI_2REAL, 'p', 'R'},
    {MPI_2DOUBLE_PRECISION, 'p', 'D'},
};
const size_t collie_types_number = sizeof collie_types / sizeof collie_types[0];

/* Predefined operations, in the order that mpi/operation.rs names them in. */
const MPI_Op collie_ops[] = {
    MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_MINLOC, MPI_MAXLOC,
};
