/* Twelve collectives, `allreduce` or `scan`, then one that the other ranks are in for ever: one rank, by its number, is ended by
 * SIGKILL before it (`kill`), or has the launcher ended by SIGTERM (`term`). */
#include "check.h"
#include <signal.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int sum;
    check_start(&argc, &argv);
    REQUIRE(argc == 4, "which collective, how, and which rank");
    int scan = !strcmp(argv[1], "scan"), term = !strcmp(argv[2], "term"), one = atoi(argv[3]);
    for (int i = 0; i <= 12; i++) {
        if (i == 12) {
            /* Out of the call before, all of them. */
            for (int other = 0; check_rank == one && other < check_size; other++)
                if (other != one) PMPI_Recv(NULL, 0, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (check_rank != one) PMPI_Send(NULL, 0, MPI_INT, one, 0, MPI_COMM_WORLD);
        }
        if (i == 12 && check_rank == one) {
            /* The others come to the call meanwhile. */
            usleep(600000);
            kill(term ? getppid() : getpid(), term ? SIGTERM : SIGKILL);
            for (;;) pause();
        }
        if (scan)
            OK(MPI_Scan(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        else
            OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    }
    REQUIRE(0, "the call has come back");
    return check_finish();
}
