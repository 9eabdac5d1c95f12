/* Calls of eight size classes whose times repeat themselves: before one call of each period, in its own phase, rank 0 works
 * a while, so that the others wait in it. A comparison whose turns have a period too may take that for a difference. */
#include "check.h"
#include <time.h>

enum { CALLS = 120, SIZES = 8 };

static void work_us(long microseconds) {
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000000 + (now.tv_nsec - begin.tv_nsec) / 1000 < microseconds);
}

int main(int argc, char **argv) {
    const int periods[] = {1, 2, 5, 10, 64};
    static int from[1 << SIZES], to[1 << SIZES];
    check_start(&argc, &argv);
    for (int number = 0; number < 5; number++) {
        const int period = periods[number];
        MPI_Comm comm;
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        for (int size = 0; size < SIZES; size++) {
            const int count = 1 << size, phase = (3 * size + 1) % period;
            CASE("period %d, %d elements", period, count);
            for (int call = 0; call < CALLS; call++) {
                for (int at = 0; at < count; at++) from[at] = check_rank + at;
                if (check_rank == 0 && call % period == phase) work_us(30);
                OK(MPI_Allreduce(from, to, count, MPI_INT, MPI_SUM, comm));
                const int expected = check_size * (check_size - 1) / 2 + check_size * (count - 1);
                REQUIRE(to[count - 1] == expected, "the sum is %d, not %d", to[count - 1], expected);
            }
        }
        OK(MPI_Comm_free(&comm));
    }
    return check_finish();
}
