/* Ten communicators whose ranks agree on what they need for a collective, on all of them before any needs a private one: barriers
 * first, then broadcasts. */
#include "check.h"

enum { NUMBER = 10, BARRIERS = 4 };

int main(int argc, char **argv) {
    MPI_Comm comms[NUMBER];
    check_start(&argc, &argv);
    for (int i = 0; i < NUMBER; i++) OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    for (int i = 0; i < NUMBER; i++)
        for (int call = 0; call < BARRIERS; call++) OK(MPI_Barrier(comms[i]));
    for (int i = 0; i < NUMBER; i++) {
        int value = check_rank == 0 ? i : -1;
        CASE("communicator %d", i);
        OK(MPI_Bcast(&value, 1, MPI_INT, 0, comms[i]));
        REQUIRE(value == i, "%d came from the root", value);
    }
    for (int i = 0; i < NUMBER; i++) OK(MPI_Comm_free(&comms[i]));
    if (check_rank == 0) printf("check: barrier calls %d\n", NUMBER * BARRIERS * check_size);
    return check_finish();
}
