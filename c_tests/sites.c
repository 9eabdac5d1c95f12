/* The same collective from two functions, one of which calls it twice as often. */
#include "check.h"

static int sum;

__attribute__((noinline)) static void often(void) {
    OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    sum++;
}

__attribute__((noinline)) static void seldom(void) {
    OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    sum--;
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    for (int i = 0; i < 60; i++) {
        often();
        if (i % 2) seldom();
    }
    return check_finish();
}
