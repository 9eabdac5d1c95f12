/* Handles of user operations and datatypes are freed and used again for others: nothing remembered about the old one
 * (commutativity, size) may be applied to the new one. */
#include "check.h"

static void keep_left(void *in, void *inout, int *len, MPI_Datatype *type) {
    (void)type;
    memcpy(inout, in, sizeof(int) * (size_t)*len);
}

static void maximum(void *in, void *inout, int *len, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *len; i++)
        if (((int *)in)[i] > ((int *)inout)[i]) ((int *)inout)[i] = ((int *)in)[i];
}

static void body(MPI_Comm comm, int rank, int size) {
    for (int round = 0; round < 20; round++) {
        const int commutes = round % 2, root = round % size;
        int send[5], ours[5];
        MPI_Op op;
        OK(MPI_Op_create(commutes ? maximum : keep_left, commutes, &op));
        for (int i = 0; i < 5; i++) send[i] = rank * 7 + i;
        const int winner = commutes ? size - 1 : 0;
        CASE("MPI_Allreduce, operation made anew, commutes %d, p %d", commutes, size);
        OK(MPI_Allreduce(send, ours, 5, MPI_INT, op, comm));
        for (int i = 0; i < 5; i++) REQUIRE(ours[i] == winner * 7 + i, "element %d: %d, expected %d", i, ours[i], winner * 7 + i);
        CASE("MPI_Reduce, operation made anew, commutes %d, root %d, p %d", commutes, root, size);
        OK(MPI_Reduce(send, ours, 5, MPI_INT, op, root, comm));
        for (int i = 0; rank == root && i < 5; i++)
            REQUIRE(ours[i] == winner * 7 + i, "element %d: %d, expected %d", i, ours[i], winner * 7 + i);
        OK(MPI_Op_free(&op));

        MPI_Datatype type;
        const int ints = 1 + round % 4;
        int message[16], expected[16];
        for (int i = 0; i < 16; i++) expected[i] = i < ints * 2 ? root * 100 + i : -1;
        for (int i = 0; i < 16; i++) message[i] = rank == root && i < ints * 2 ? root * 100 + i : -1;
        OK(MPI_Type_contiguous(ints, MPI_INT, &type));
        OK(MPI_Type_commit(&type));
        CASE("MPI_Bcast, type made anew, %d ints, root %d, p %d", ints, root, size);
        OK(MPI_Bcast(message, 2, type, root, comm));
        check_same(message, expected, sizeof message, sizeof(int));
        OK(MPI_Type_free(&type));
    }
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    check_on_parts(body);
    return check_finish();
}
