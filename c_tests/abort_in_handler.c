/* MPI_Abort with code 9 from a signal handler on rank 1, a while after the start: `malloc` interrupts the allocator,
 * `collective` calls and waits, `crash` is the handler of a segmentation fault. All others compute for ever. */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static void handler(int signal) {
    (void)signal;
    MPI_Abort(MPI_COMM_WORLD, 9);
}

/* The allocator takes its locks only where there are several threads. */
static void *other(void *unused) {
    for (;;) pause();
    return unused;
}

int main(int argc, char **argv) {
    int rank, sum, provided;
    pthread_t thread;
    const char *what = argc > 1 ? argv[1] : "malloc";
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pthread_create(&thread, NULL, other, NULL);
    for (int i = 0; i < 10; i++) MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 1) {
        signal(SIGSEGV, handler);
        signal(SIGALRM, handler);
        struct itimerval once = {.it_value = {.tv_usec = 20000 + getpid() % 1000}};
        /* Not both: the one would interrupt the other's MPI_Abort, which then waits for a lock of its own. */
        if (strcmp(what, "crash") != 0) setitimer(ITIMER_REAL, &once, NULL);
    }
    for (long i = 0;; i++) {
        if (strcmp(what, "collective") == 0) MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        else if (rank != 1) pause();
        else if (strcmp(what, "crash") == 0 && i == 1000) *(volatile int *)(rank - 1L) = 1;
        else {
            void *volatile block = malloc(5000 + i * 7919 % 60000);
            free(block);
        }
    }
}
