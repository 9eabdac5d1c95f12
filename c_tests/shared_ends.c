/* Calls on the world and a communicator of half of it, then an end of rank 1 while the others wait for it in a collective: `exit`,
 * `abort`, `kill` (SIGKILL) or `crash`; with `end`, the usual one. */
#include "check.h"
#include <signal.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int value, sum;
    MPI_Comm half;
    check_start(&argc, &argv);
    REQUIRE(argc > 1, "usage: shared_ends end|exit|abort|kill|crash");
    OK(MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, check_rank, &half));
    for (int i = 0; i < 10; i++) {
        value = check_rank + i;
        OK(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        OK(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, half));
    }
    if (check_rank == 1 && strcmp(argv[1], "end")) {
        usleep(100000);
        if (!strcmp(argv[1], "exit")) exit(3);
        if (!strcmp(argv[1], "abort")) MPI_Abort(MPI_COMM_WORLD, 7);
        if (!strcmp(argv[1], "kill")) raise(SIGKILL);
        raise(SIGSEGV);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Comm_free(&half));
    return check_finish();
}
