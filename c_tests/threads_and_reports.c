/* MPI_THREAD_MULTIPLE: collectives and starts of nonblocking ones on several threads, each on communicators of its own, while
 * another thread switches recording, resets and reads the numbers and chooses algorithms, and a fourth asks for reports.
 *
 * First all of it at once; then, the numbers reset, with reports only, so that every call of that part must be accounted for. */
#include "check.h"
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

enum { THREADS = 3, ROUNDS = 120, LARGEST = 700 };

static MPI_Comm comms[THREADS];
static volatile int working;
static pthread_t workers[THREADS];

/* Of collie.h; not there without Collie. */
typedef struct {
    uint64_t calls, native_calls, bytes, nanoseconds;
} Statistics;
__attribute__((weak)) int collie_choose(const char *operation, const char *choice);
__attribute__((weak)) int collie_read(const char *operation, Statistics *statistics);

/* Calls that come back, of the short way, and others; rows that are new in every round. */
static void round_of(int t, int round, MPI_Comm comm) {
    static __thread int own[LARGEST], all[LARGEST], later[LARGEST];
    const int elements = 1 + (round * 97 + t * 13) % LARGEST, root = round % check_size;
    CASE("thread %d, round %d, count %d", t, round, elements);
    for (int i = 0; i < elements; i++) own[i] = check_rank * 1000 + i + t;
    MPI_Request request;
    int sum = -1;
    for (int i = 0; i < 4; i++) {
        OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, comm));
        REQUIRE(sum == check_size * (check_size - 1) / 2, "MPI_Allreduce: the sum is %d", sum);
    }
    memcpy(later, own, sizeof(int) * (size_t)elements);
    OK(MPI_Ibcast(later, elements, MPI_INT, root, comm, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = 0; i < elements; i++) REQUIRE(later[i] == root * 1000 + i + t, "MPI_Ibcast: element %d is %d", i, later[i]);
    OK(MPI_Allreduce(own, all, elements, MPI_INT, MPI_SUM, comm));
    for (int i = 0; i < elements; i++)
        REQUIRE(all[i] == check_size * (check_size - 1) / 2 * 1000 + check_size * (i + t), "MPI_Allreduce: element %d is %d", i,
                all[i]);
    OK(MPI_Iallreduce(own, later, elements, MPI_INT, MPI_SUM, comm, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = 0; i < elements; i++) REQUIRE(later[i] == all[i], "MPI_Iallreduce: element %d is %d", i, later[i]);
    OK(MPI_Bcast(own, elements, MPI_INT, root, comm));
    for (int i = 0; i < elements; i++) REQUIRE(own[i] == root * 1000 + i + t, "MPI_Bcast: element %d is %d", i, own[i]);
}

static void *work(void *argument) {
    const int t = (int)(intptr_t)argument;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm comm = comms[t];
#ifndef OPEN_MPI
        /* One thread's communicators come and go. Open MPI 4.1 hangs by itself where threads make some at the same time. */
        if (t == 0 && round % 8 == 0) OK(MPI_Comm_dup(comms[t], &comm));
#endif
        round_of(t, round, comm);
        if (comm != comms[t]) OK(MPI_Comm_free(&comm));
    }
    return NULL;
}

static void *control(void *unused) {
    for (int round = 0; working; round++) {
        Statistics statistics;
        MPI_Pcontrol(round % 5 == 4 ? 2 : round % 2);
        if (collie_read) REQUIRE(collie_read("allreduce", &statistics) == 0, "collie_read does not know allreduce");
        /* On this rank alone only what changes nothing may be chosen: the choice is "auto" all the time. */
        if (collie_choose && round % 3 == 0) REQUIRE(collie_choose("allreduce", "auto") == 0, "collie_choose does not know auto");
        usleep(50);
    }
    return unused;
}

static void *ask(void *unused) {
    while (working) {
        kill(getpid(), SIGUSR2);
        usleep(2000);
    }
    return unused;
}

static void all_at_once(int controlled) {
    pthread_t controlling, asking;
    working = 1;
    for (int t = 0; t < THREADS; t++) pthread_create(&workers[t], NULL, work, (void *)(intptr_t)t);
    if (controlled) pthread_create(&controlling, NULL, control, NULL);
    pthread_create(&asking, NULL, ask, NULL);
    for (int t = 0; t < THREADS; t++) pthread_join(workers[t], NULL);
    working = 0;
    if (controlled) pthread_join(controlling, NULL);
    pthread_join(asking, NULL);
}

int main(int argc, char **argv) {
    check_start_thread(&argc, &argv, MPI_THREAD_MULTIPLE);
    int level;
    MPI_Query_thread(&level);
    if (level < MPI_THREAD_MULTIPLE) {
        fprintf(stderr, "this MPI has no MPI_THREAD_MULTIPLE\n");
        return 3;
    }
    /* Without Collie nobody listens. */
    if (!collie_choose) signal(SIGUSR2, SIG_IGN);
    for (int t = 0; t < THREADS; t++) OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]));
    /* What the ranks agree on, they do here, in turns. */
    for (int t = 0; t < THREADS; t++) round_of(t, 0, comms[t]);
    all_at_once(1);
    MPI_Pcontrol(1);
    MPI_Pcontrol(2);
    memset(check_calls, 0, sizeof check_calls);
    all_at_once(0);
    for (int t = 0; t < THREADS; t++) OK(MPI_Comm_free(&comms[t]));
    return check_finish();
}
