/* Two threads of rank 1 call MPI_Abort at once, with code 9, when there is much to report. */
#include <mpi.h>
#include <pthread.h>
#include <unistd.h>

static pthread_barrier_t together;

static void *aborting(void *unused) {
    pthread_barrier_wait(&together);
    MPI_Abort(MPI_COMM_WORLD, 9);
    return unused;
}

int main(int argc, char **argv) {
    int rank, sum, provided;
    MPI_Comm comm;
    pthread_t threads[2];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 50; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (int k = 0; k < 20; k++) MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    }
    pthread_barrier_init(&together, NULL, 2);
    for (int i = 0; i < 2 && rank == 1; i++) pthread_create(&threads[i], NULL, aborting, NULL);
    for (;;) pause();
}
