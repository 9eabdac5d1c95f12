/* With MPI_THREAD_MULTIPLE one thread makes communicators, or windows, for which MPI libraries make some of their own, while another makes collective calls on a newer one: on some ranks both
 * at once, on others one after the other, which MPI allows. Open MPI makes one communicator at a time in each process, the one whose
 * parent is older first. Two ranks or more. */
#include "check.h"
#include <pthread.h>
#include <unistd.h>

enum { ROUNDS = 10, CALLS = 4 };

static void calls(MPI_Comm comm) {
    for (int call = 0; call < CALLS; call++) {
        int one = 1, sum = 0;
        OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
        REQUIRE(sum == check_size, "the sum is %d", sum);
    }
}

struct made {
    int window, memory;
    MPI_Comm comm;
    MPI_Win win;
};

static void *make(void *wanted) {
    struct made *made = wanted;
    if (made->window) OK(MPI_Win_create(&made->memory, sizeof made->memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &made->win));
    else OK(MPI_Comm_dup(MPI_COMM_WORLD, &made->comm));
    return 0;
}

int main(int argc, char **argv) {
    check_start_thread(&argc, &argv, MPI_THREAD_MULTIPLE);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm newer;
        struct made made = {.window = round % 4 >= 2};
        CASE("round %d", round);
        OK(MPI_Comm_split(MPI_COMM_WORLD, 0, check_rank, &newer));
        if ((check_rank + round) % 2) {
            calls(newer);
            make(&made);
        } else {
            pthread_t thread;
            pthread_create(&thread, 0, make, &made);
            usleep(20000);
            calls(newer);
            pthread_join(thread, 0);
        }
        calls(newer);
        if (made.window) {
            OK(MPI_Win_free(&made.win));
        } else {
            calls(made.comm);
            OK(MPI_Comm_free(&made.comm));
        }
        OK(MPI_Comm_free(&newer));
    }
    return check_finish();
}
