/* A copy callback sets an error handler on the communicator that is being duplicated: it stays there. Where it sets none, both
 * communicators have the one that was there before. */
#include "check.h"

static MPI_Errhandler early, late;
static int handled[2], sets;

static void count_early(MPI_Comm *comm, int *code, ...) {
    (void)comm, (void)code;
    handled[0]++;
}

static void count_late(MPI_Comm *comm, int *code, ...) {
    (void)comm, (void)code;
    handled[1]++;
}

static int copy(MPI_Comm old, int key, void *extra, void *in, void *out, int *flag) {
    (void)key, (void)extra, (void)in, (void)out;
    if (sets) OK(MPI_Comm_set_errhandler(old, sets == 1 ? late : MPI_ERRORS_RETURN));
    *flag = 0;
    return MPI_SUCCESS;
}

/* An error on `comm` is told to the first or second of the handlers so many times. */
static void fails(MPI_Comm comm, int first, int second) {
    handled[0] = handled[1] = 0;
    REQUIRE(MPI_Send(&sets, 1, MPI_INT, check_size, 0, comm) != MPI_SUCCESS, "a rank beyond the last was taken");
    REQUIRE(handled[0] == first && handled[1] == second, "handlers ran %d and %d times", handled[0], handled[1]);
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    int key, sum;
    OK(MPI_Comm_create_errhandler(count_early, &early));
    OK(MPI_Comm_create_errhandler(count_late, &late));
    OK(MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, NULL));
    for (int round = 0; round < 6; round++) {
        MPI_Comm parent, made;
        CASE("round %d", round);
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &parent));
        OK(MPI_Comm_set_attr(parent, key, NULL));
        OK(MPI_Comm_set_errhandler(parent, early));
        sets = round % 3;
        OK(MPI_Comm_dup(parent, &made));
        fails(parent, sets == 0, sets == 1);
        if (sets == 0) fails(made, 1, 0);
        sets = 0;
        for (int repeat = 0; repeat < 4; repeat++) OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, parent));
        OK(MPI_Comm_free(&made));
        OK(MPI_Comm_free(&parent));
    }
    OK(MPI_Comm_free_keyval(&key));
    OK(MPI_Errhandler_free(&early));
    OK(MPI_Errhandler_free(&late));
    return check_finish();
}
