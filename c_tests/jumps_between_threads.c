/* An error handler jumps out of a call on one thread; after that thread's next call, which is on another communicator,
 * a second thread calls on the first one, and frees it in the end. */
#include "check.h"
#include <pthread.h>
#include <setjmp.h>

static jmp_buf before;
static volatile int jumps;
static MPI_Comm comm;

static void handler(MPI_Comm *of, int *code, ...) {
    (void)of;
    (void)code;
    jumps++;
    longjmp(before, 1);
}

static void *calls(void *frees) {
    CASE("on the second thread, after %d jumps", jumps);
    for (int repeat = 0; repeat < 5; repeat++) {
        int own = check_rank + repeat, sum = 0;
        OK(MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm));
        REQUIRE(sum == check_size * (check_size - 1) / 2 + repeat * check_size, "wrong sum");
    }
    if (frees) OK(MPI_Comm_free(&comm));
    return NULL;
}

static void on_second_thread(int frees) {
    static int yes;
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, calls, frees ? &yes : NULL) == 0, "no thread");
    REQUIRE(pthread_join(thread, NULL) == 0, "not joined");
}

int main(int argc, char **argv) {
    check_start_thread(&argc, &argv, MPI_THREAD_MULTIPLE);
    static int data[16];
    MPI_Comm other;
    MPI_Errhandler errhandler;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &other));
    OK(MPI_Comm_create_errhandler(handler, &errhandler));
    for (volatile int round = 0; round < 3; round++) {
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        OK(MPI_Comm_set_errhandler(comm, errhandler));
        on_second_thread(0);
        for (volatile int repeat = 0; repeat < 3; repeat++) {
            const int expected = jumps + 1;
            if (setjmp(before) == 0) MPI_Bcast(data, 1, MPI_INT, check_size + 3, comm);
            REQUIRE(jumps == expected, "%d jumps", jumps);
            OK(MPI_Barrier(other));
            on_second_thread(repeat == 2);
        }
    }
    OK(MPI_Errhandler_free(&errhandler));
    OK(MPI_Comm_free(&other));
    return check_finish();
}
