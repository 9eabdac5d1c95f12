/* Spawned processes: collectives on the merged communicator of two worlds and on each world's own, then the end. */
#include "check.h"

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    MPI_Comm parent, between, merged;
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL)
        OK(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between, MPI_ERRCODES_IGNORE));
    else between = parent;
    OK(MPI_Intercomm_merge(between, parent != MPI_COMM_NULL, &merged));
    int rank, size, sum;
    MPI_Comm_rank(merged, &rank);
    MPI_Comm_size(merged, &size);
    for (int repeat = 0; repeat < 6; repeat++) {
        CASE("merged communicator, round %d", repeat);
        OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, merged));
        REQUIRE(sum == size * (size - 1) / 2, "the sum is %d", sum);
        OK(MPI_Scan(&rank, &sum, 1, MPI_INT, MPI_SUM, merged));
        REQUIRE(sum == rank * (rank + 1) / 2, "the partial sum is %d", sum);
        OK(MPI_Barrier(merged));
        OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        REQUIRE(sum == check_size * (check_size - 1) / 2, "the sum in the world is %d", sum);
    }
    OK(MPI_Comm_free(&merged));
    OK(MPI_Comm_disconnect(&between));
    return check_finish();
}
