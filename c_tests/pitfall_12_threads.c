/* MPI_THREAD_MULTIPLE: several threads, each with collectives on a communicator of its own, at once. */
#include "check.h"
#include <pthread.h>

enum { THREADS = 4, ROUNDS = 150, LARGEST = 3000 };

static MPI_Comm comms[THREADS];

static void *work(void *argument) {
    const int t = (int)(intptr_t)argument;
    int *own = malloc(sizeof(int) * LARGEST), *all = malloc(sizeof(int) * LARGEST * (size_t)check_size);
    int rank, size;
    MPI_Comm_rank(comms[t], &rank);
    MPI_Comm_size(comms[t], &size);
    for (int round = 0; round < ROUNDS; round++) {
        const int count = 1 + (round * 97 + t * 13) % LARGEST, root = (round + t) % size;
        CASE("thread %d, round %d, count %d, root %d, p %d", t, round, count, root, size);
        for (int i = 0; i < count; i++) own[i] = rank * 1000 + i + t;
        OK(MPI_Allreduce(own, all, count, MPI_INT, MPI_SUM, comms[t]));
        for (int i = 0; i < count; i++)
            REQUIRE(all[i] == size * (size - 1) / 2 * 1000 + size * (i + t), "MPI_Allreduce: element %d is %d", i, all[i]);
        OK(MPI_Allgather(own, count, MPI_INT, all, count, MPI_INT, comms[t]));
        for (int i = 0; i < count * size; i++)
            REQUIRE(all[i] == i / count * 1000 + i % count + t, "MPI_Allgather: element %d is %d", i, all[i]);
        OK(MPI_Scatter(all, count, MPI_INT, own, count, MPI_INT, root, comms[t]));
        for (int i = 0; i < count; i++) REQUIRE(own[i] == rank * 1000 + i + t, "MPI_Scatter: element %d is %d", i, own[i]);
        memset(all, 0, sizeof(int) * (size_t)count * size);
        OK(MPI_Gather(own, count, MPI_INT, all, count, MPI_INT, root, comms[t]));
        for (int i = 0; rank == root && i < count * size; i++)
            REQUIRE(all[i] == i / count * 1000 + i % count + t, "MPI_Gather: element %d is %d", i, all[i]);
        OK(MPI_Reduce(own, all, count, MPI_INT, MPI_MAX, root, comms[t]));
        for (int i = 0; rank == root && i < count; i++)
            REQUIRE(all[i] == (size - 1) * 1000 + i + t, "MPI_Reduce: element %d is %d", i, all[i]);
        OK(MPI_Bcast(own, count, MPI_INT, root, comms[t]));
        for (int i = 0; i < count; i++) REQUIRE(own[i] == root * 1000 + i + t, "MPI_Bcast: element %d is %d", i, own[i]);
    }
    free(own);
    free(all);
    return NULL;
}

int main(int argc, char **argv) {
    check_start_thread(&argc, &argv, MPI_THREAD_MULTIPLE);
    int level;
    MPI_Query_thread(&level);
    if (level < MPI_THREAD_MULTIPLE) {
        if (check_rank == 0) printf("check: this MPI has no MPI_THREAD_MULTIPLE\n");
        return check_finish();
    }
    pthread_t threads[THREADS];
    for (int t = 0; t < THREADS; t++) OK(MPI_Comm_split(MPI_COMM_WORLD, 0, t % 2 ? -check_rank : check_rank, &comms[t]));
    for (int t = 0; t < THREADS; t++) pthread_create(&threads[t], NULL, work, (void *)(intptr_t)t);
    for (int t = 0; t < THREADS; t++) pthread_join(threads[t], NULL);
    for (int t = 0; t < THREADS; t++) OK(MPI_Comm_free(&comms[t]));
    return check_finish();
}
