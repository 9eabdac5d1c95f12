/* Delete callbacks that communicate on the dying communicator, before and after Collie's own has run: MPIs differ in whose
 * turn is first, so there is one of an attribute that was set before Collie's and one of an attribute set after; and one that
 * is set before on some ranks and after on others. */
#include "check.h"

static int deleted;

static int delete(MPI_Comm comm, int key, void *value, void *extra) {
    (void)key;
    (void)value;
    (void)extra;
    int rank, size, sum = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int repeat = 0; repeat < 4; repeat++) {
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
        REQUIRE(sum == size * (size - 1) / 2, "the sum is %d", sum);
        MPI_Scan(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
        REQUIRE(sum == rank * (rank + 1) / 2, "the partial sum is %d", sum);
    }
    deleted++;
    return MPI_SUCCESS;
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    int early, late, differing, sum, value, expected = 0;
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete, &early, NULL));
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete, &late, NULL));
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete, &differing, NULL));
    for (int round = 0; round < 24; round++) {
        MPI_Comm comm;
        CASE("round %d", round);
        OK(MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &comm));
        const int is_differing = round % 4 > 1, is_early = check_rank == round / 4 % check_size;
        if (!is_differing) OK(MPI_Comm_set_attr(comm, early, &value));
        if (is_differing && is_early) OK(MPI_Comm_set_attr(comm, differing, &value));
        /* In some rounds the first call on the communicator is the callback's. */
        for (int repeat = 0; repeat < 3 * (round % 3); repeat++)
            OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, comm));
        if (is_differing && !is_early) OK(MPI_Comm_set_attr(comm, differing, &value));
        if (!is_differing) OK(MPI_Comm_set_attr(comm, late, &value));
        OK(round % 2 ? MPI_Comm_free(&comm) : MPI_Comm_disconnect(&comm));
        expected += is_differing ? 1 : 2;
        REQUIRE(deleted == expected, "%d callbacks", deleted);
        /* Another communicator, perhaps of the same handle, smaller than the one before. */
        if (check_size > 1) {
            int rank, size;
            OK(MPI_Comm_split(MPI_COMM_WORLD, check_rank == 0, 0, &comm));
            MPI_Comm_rank(comm, &rank);
            MPI_Comm_size(comm, &size);
            for (int repeat = 0; repeat < 4; repeat++) {
                OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
                REQUIRE(sum == size * (size - 1) / 2, "the sum is %d", sum);
            }
            OK(MPI_Comm_free(&comm));
        }
    }
    return check_finish();
}
