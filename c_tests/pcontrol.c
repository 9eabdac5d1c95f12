/* MPI_Pcontrol as profilers know it: off, on, reset, write a report now. Only what is on is counted: the calls before the
 * reset and those while off are not. */
#include "check.h"

static void some(int n) {
    int sum;
    for (int i = 0; i < n; i++) OK(PMPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < n; i++) OK((MPI_Allreduce)(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    REQUIRE(sum == check_size * (check_size - 1) / 2, "the sum is %d", sum);
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    CASE("MPI_Pcontrol");
    some(5);
    MPI_Pcontrol(2);
    some(3);
    MPI_Pcontrol(0);
    some(7);
    MPI_Pcontrol(1);
    some(4);
    check_calls[ALLREDUCE] = 7;
    return check_finish();
}
