/* Rank 2 comes three seconds late to the second allreduce, or, with the argument `abort`, ends the job instead. */
#include "check.h"
#include <time.h>

int main(int argc, char **argv) {
    const struct timespec time = {3, 0};
    int sum;
    check_start(&argc, &argv);
    OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    PMPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 2) {
        nanosleep(&time, NULL);
        if (argc > 1) MPI_Abort(MPI_COMM_WORLD, 9);
    }
    OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    REQUIRE(sum == check_size * (check_size - 1) / 2, "the sum is %d", sum);
    return check_finish();
}
