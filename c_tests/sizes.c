/* Times the six collectives over a range of sizes and prints medians over calls of the slowest rank's time. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { REPETITIONS = 21, LARGEST = 1 << 20 };

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void call(int operation, const double *send, double *receive, int bytes, int size) {
    int count = bytes / (int)sizeof(double), block = count / size;
    switch (operation) {
    case 0: MPI_Bcast(receive, count, MPI_DOUBLE, 0, MPI_COMM_WORLD); break;
    case 1: MPI_Reduce(send, receive, count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD); break;
    case 2: MPI_Allreduce(send, receive, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); break;
    case 3: MPI_Gather(send, block, MPI_DOUBLE, receive, block, MPI_DOUBLE, 0, MPI_COMM_WORLD); break;
    case 4: MPI_Scatter(send, block, MPI_DOUBLE, receive, block, MPI_DOUBLE, 0, MPI_COMM_WORLD); break;
    case 5: MPI_Allgather(send, block, MPI_DOUBLE, receive, block, MPI_DOUBLE, MPI_COMM_WORLD); break;
    }
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *send = calloc(LARGEST, 1), *receive = calloc(LARGEST, 1);
    if (rank == 0) printf("%9s %10s %10s %10s %10s %10s %10s  (us)\n", "bytes", "bcast", "reduce", "allreduce", "gather", "scatter", "allgather");
    for (int bytes = 64; bytes <= LARGEST; bytes *= 16) {
        if (rank == 0) printf("%9d", bytes);
        for (int operation = 0; operation < 6; operation++) {
            double seconds[REPETITIONS], slowest;
            for (int i = 0; i < REPETITIONS; i++) {
                MPI_Barrier(MPI_COMM_WORLD);
                double start = MPI_Wtime();
                call(operation, send, receive, bytes, size);
                double own = MPI_Wtime() - start;
                MPI_Reduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
                seconds[i] = slowest;
            }
            qsort(seconds, REPETITIONS, sizeof *seconds, compare);
            if (rank == 0) printf(" %10.2f", seconds[REPETITIONS / 2] * 1e6);
        }
        if (rank == 0) printf("\n");
    }
    free(send);
    free(receive);
    MPI_Finalize();
    return 0;
}
