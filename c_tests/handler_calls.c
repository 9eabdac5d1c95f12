/* Collective calls from an error handler, in which ranks take part that call from elsewhere: rank 0 makes a call that fails on a
 * communicator of its own, whose handler tells the others so, and goes on. */
#include "check.h"

static int handled;
/* Whether the handler, and the others beside it, begin the report anew and write it. */
static int reports;

static void report(void) {
    if (!reports) return;
    MPI_Pcontrol(2);
    MPI_Pcontrol(3);
}

static void tell(MPI_Comm *comm, int *code, ...) {
    (void)comm, (void)code;
    int one = 1, sum = -1;
    handled++;
    OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    REQUIRE(sum == 1, "MPI_Allreduce in the handler gave %d", sum);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    report();
}

/* What the others do in the place of the handler's calls. */
static void listen(void) {
    int none = 0, sum = -1;
    OK(MPI_Allreduce(&none, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    REQUIRE(sum == 1, "MPI_Allreduce beside the handler gave %d", sum);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    report();
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    reports = argc > 1 && strcmp(argv[1], "report") == 0;
    MPI_Comm own;
    MPI_Errhandler handler;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &own));
    OK(MPI_Comm_create_errhandler(tell, &handler));
    OK(MPI_Comm_set_errhandler(own, handler));
    for (int round = 0; round < 5; round++) {
        int value = check_rank == 1 ? round : -1, sum = -1;
        /* From the first round on, or when the ranks have long known the calls. */
        if (round > 0 || argc > 1) {
            OK(MPI_Bcast(&value, 1, MPI_INT, 1, own));
            REQUIRE(value == round, "MPI_Bcast gave %d", value);
            OK(MPI_Allreduce(&round, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
            REQUIRE(sum == check_size * round, "MPI_Allreduce gave %d", sum);
        }
        CASE("round %d, MPI_Bcast", round);
        if (check_rank == 0) REQUIRE(MPI_Bcast(&value, 1, MPI_INT, 99, own) != MPI_SUCCESS, "a root of 99 was taken");
        else listen();
        if (reports) continue;
        CASE("round %d, MPI_Ibcast", round);
        MPI_Request request = MPI_REQUEST_NULL;
        if (check_rank == 0)
            REQUIRE(MPI_Ibcast(&value, 1, MPI_INT, 99, own, &request) != MPI_SUCCESS, "a root of 99 was taken");
        else listen();
    }
    REQUIRE(handled == (check_rank == 0 ? (reports ? 5 : 10) : 0), "the handler ran %d times", handled);
    OK(MPI_Errhandler_free(&handler));
    OK(MPI_Comm_free(&own));
    return check_finish();
}
