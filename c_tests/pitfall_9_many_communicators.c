/* Communicators made by the thousand: freed and made again, and more alive at once than private ones can follow. */
#include "six.h"

/* More in a row than there are context ids (MPICH has 2046). */
static void many_in_a_row(void) {
    for (int i = 0; i < 2500; i++) {
        MPI_Comm comm;
        int sum;
        CASE("communicator %d in a row", i);
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        OK(MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, comm));
        REQUIRE(sum == i * check_size, "the sum is %d", sum);
        OK(MPI_Comm_free(&comm));
    }
}

/* So many alive at once that private ones for all of them would take all that MPICH has. */
static void many_at_once(void) {
    enum { ALIVE = 1500 };
    static MPI_Comm comms[ALIVE];
    for (int i = 0; i < ALIVE; i++) {
        int sum, own = i + check_rank;
        CASE("communicator %d at once", i);
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
        OK(MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comms[i]));
        REQUIRE(sum == i * check_size + check_size * (check_size - 1) / 2, "the sum is %d", sum);
    }
    for (int i = 0; i < ALIVE; i += 100) six("one of many", comms[i]);
    for (int i = 0; i < ALIVE; i++) OK(MPI_Comm_free(&comms[i]));
    six("MPI_COMM_WORLD after many", MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    many_in_a_row();
    many_at_once();
    return check_finish();
}
