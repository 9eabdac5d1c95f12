/* MPI_Barrier: nobody leaves before everybody has come. Each rank counts up its own cell of shared memory before a barrier,
 * and sees all others' counted up after it. */
#include "check.h"

static long barriers;

static void body(MPI_Comm comm, int rank, int size) {
    MPI_Win window;
    volatile int *own, *cells[8];
    OK(MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, comm, (void *)&own, &window));
    for (int r = 0; r < size; r++) {
        MPI_Aint bytes;
        int unit;
        OK(MPI_Win_shared_query(window, r, &bytes, &unit, (void *)&cells[r]));
    }
    __atomic_store_n(own, 0, __ATOMIC_SEQ_CST);
    OK(PMPI_Barrier(comm));
    for (int round = 1; round <= 60; round++) {
        CASE("MPI_Barrier, round %d, p %d", round, size);
        __atomic_store_n(own, round, __ATOMIC_SEQ_CST);
        OK(MPI_Barrier(comm));
        barriers++;
        for (int r = 0; r < size; r++) {
            int seen = __atomic_load_n(cells[r], __ATOMIC_SEQ_CST);
            REQUIRE(seen == round || seen == round + 1, "left with rank %d in round %d", r, seen);
        }
    }
    OK(PMPI_Barrier(comm));
    OK(MPI_Win_free(&window));
    (void)rank;
}

int main(int argc, char **argv) {
    long all;
    check_start(&argc, &argv);
    check_on_parts(body);
    PMPI_Reduce(&barriers, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (check_rank == 0) printf("check: barrier calls %ld\n", all);
    return check_finish();
}
