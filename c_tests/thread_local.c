/* A program with megabytes of thread-local data, such as OpenMP's threadprivate arrays, that runs for longer than a second: the C
 * library lays them into the stack of each thread, those of Collie's own among them. */
#include "check.h"
#include <unistd.h>

static __thread char own[4 << 20];

int main(int argc, char **argv) {
    memset(own, 1, sizeof own);
    check_start(&argc, &argv);
    for (int round = 0; round < 130; round++) {
        int one = 1, sum = 0;
        usleep(10000);
        OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        REQUIRE(sum == check_size, "MPI_Allreduce gave %d", sum);
    }
    REQUIRE(own[sizeof own - 1] == 1, "the thread-local data have changed");
    return check_finish();
}
