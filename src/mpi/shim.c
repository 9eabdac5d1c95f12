/*
 * Turns what mpi.h offers only as macros into values that Rust can read. The library is not linked with MPI, so that one
 * binary serves every version of an ABI and does no harm in processes without MPI; the objects that Open MPI's handles are
 * addresses of are therefore looked up by name, once, when the MPI library of the process is known.
 */
#include <mpi.h>
#include <stddef.h>
#include <string.h>

/* Gives the address of an object of the MPI library, or null. */
typedef void *collie_find(const char *name);

#ifdef OMPI_PREDEFINED_GLOBAL
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, object) ((type)find_object(find, #object, missing))

static void *find_object(collie_find *find, const char *name, const char **missing)
{
    void *object = find(name);
    if (object == NULL && *missing == NULL)
        *missing = name;
    return object;
}
#endif

/* What `MPI_COMM_NULL_COPY_FN` does: a duplicate of the communicator gets no copy of the attribute. */
static int copy_nothing(MPI_Comm comm, int key, void *extra, void *value, void *copy, int *copied)
{
    (void)comm, (void)key, (void)extra, (void)value, (void)copy;
    *copied = 0;
    return MPI_SUCCESS;
}

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

/* In the order of `Constants` in mpi/constants.rs. */
struct collie_constants {
    void *in_place;
    MPI_Comm comm_world, comm_self, comm_null;
    MPI_Datatype datatype_null, byte, uint64, double_, float_, int_;
    MPI_Op op_null, op_min;
    MPI_Request request_null;
    MPI_Info info_null;
    MPI_Errhandler errors_return, errors_are_fatal;
    MPI_Status *status_ignore, *statuses_ignore;
    MPI_Comm_copy_attr_function *null_copy;
    /* Of the tools interface. */
    int pvar_class_size;
    /* Named, dup, contiguous, vector, hvector: the combiners whose layout is looked into; and struct. */
    int combiners[6];
    /* Of the types that are asked for by precision and range. */
    int combiners_f90[3];
    /* Kinds of topology: Cartesian, graph, distributed graph. */
    int topologies[3];
    /* Predefined operations, in the order that mpi/operation.rs names them in. */
    MPI_Op ops[12];
    /* Those that only windows know. */
    MPI_Op ops_of_windows[2];
    struct collie_predefined_type types[62];
};

/* A type that the MPI library lacks gets a null handle. */
static void fill_types(struct collie_constants *constants, collie_find *find)
{
    const char *lacking = NULL, **missing = &lacking;
    (void)find, (void)missing;
    const struct collie_predefined_type types[] = {
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
    _Static_assert(sizeof types == sizeof constants->types, "the table has the rows that the structure has room for");
    memcpy(constants->types, types, sizeof types);
}

const size_t collie_constants_size = sizeof(struct collie_constants);

/* Fills `constants`. Gives null, or the name of the first object that the MPI library lacks; types may be lacking. */
const char *collie_fill_constants(struct collie_constants *constants, collie_find *find)
{
    const char *needed = NULL, **missing = &needed;
    (void)find, (void)missing;
    const struct collie_constants values = {
        .in_place = MPI_IN_PLACE,
        .comm_world = MPI_COMM_WORLD,
        .comm_self = MPI_COMM_SELF,
        .comm_null = MPI_COMM_NULL,
        .datatype_null = MPI_DATATYPE_NULL,
        .byte = MPI_BYTE,
        .uint64 = MPI_UINT64_T,
        .double_ = MPI_DOUBLE,
        .float_ = MPI_FLOAT,
        .int_ = MPI_INT,
        .op_null = MPI_OP_NULL,
        .op_min = MPI_MIN,
        .request_null = MPI_REQUEST_NULL,
        .info_null = MPI_INFO_NULL,
        .errors_return = MPI_ERRORS_RETURN,
        .errors_are_fatal = MPI_ERRORS_ARE_FATAL,
        .status_ignore = MPI_STATUS_IGNORE,
        .statuses_ignore = MPI_STATUSES_IGNORE,
        .null_copy = copy_nothing,
        .pvar_class_size = MPI_T_PVAR_CLASS_SIZE,
        .combiners = {MPI_COMBINER_NAMED, MPI_COMBINER_DUP, MPI_COMBINER_CONTIGUOUS, MPI_COMBINER_VECTOR,
                      MPI_COMBINER_HVECTOR, MPI_COMBINER_STRUCT},
        .combiners_f90 = {MPI_COMBINER_F90_REAL, MPI_COMBINER_F90_COMPLEX, MPI_COMBINER_F90_INTEGER},
        .topologies = {MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH},
        .ops = {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR,
                MPI_MINLOC, MPI_MAXLOC},
        .ops_of_windows = {MPI_REPLACE, MPI_NO_OP},
    };
    *constants = values;
    fill_types(constants, find);
    return needed;
}
