/* A region that a thread begins after some calls and never ends is not the next thread's, which may lie at the same place in
 * memory. */
#include "check.h"
#include <pthread.h>

static void *begin(void *unused) {
    int sum;
    for (int i = 0; i < 50; i++) OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    MPI_Pcontrol(1, "of another thread");
    return unused;
}

static void *end(void *unused) {
    MPI_Pcontrol(-1, "of another thread");
    MPI_Pcontrol(1, "own");
    OK(MPI_Barrier(MPI_COMM_WORLD));
    MPI_Pcontrol(-1, "own");
    return unused;
}

int main(int argc, char **argv) {
    int level;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    REQUIRE(level >= MPI_THREAD_SERIALIZED, "threads in turn");
    pthread_create(&thread, NULL, begin, NULL);
    pthread_join(thread, NULL);
    pthread_create(&thread, NULL, end, NULL);
    pthread_join(thread, NULL);
    return check_finish();
}
