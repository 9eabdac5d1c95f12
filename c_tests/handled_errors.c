/* Calls that fail, on communicators whose error handler is the program's own and returns: it hears of each error once, nothing
 * that such a call has left unwritten is looked at, and the program goes on. MPICH 4.3 and 5 return MPI_SUCCESS after such a
 * handler. */
#include "check.h"

static int handled;

static void handle(MPI_Comm *comm, int *code, ...) {
    (void)comm, (void)code;
    handled++;
}

/* Runs a call that fails. */
#define FAILS(call) \
    do { \
        handled = 0; \
        CASE("%s", #call); \
        (void)(call); \
        REQUIRE(handled == 1, "the handler ran %d times", handled); \
    } while (0)

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    MPI_Errhandler handler;
    MPI_Comm comm, made;
    int a[4] = {0}, b[4] = {0}, one = 1, sum = 0;
    OK(MPI_Comm_create_errhandler(handle, &handler));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_set_errhandler(comm, handler));
    MPI_Request request;
    memset(&request, 0x5a, sizeof request);
    memset(&made, 0x5a, sizeof made);
    for (int round = 0; round < 3; round++) {
        FAILS(MPI_Ibcast(a, 1, MPI_INT, 99, comm, &request));
        FAILS(MPI_Gatherv(a, 1, MPI_INT, b, NULL, NULL, MPI_INT, 99, comm));
        FAILS(MPI_Send(a, 1, MPI_INT, 99, 0, comm));
        FAILS(MPI_Bcast(a, -1, MPI_INT, 0, comm));
        FAILS(MPI_Intercomm_create(comm, 99, MPI_COMM_WORLD, 0, 0, &made));
        OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
        REQUIRE(sum == check_size, "the sum is %d", sum);
    }
    OK(MPI_Errhandler_free(&handler));
    OK(MPI_Comm_free(&comm));
    return check_finish();
}
