/* Calls of one kind on many communicators of one shape, each used a few times and freed: what is learned on one has to serve
 * the next. In every third one the ranks stand in the opposite order, so that other ranks are the first ones. Results are known.
 *
 * Arguments: communicators, calls on each. */
#include "check.h"

static void use(MPI_Comm comm, int calls, int turn) {
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int call = 0; call < calls; call++) {
        double own[100], sum[100];
        int word = -1, root = (turn + call) % size;
        CASE("communicator %d, call %d", turn, call);
        for (int i = 0; i < 100; i++) own[i] = 1000 * turn + 10 * rank + (call + i) % 7;
        OK(MPI_Allreduce(own, sum, 100, MPI_DOUBLE, MPI_SUM, comm));
        for (int i = 0; i < 100; i++) {
            double expected = size * (1000.0 * turn + (call + i) % 7) + 10.0 * size * (size - 1) / 2;
            REQUIRE(sum[i] == expected, "element %d is %g, not %g", i, sum[i], expected);
        }
        if (rank == root) word = turn + call;
        OK(MPI_Bcast(&word, 1, MPI_INT, root, comm));
        REQUIRE(word == turn + call, "%d came from the root, not %d", word, turn + call);
    }
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    const int communicators = argc > 1 ? atoi(argv[1]) : 60, calls = argc > 2 ? atoi(argv[2]) : 12;
    for (int turn = 0; turn < communicators; turn++) {
        MPI_Comm comm, half;
        OK(MPI_Comm_split(MPI_COMM_WORLD, 0, turn % 3 == 0 ? -check_rank : check_rank, &comm));
        use(comm, calls, turn);
        /* Halves learn apart, and meet others in the halves to come. */
        OK(MPI_Comm_split(comm, (check_rank + turn / 10) % check_size < check_size / 2, check_rank, &half));
        use(half, calls, turn);
        OK(MPI_Comm_free(&half));
        OK(MPI_Comm_free(&comm));
    }
    return check_finish();
}
