/* The _c forms, where the MPI has them, against PMPI. */
#include "check.h"

#if MPI_VERSION >= 4
static void body(MPI_Comm comm, int rank, int size) {
    enum { LARGEST = 1009 };
    const MPI_Count counts[] = {0, 1, size, LARGEST};
    int *own = malloc(sizeof(int) * LARGEST * 8), *ours = malloc(sizeof(int) * LARGEST * 8),
        *native = malloc(sizeof(int) * LARGEST * 8);
    for (int root = 0; root < size; root++)
        for (int c = 0; c < 4; c++) {
            const MPI_Count n = counts[c];
            const size_t bytes = sizeof(int) * LARGEST * 8;
            CASE("root %d, count %ld, p %d", root, (long)n, size);
#define FRESH() \
    for (int i = 0; i < LARGEST * 8; i++) own[i] = ours[i] = native[i] = i * 31 + rank * 1001
            FRESH();
            OK(MPI_Bcast_c(ours, n, MPI_INT, root, comm));
            OK(PMPI_Bcast_c(native, n, MPI_INT, root, comm));
            check_same(ours, native, bytes, sizeof(int));
            FRESH();
            OK(MPI_Reduce_c(own, ours, n, MPI_INT, MPI_SUM, root, comm));
            OK(PMPI_Reduce_c(own, native, n, MPI_INT, MPI_SUM, root, comm));
            if (rank == root) check_same(ours, native, bytes, sizeof(int));
            FRESH();
            OK(MPI_Allreduce_c(MPI_IN_PLACE, ours, n, MPI_INT, MPI_BXOR, comm));
            OK(PMPI_Allreduce_c(MPI_IN_PLACE, native, n, MPI_INT, MPI_BXOR, comm));
            check_same(ours, native, bytes, sizeof(int));
            FRESH();
            OK(MPI_Gather_c(own, n, MPI_INT, ours, n, MPI_INT, root, comm));
            OK(PMPI_Gather_c(own, n, MPI_INT, native, n, MPI_INT, root, comm));
            if (rank == root) check_same(ours, native, bytes, sizeof(int));
            FRESH();
            OK(MPI_Scatter_c(own, n, MPI_INT, ours, n, MPI_INT, root, comm));
            OK(PMPI_Scatter_c(own, n, MPI_INT, native, n, MPI_INT, root, comm));
            check_same(ours, native, bytes, sizeof(int));
            FRESH();
            OK(MPI_Allgather_c(own, n, MPI_INT, ours, n, MPI_INT, comm));
            OK(PMPI_Allgather_c(own, n, MPI_INT, native, n, MPI_INT, comm));
            check_same(ours, native, bytes, sizeof(int));
            FRESH();
            OK(MPI_Alltoall_c(own, n, MPI_INT, ours, n, MPI_INT, comm));
            OK(PMPI_Alltoall_c(own, n, MPI_INT, native, n, MPI_INT, comm));
            check_same(ours, native, bytes, sizeof(int));
            FRESH();
            MPI_Count own_counts[8];
            MPI_Aint places[8];
            for (int i = 0; i < size; i++) {
                own_counts[i] = (rank + i + root) % 2 ? n : n / 2;
                places[i] = n * (size - 1 - i);
            }
            OK(MPI_Alltoallv_c(own, own_counts, places, MPI_INT, ours, own_counts, places, MPI_INT, comm));
            OK(PMPI_Alltoallv_c(own, own_counts, places, MPI_INT, native, own_counts, places, MPI_INT, comm));
            check_same(ours, native, bytes, sizeof(int));
        }
    free(own);
    free(ours);
    free(native);
}

/* A user's function with a large count may be the only one that an operation has. */
static void add(void *in, void *inout, MPI_Count *len, MPI_Datatype *type) {
    (void)type;
    for (MPI_Count i = 0; i < *len; i++) ((int *)inout)[i] += 2 * ((int *)in)[i];
}

static void user_operation(MPI_Comm comm, int rank, int size) {
    MPI_Op op;
    int own[5], ours[5], native[5];
    for (int i = 0; i < 5; i++) own[i] = rank + i;
    OK(MPI_Op_create_c(add, 0, &op));
    CASE("MPI_Reduce with an operation of MPI_Op_create_c, p %d", size);
    if (size == 2) { /* left operand twice as heavy: an order of two is the only one that is defined */
        OK(MPI_Reduce(own, ours, 5, MPI_INT, op, 0, comm));
        OK(PMPI_Reduce(own, native, 5, MPI_INT, op, 0, comm));
        if (rank == 0) check_same(ours, native, sizeof ours, sizeof(int));
    }
    OK(MPI_Op_free(&op));
}
#endif

int main(int argc, char **argv) {
    check_start(&argc, &argv);
#if MPI_VERSION >= 4
    check_on_parts(body);
    check_on_parts(user_operation);
#endif
    return check_finish();
}
