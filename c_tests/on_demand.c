/* Rank 1 gets SIGUSR2 between collectives: a report of its own after the third allreduce. With the argument `before` the
 * program has a handler before MPI_Init, with `after` it sets one later. */
#include "check.h"
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t handled;

static void handle(int signal) {
    (void)signal;
    handled++;
}

static void allreduces(int number) {
    int sum;
    while (number--) {
        OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        REQUIRE(sum == check_size * (check_size - 1) / 2, "the sum is %d", sum);
    }
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    if (!strcmp(how, "before")) signal(SIGUSR2, handle);
    check_start(&argc, &argv);
    if (!strcmp(how, "after")) signal(SIGUSR2, handle);
    allreduces(3);
    if (check_rank == 1) kill(getpid(), SIGUSR2);
    allreduces(4);
    REQUIRE(handled == (check_rank == 1 && *how), "the program's handler was called %d times", (int)handled);
    return check_finish();
}
