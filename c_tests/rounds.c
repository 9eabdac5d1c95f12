/* The same few calls over and over, with results that are known: what modes compare and verify do to a program.
 * With an argument, of whole numbers only. */
#include "check.h"

enum { ROUNDS = 60, NUMBERS = 6, LONG = 3000 };

static void largest_first(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *count; i++)
        if (((int *)in)[i] > ((int *)inout)[i]) ((int *)inout)[i] = ((int *)in)[i];
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    static double tenths[LONG], sums[LONG];
    MPI_Op largest;
    OK(MPI_Op_create(largest_first, 1, &largest));
    for (int round = 0; round < ROUNDS; round++) {
        int own[NUMBERS], all[NUMBERS], most = -1, message = check_rank == round % check_size ? round + 9 : 0;
        for (int i = 0; i < NUMBERS; i++) own[i] = 100 * round + 10 * i + check_rank;
        for (int i = 0; i < LONG; i++) tenths[i] = (i + 1) * 0.1 + check_rank;
        CASE("round %d", round);
        OK(MPI_Allreduce(own, all, NUMBERS, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        for (int i = 0; i < NUMBERS; i++)
            REQUIRE(all[i] == check_size * (100 * round + 10 * i) + check_size * (check_size - 1) / 2,
                    "MPI_Allreduce: element %d is %d", i, all[i]);
        OK(MPI_Bcast(&message, 1, MPI_INT, round % check_size, MPI_COMM_WORLD));
        REQUIRE(message == round + 9, "MPI_Bcast gave %d", message);
        OK(MPI_Reduce(own, &most, 1, MPI_INT, largest, 0, MPI_COMM_WORLD));
        REQUIRE(check_rank != 0 || most == 100 * round + check_size - 1, "MPI_Reduce gave %d", most);
        if (argc > 1) continue;
        OK(MPI_Allreduce(tenths, sums, LONG, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
        for (int i = 0; i < LONG; i++) {
            double expected = check_size * ((i + 1) * 0.1) + check_size * (check_size - 1) / 2;
            double off = sums[i] - expected;
            REQUIRE(off < 1e-9 && off > -1e-9, "MPI_Allreduce: element %d is off by %g", i, off);
        }
    }
    OK(MPI_Op_free(&largest));
    return check_finish();
}
