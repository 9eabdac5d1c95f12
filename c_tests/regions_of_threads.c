/* A region that a thread begins after some calls and never ends is not the next thread's, which may lie at the same place in
 * memory. One that a thread is in when the report is made is in it. */
#include "check.h"
#include <collie.h>
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

static int is_inside, may_end;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void set(int *what) {
    pthread_mutex_lock(&lock);
    *what = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void await(int *what) {
    pthread_mutex_lock(&lock);
    while (!*what) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static void *stay(void *unused) {
    OK(MPI_Barrier(MPI_COMM_WORLD));
    collie_region_begin("to the end");
    for (int i = 0; i < 3; i++) OK(MPI_Barrier(MPI_COMM_WORLD));
    set(&is_inside);
    await(&may_end);
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
    pthread_create(&thread, NULL, stay, NULL);
    await(&is_inside);
    int code = check_finish();
    set(&may_end);
    pthread_join(thread, NULL);
    return code;
}
