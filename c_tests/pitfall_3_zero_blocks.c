/* The v-variants, where some ranks' blocks are empty, go to the native library between collectives that are replaced. */
#include "check.h"

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    int counts[8], starts[8], total = 0;
    for (int r = 0; r < check_size; r++) {
        counts[r] = r % 2 ? 0 : r + 1;
        starts[r] = total;
        total += counts[r];
    }
    for (int root = 0; root < check_size; root++) {
        int own[8] = {0}, all[64] = {0}, sum;
        for (int i = 0; i < counts[check_rank]; i++) own[i] = 10 * check_rank + i;
        CASE("MPI_Gatherv between collectives, root %d", root);
        OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        OK(MPI_Gatherv(own, counts[check_rank], MPI_INT, all, counts, starts, MPI_INT, root, MPI_COMM_WORLD));
        OK(MPI_Bcast(all, total, MPI_INT, root, MPI_COMM_WORLD));
        for (int r = 0; r < check_size; r++)
            for (int i = 0; i < counts[r]; i++)
                REQUIRE(all[starts[r] + i] == 10 * r + i, "element %d of rank %d is %d", i, r, all[starts[r] + i]);
        int back[8] = {0};
        CASE("MPI_Scatterv between collectives, root %d", root);
        OK(MPI_Scatterv(all, counts, starts, MPI_INT, back, counts[check_rank], MPI_INT, root, MPI_COMM_WORLD));
        OK(MPI_Allgather(&check_rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD));
        check_same(back, own, sizeof back, sizeof(int));
        for (int r = 0; r < check_size; r++) REQUIRE(all[r] == r, "element %d is %d", r, all[r]);
    }
#if defined MPICH_NUMVERSION && !defined MPI_ABI_VERSION
    /* Open MPI looks at the types of empty blocks. */
    MPI_Datatype types[8];
    int places[8], lengths[8], sent[8], received[8] = {0};
    for (int r = 0; r < check_size; r++) {
        lengths[r] = (check_rank + r) % 2;
        places[r] = r * (int)sizeof(int);
        types[r] = lengths[r] ? MPI_INT : (MPI_Datatype)0x12345;
        sent[r] = 10 * check_rank + r;
    }
    CASE("MPI_Alltoallw, the types of empty blocks none");
    OK(MPI_Alltoallw(sent, lengths, places, types, received, lengths, places, types, MPI_COMM_WORLD));
    for (int r = 0; r < check_size; r++)
        REQUIRE(received[r] == (lengths[r] ? 10 * r + check_rank : 0), "element %d is %d", r, received[r]);
#endif
    return check_finish();
}
