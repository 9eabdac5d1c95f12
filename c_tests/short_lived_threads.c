/* Threads that make communicators of their own, use them once and free them, all at the same time. */
#include "check.h"
#include <pthread.h>

enum { THREADS = 4, ROUNDS = 25 };
static MPI_Group everyone;

static void *work(void *argument) {
    int tag = *(int *)argument;
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Comm comm;
        OK(MPI_Comm_create_group(MPI_COMM_WORLD, everyone, tag, &comm));
        OK(MPI_Barrier(comm));
        OK(MPI_Comm_free(&comm));
    }
    return NULL;
}

int main(int argc, char **argv) {
    int level, tags[THREADS];
    pthread_t threads[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    MPI_Comm_group(MPI_COMM_WORLD, &everyone);
    for (int i = 0; i < THREADS && level == MPI_THREAD_MULTIPLE; i++) {
        tags[i] = i;
        pthread_create(&threads[i], NULL, work, &tags[i]);
    }
    for (int i = 0; i < THREADS && level == MPI_THREAD_MULTIPLE; i++) pthread_join(threads[i], NULL);
    if (check_rank == 0) printf("check: barrier calls %d\n", level == MPI_THREAD_MULTIPLE ? THREADS * ROUNDS * check_size : 0);
    MPI_Group_free(&everyone);
    return check_finish();
}
