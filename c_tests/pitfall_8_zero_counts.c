/* Nothing to move: count 0 with NULL buffers, types of no bytes, and both at once on different ranks, which is legal since
 * the signatures are equal. The native libraries hang in the last, so nothing here is compared with them; a collective
 * with content after each shows that the ranks still agree. */
#include "check.h"

static void still_agree(MPI_Comm comm, int rank, int size) {
    int sum = -1, mine = rank + 1;
    OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm));
    REQUIRE(sum == size * (size + 1) / 2, "the sum after it is %d", sum);
}

static void six(const char *what, int count, MPI_Datatype type, void *from, void *buffer, MPI_Comm comm, int rank, int size) {
    for (int root = 0; root < size; root++) {
        CASE("%s, root %d, p %d", what, root, size);
        OK(MPI_Bcast(buffer, count, type, root, comm));
        still_agree(comm, rank, size);
        OK(MPI_Gather(from, count, type, buffer, count, type, root, comm));
        still_agree(comm, rank, size);
        OK(MPI_Scatter(from, count, type, buffer, count, type, root, comm));
        still_agree(comm, rank, size);
    }
    OK(MPI_Allgather(from, count, type, buffer, count, type, comm));
    still_agree(comm, rank, size);
    OK(MPI_Alltoall(from, count, type, buffer, count, type, comm));
    still_agree(comm, rank, size);
    int counts[8], others[8], places[8] = {0};
    for (int i = 0; i < size; i++) counts[i] = others[i] = count;
    OK(MPI_Alltoallv(from, counts, places, type, buffer, others, places, type, comm));
    still_agree(comm, rank, size);
}

static void body(MPI_Comm comm, int rank, int size) {
    MPI_Datatype nothing;
    OK(MPI_Type_contiguous(0, MPI_INT, &nothing));
    OK(MPI_Type_commit(&nothing));
    /* Apart, since MPICH takes equal addresses for aliases unless the count is 0. */
    char here[2];
    six("count 0, NULL", 0, MPI_INT, NULL, NULL, comm, rank, size);
    six("count 5 of a type of no bytes", 5, nothing, here, here + 1, comm, rank, size);
    six("count 0 on even ranks, type of no bytes on odd ones", rank % 2 ? 3 : 0, rank % 2 ? nothing : MPI_INT, here,
        here + 1, comm, rank, size);
    six("count 0 of several types", 0, rank % 2 ? MPI_DOUBLE : MPI_BYTE, NULL, NULL, comm, rank, size);
    for (int root = 0; root < size; root++) {
        CASE("MPI_Reduce, count 0, root %d, p %d", root, size);
        OK(MPI_Reduce(NULL, NULL, 0, MPI_INT, MPI_SUM, root, comm));
        still_agree(comm, rank, size);
        OK(MPI_Reduce(rank == root ? MPI_IN_PLACE : NULL, NULL, 0, MPI_DOUBLE, MPI_MAX, root, comm));
        still_agree(comm, rank, size);
    }
    CASE("MPI_Allreduce, count 0, p %d", size);
    OK(MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, comm));
    OK(MPI_Allreduce(MPI_IN_PLACE, NULL, 0, MPI_INT, MPI_SUM, comm));
    still_agree(comm, rank, size);
    OK(MPI_Type_free(&nothing));
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    check_on_parts(body);
    return check_finish();
}
