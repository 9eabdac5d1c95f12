/* The rank that the argument names comes two seconds late to MPI_Finalize. */
#include "check.h"
#include <time.h>

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    const int late = argc > 1 ? atoi(argv[1]) : 0;
    int sum;
    for (int round = 0; round < 10; round++) {
        CASE("round %d", round);
        OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        REQUIRE(sum == check_size * (check_size - 1) / 2, "the sum is %d", sum);
    }
    const int differ = check_tell();
    const struct timespec time = {2, 0};
    if (check_rank == late) nanosleep(&time, NULL);
    MPI_Finalize();
    return differ;
}
