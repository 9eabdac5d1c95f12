/* Ranks that do not agree on the count, in collectives whose data go through memory that they share: whoever gets data of a rank
 * with another count returns MPI_ERR_TRUNCATE, nobody waits for ever, and the calls after it are right. Two ranks or more; rank 0 has
 * the first count of each pair, the others the second one. */
#include "check.h"

enum { MOST = 100000, REPEATED = 4 };

static const int PAIRS[][2] = {{4, 8}, {8, 4}, {4, 100}, {100, 4}, {100, 20}, {20, MOST}, {MOST, 20}, {30000, MOST}, {MOST, 90000}};

static int class_of(int code) {
    int class = MPI_SUCCESS;
    if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
    return class;
}

/* `gets`: this rank gets data of one with another count. A rank that only gives may come to know of it as well. */
#define EXPECT(gets, ...)                                                                                          \
    do {                                                                                                           \
        int class_ = class_of(__VA_ARGS__);                                                                        \
        REQUIRE(class_ == MPI_ERR_TRUNCATE || (!(gets) && class_ == MPI_SUCCESS), "class %d", class_);            \
        OK(PMPI_Barrier(MPI_COMM_WORLD));                                                                          \
    } while (0)

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    int *own = calloc((size_t)check_size * MOST, sizeof(int)), *all = calloc((size_t)check_size * MOST, sizeof(int));
    MPI_Comm comm;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    /* The first calls on a communicator are the MPI library's (COLLIE_AFTER). */
    for (int i = 0; i < 4; i++) OK(MPI_Barrier(comm));
    for (int i = 0; i < REPEATED; i++) {
        for (size_t pair = 0; pair < sizeof PAIRS / sizeof *PAIRS; pair++) {
            const int count = PAIRS[pair][check_rank > 0], root = check_rank == 0;
            CASE("%d and %d, time %d", PAIRS[pair][0], PAIRS[pair][1], i);
            EXPECT(!root, MPI_Bcast(own, count, MPI_INT, 0, comm));
            EXPECT(root, MPI_Reduce(own, all, count, MPI_INT, MPI_SUM, 0, comm));
            EXPECT(1, MPI_Allreduce(own, all, count, MPI_INT, MPI_SUM, comm));
            EXPECT(root, MPI_Gather(own, count, MPI_INT, all, count, MPI_INT, 0, comm));
            EXPECT(!root, MPI_Scatter(own, count, MPI_INT, all, count, MPI_INT, 0, comm));
            EXPECT(1, MPI_Allgather(own, count, MPI_INT, all, count, MPI_INT, comm));
            for (int k = 0; k < 1000; k++) own[k] = check_rank + k;
            OK(MPI_Allreduce(own, all, 1000, MPI_INT, MPI_SUM, comm));
            for (int k = 0; k < 1000; k++)
                REQUIRE(all[k] == check_size * k + check_size * (check_size - 1) / 2, "element %d is %d", k, all[k]);
            OK(MPI_Barrier(comm));
        }
    }
    OK(MPI_Comm_free(&comm));
    free(own);
    free(all);
    return check_finish();
}
