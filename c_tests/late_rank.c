/* Rank 2 comes 10 ms late to every collective: of the world, of a half of it that is freed again, and to one that is only
 * observed. */
#include "check.h"
#include <time.h>

enum { LATE = 2, ROUNDS = 20 };

static void be_late(void) {
    const struct timespec time = {0, 10 * 1000 * 1000};
    if (check_rank == LATE) nanosleep(&time, NULL);
}

int main(int argc, char **argv) {
    int sum, all[64];
    MPI_Comm half;
    check_start(&argc, &argv);
    MPI_Comm_split(MPI_COMM_WORLD, check_rank / 2, check_rank, &half);
    OK(MPI_Comm_set_name(half, "half"));
    for (int round = 0; round < ROUNDS; round++) {
        CASE("round %d", round);
        be_late();
        OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        REQUIRE(sum == check_size * (check_size - 1) / 2, "the sum is %d", sum);
        be_late();
        OK(MPI_Alltoall(all, 1, MPI_INT, all + 32, 1, MPI_INT, MPI_COMM_WORLD));
        be_late();
        OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_MAX, half));
        REQUIRE(sum == check_rank / 2 * 2 + 1, "the highest rank is %d", sum);
    }
    OK(MPI_Comm_free(&half));
    return check_finish();
}
