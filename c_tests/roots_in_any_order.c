/* Broadcasts on two communicators, in another order on the root than on the other ranks: erroneous, but it works as long as roots wait for
 * nobody. An observer must not make them. */
#include "check.h"

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    MPI_Comm both[2];
    for (int i = 0; i < 2; i++) OK(MPI_Comm_dup(MPI_COMM_WORLD, &both[i]));
    for (int round = 0; round < 20; round++) {
        CASE("round %d", round);
        for (int i = 0; i < 2; i++) {
            const int which = check_rank == 0 ? i : 1 - i;
            int value = check_rank == 0 ? 10 * round + which : -1;
            OK(MPI_Bcast(&value, 1, MPI_INT, 0, both[which]));
            REQUIRE(value == 10 * round + which, "the root sent %d", value);
        }
    }
    for (int i = 0; i < 2; i++) OK(MPI_Comm_free(&both[i]));
    return check_finish();
}
