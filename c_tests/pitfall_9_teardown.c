/* The end of a run: communicators still alive at MPI_Finalize, and a delete callback on MPI_COMM_SELF that still makes
 * collective calls, which MPI allows. */
#include "check.h"

static int teardown_ran;

static int at_finalize(MPI_Comm comm, int key, void *value, void *extra) {
    (void)comm, (void)key, (void)extra;
    int sum = 0, finalized = 1;
    MPI_Finalized(&finalized);
    MPI_Comm kept = *(MPI_Comm *)value;
    int code = MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, kept);
    if (finalized || code != MPI_SUCCESS || sum != check_size * (check_size - 1) / 2) {
        fprintf(stderr, "rank %d: in MPI_Finalize: finalized %d, MPI_Allreduce returned %d, sum %d\n", check_rank, finalized,
                code, sum);
        return MPI_SUCCESS;
    }
    teardown_ran = 1;
    return MPI_SUCCESS;
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    static MPI_Comm alive[20];
    int key, sum;
    for (int i = 0; i < 20; i++) {
        OK(MPI_Comm_split(MPI_COMM_WORLD, 0, i % 2 ? -check_rank : check_rank, &alive[i]));
        OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, alive[i]));
        REQUIRE(sum == check_size * (check_size - 1) / 2, "the sum is %d", sum);
    }
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_finalize, &key, NULL));
    OK(MPI_Comm_set_attr(MPI_COMM_SELF, key, &alive[3]));
    int failed = check_finish();
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (!teardown_ran || !finalized) fprintf(stderr, "rank %d: callback ran %d, finalized %d\n", check_rank, teardown_ran, finalized);
    return failed || !teardown_ran || !finalized;
}
