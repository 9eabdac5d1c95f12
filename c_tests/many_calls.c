/* More calls than a page shows: 20 ms after the start 5000 reductions of one double, but number 2500 of two, to which rank 0
 * or rank 1 comes 150 ms late in turns so that both wait once; and at the end two of three. */
#include "check.h"
#include <time.h>

enum { CALLS = 5000, LATE = 2500 };

static void sleep_ms(long milliseconds) {
    const struct timespec time = {0, milliseconds * 1000 * 1000};
    nanosleep(&time, NULL);
}

int main(int argc, char **argv) {
    double from[3] = {1, 2, 3}, to[3];
    check_start(&argc, &argv);
    sleep_ms(20);
    for (int call = 0; call < CALLS; call++) {
        const int is_late = call == LATE || call == LATE + 1;
        if (is_late && check_rank == call - LATE) sleep_ms(150);
        OK(MPI_Allreduce(from, to, is_late ? 2 : 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    }
    for (int call = 0; call < 2; call++) OK(MPI_Allreduce(from, to, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    return check_finish();
}
