/* A communicator is being duplicated on some ranks while all make collective calls on another one, which some ranks begin before
 * they begin the duplicate and some after it: MPI leaves the order of calls on different communicators to the program. Open MPI
 * makes one communicator at a time in each process, the one whose parent is older first. Two ranks or more. */
#include "check.h"

enum { ROUNDS = 6, CALLS = 6 };

static void calls(MPI_Comm comm) {
    for (int call = 0; call < CALLS; call++) {
        int one = 1, sum = 0;
        OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
        REQUIRE(sum == check_size, "the sum is %d", sum);
        OK(MPI_Bcast(&sum, 1, MPI_INT, call % check_size, comm));
        REQUIRE(sum == check_size, "%d was sent", sum);
    }
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm other, duplicates[2];
        MPI_Request requests[2];
        MPI_Status statuses[2];
        CASE("round %d", round);
        OK(MPI_Comm_split(MPI_COMM_WORLD, 0, check_rank, &other));
        int first = (check_rank + round) % 2, number = 1 + round % 2;
        if (!first) calls(other);
        for (int i = 0; i < number; i++) OK(MPI_Comm_idup(MPI_COMM_WORLD, &duplicates[i], &requests[i]));
        if (first) calls(other);
        OK(MPI_Waitall(number, requests, statuses));
        calls(other);
        for (int i = 0; i < number; i++) {
            calls(duplicates[i]);
            OK(MPI_Comm_free(&duplicates[i]));
        }
        OK(MPI_Comm_free(&other));
    }
    return check_finish();
}
