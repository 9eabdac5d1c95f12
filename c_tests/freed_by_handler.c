/* An error handler that frees the communicator of the call that raised the error: the call goes on, and then others on communicators
 * that may have the same handle. */
#include "check.h"

static int handled;

static void free_it(MPI_Comm *comm, int *code, ...) {
    (void)code;
    MPI_Comm own = *comm;
    MPI_Comm_free(&own);
    handled++;
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    MPI_Errhandler handler;
    OK(MPI_Comm_create_errhandler(free_it, &handler));
    for (int round = 0; round < 20; round++) {
        CASE("round %d", round);
        MPI_Comm comm;
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        OK(MPI_Comm_set_errhandler(comm, handler));
        for (int repeat = 0; repeat < 6; repeat++) {
            int sum = -1;
            OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, comm));
            REQUIRE(sum == check_size * (check_size - 1) / 2, "the sum is %d", sum);
        }
        int number = check_rank;
        REQUIRE(MPI_Bcast(&number, 1, MPI_INT, 99, comm) != MPI_SUCCESS, "a root that there is not is none");
        REQUIRE(handled == round + 1, "%d errors were handled", handled);
    }
    OK(MPI_Errhandler_free(&handler));
    return check_finish();
}
