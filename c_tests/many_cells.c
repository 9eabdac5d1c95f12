/* Calls in many rows of the report: so many communicators, one after the other, twenty rows on
 * each, and calls in each row; with a third argument they are never freed. Rank 0 tells how long MPI_Finalize took. */
#include "check.h"
#include <time.h>

enum { SIZES = 10 };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    const int communicators = argc > 1 ? atoi(argv[1]) : 1, calls = argc > 2 ? atoi(argv[2]) : 1;
    char *send = calloc(1 << SIZES, 1), *receive = malloc(1 << SIZES);
    for (int made = 0; made < communicators; made++) {
        MPI_Comm comm;
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        for (int size = 0; size < SIZES; size++)
            for (int call = 0; call < calls; call++) {
                OK(MPI_Scan(send, receive, 1 << size, MPI_BYTE, MPI_BOR, comm));
                OK(MPI_Exscan(send, receive, 1 << size, MPI_BYTE, MPI_BOR, comm));
            }
        if (argc <= 3) OK(MPI_Comm_free(&comm));
    }
    if (check_rank == 0) {
        printf("check: scan calls %ld\n", (long)communicators * calls * SIZES * check_size);
        printf("check: exscan calls %ld\n", (long)communicators * calls * SIZES * check_size);
    }
    free(send);
    free(receive);
    PMPI_Barrier(MPI_COMM_WORLD);
    const double start = now();
    MPI_Finalize();
    if (check_rank == 0) printf("MPI_Finalize took %.1f ms\n", now() - start);
    return 0;
}
