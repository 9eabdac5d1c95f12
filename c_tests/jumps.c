/* Error handlers that do not return: longjmp out of MPI_X, from an error of the arguments (raised by the MPI library in a
 * call that is passed on) and from a message of ours (raised by Collie). The calls after it still run as they did. */
#include "check.h"
#include <setjmp.h>

static jmp_buf before;
static volatile int jumps;

static void handler(MPI_Comm *comm, int *code, ...) {
    (void)comm;
    (void)code;
    jumps++;
    longjmp(before, 1);
}

/* Deeper in the stack than the call that was jumped out of, over memory that keeps what was there. */
static int __attribute__((noinline)) deep(int levels, MPI_Comm comm) {
    volatile char untouched[4096];
    if (levels > 0) {
        untouched[levels] = 1;
        return deep(levels - 1, comm) + untouched[levels] - 1;
    }
    int own = check_rank + 1, sum = 0;
    MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm);
    return sum;
}

static void works(MPI_Comm comm, const char *when) {
    CASE("%s", when);
    const int expected = check_size * (check_size + 1) / 2;
    for (int repeat = 0; repeat < 4; repeat++)
        for (int levels = 0; levels <= 16; levels += 8) REQUIRE(deep(levels, comm) == expected, "wrong sum");
    int sum = 0;
    MPI_Scan(&check_rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    REQUIRE(sum == check_rank * (check_rank + 1) / 2, "wrong partial sum");
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    static int data[4096];
    MPI_Comm comm;
    MPI_Errhandler errhandler;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_create_errhandler(handler, &errhandler));
    OK(MPI_Comm_set_errhandler(comm, errhandler));
    works(comm, "before");
    volatile int expected = 0;
    for (volatile int repeat = 0; repeat < 5; repeat++) {
        expected++;
        if (setjmp(before) == 0) MPI_Bcast(data, 1, MPI_INT, check_size + 3, comm);
        REQUIRE(jumps == expected, "%d jumps", jumps);
        works(comm, "after MPI_Bcast with a wrong root");
        expected++;
        if (setjmp(before) == 0) MPI_Allreduce(data, data + 1, 1, MPI_DATATYPE_NULL, MPI_SUM, comm);
        REQUIRE(jumps == expected, "%d jumps", jumps);
        expected++;
        if (setjmp(before) == 0) MPI_Alltoall(data, -1, MPI_INT, data + 1, -1, MPI_INT, comm);
        REQUIRE(jumps == expected, "%d jumps", jumps);
        works(comm, "after MPI_Alltoall with a negative count");
    }
    /* The root's message is longer than the other's: an error of our receive. */
    if (check_size == 2) {
        const int before_it = jumps;
        if (setjmp(before) == 0) MPI_Bcast(data, check_rank == 0 ? 10 : 5, MPI_INT, 0, comm);
        REQUIRE(jumps == before_it + check_rank, "%d jumps", jumps);
        works(comm, "after a message that was too long");
    }
    OK(PMPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Errhandler_free(&errhandler));
    OK(MPI_Comm_free(&comm));
    return check_finish();
}
