/* Datatypes made by constructors with large counts, alone and inside one another, without gaps and with, in every
 * operation that takes a datatype, against PMPI. */
#include "check.h"

#if MPI_VERSION >= 4
enum { COUNT = 3, TYPES = 10 };

static MPI_Datatype types[TYPES];
static const char *const names[TYPES] = {
    "contiguous", "dense vector", "vector with gaps", "dense hvector",          "dense vector, backwards",
    "indexed",    "struct",       "resized",          "contiguous of a vector", "dup of a contiguous of a contiguous",
};

static void make_types(void) {
    const MPI_Count lengths[] = {2, 1}, places[] = {0, 3}, bytes[] = {0, 12};
    const MPI_Datatype parts[] = {MPI_INT, MPI_INT};
    MPI_Datatype outer;
    OK(MPI_Type_contiguous_c(4, MPI_INT, &types[0]));
    OK(MPI_Type_vector_c(3, 2, 2, MPI_INT, &types[1]));
    OK(MPI_Type_vector_c(3, 1, 2, MPI_INT, &types[2]));
    OK(MPI_Type_create_hvector_c(3, 1, sizeof(int), MPI_INT, &types[3]));
    /* Without gaps, but not in the order of addresses. */
    OK(MPI_Type_create_hvector_c(3, 1, -(MPI_Count)sizeof(int), MPI_INT, &types[4]));
    OK(MPI_Type_indexed_c(2, lengths, places, MPI_INT, &types[5]));
    OK(MPI_Type_create_struct_c(2, lengths, bytes, parts, &types[6]));
    OK(MPI_Type_create_resized_c(types[0], 0, 24, &types[7]));
    OK(MPI_Type_contiguous_c(2, types[1], &types[8]));
    OK(MPI_Type_contiguous(2, types[0], &outer));
    OK(MPI_Type_dup(outer, &types[9]));
    OK(MPI_Type_free(&outer));
    for (int i = 0; i < TYPES; i++) OK(MPI_Type_commit(&types[i]));
}

/* Adds every int between the type's bounds that belongs to it, told by unpacking ones. */
static void add(void *in, void *inout, int *len, MPI_Datatype *type) {
    int bytes, position = 0;
    PMPI_Type_size(*type, &bytes);
    bytes *= *len;
    int *left = malloc((size_t)bytes + 1), *right = malloc((size_t)bytes + 1);
    PMPI_Pack(in, *len, *type, left, bytes, &position, MPI_COMM_SELF);
    position = 0;
    PMPI_Pack(inout, *len, *type, right, bytes, &position, MPI_COMM_SELF);
    for (int i = 0; i < bytes / (int)sizeof(int); i++) right[i] = (int)((unsigned)left[i] + (unsigned)right[i]);
    position = 0;
    PMPI_Unpack(right, bytes, &position, inout, *len, *type, MPI_COMM_SELF);
    free(left);
    free(right);
}

static void body(MPI_Comm comm, int rank, int size) {
    const int root = size - 1, seed = 7;
    MPI_Op op;
    OK(MPI_Op_create(add, 1, &op));
    for (int number = 0; number < TYPES; number++) {
        MPI_Datatype type = types[number];
        Memory own = check_memory(type, COUNT * size, 1), ours = check_memory(type, COUNT * size, 2),
               native = check_memory(type, COUNT * size, 2);
        /* More than once: what comes again is done again without asking, where handles are predefined. */
        for (int round = 0; round < 3; round++) {
#define FRESH(operation) \
    CASE("%s, %s, p %d", operation, names[number], size); \
    check_fill(own, (unsigned)(100 * round + rank)), check_fill(ours, seed), check_fill(native, seed)
            FRESH("MPI_Bcast");
            if (rank == root) check_fill(ours, 9), check_fill(native, 9);
            OK(MPI_Bcast(ours.at, COUNT, type, root, comm));
            OK(PMPI_Bcast(native.at, COUNT, type, root, comm));
            check_same(ours.base, native.base, ours.size, sizeof(int));
            FRESH("MPI_Reduce");
            OK(MPI_Reduce(own.at, ours.at, COUNT, type, op, root, comm));
            OK(PMPI_Reduce(own.at, native.at, COUNT, type, op, root, comm));
            if (rank == root) check_same(ours.base, native.base, ours.size, sizeof(int));
            FRESH("MPI_Allreduce");
            OK(MPI_Allreduce(own.at, ours.at, COUNT, type, op, comm));
            OK(PMPI_Allreduce(own.at, native.at, COUNT, type, op, comm));
            check_same(ours.base, native.base, ours.size, sizeof(int));
            FRESH("MPI_Gather");
            OK(MPI_Gather(own.at, COUNT, type, ours.at, COUNT, type, root, comm));
            OK(PMPI_Gather(own.at, COUNT, type, native.at, COUNT, type, root, comm));
            if (rank == root) check_same(ours.base, native.base, ours.size, sizeof(int));
            FRESH("MPI_Scatter");
            OK(MPI_Scatter(own.at, COUNT, type, ours.at, COUNT, type, root, comm));
            OK(PMPI_Scatter(own.at, COUNT, type, native.at, COUNT, type, root, comm));
            check_same(ours.base, native.base, ours.size, sizeof(int));
            FRESH("MPI_Allgather");
            OK(MPI_Allgather(own.at, COUNT, type, ours.at, COUNT, type, comm));
            OK(PMPI_Allgather(own.at, COUNT, type, native.at, COUNT, type, comm));
            check_same(ours.base, native.base, ours.size, sizeof(int));
        }
        check_free(own), check_free(ours), check_free(native);
    }
    OK(MPI_Op_free(&op));
}
#endif

int main(int argc, char **argv) {
    check_start(&argc, &argv);
#if MPI_VERSION >= 4
    make_types();
    check_on_parts(body);
    for (int i = 0; i < TYPES; i++) OK(MPI_Type_free(&types[i]));
#endif
    return check_finish();
}
