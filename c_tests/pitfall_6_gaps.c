/* Reductions on types with gaps, a negative lower bound and an extent unlike the true extent, in place and not. The
 * user's function walks the type map itself, so temporary buffers must have room below and above the elements. */
#include "check.h"

/* Two ints, 8 bytes below and 4 bytes above the element's address; 32 bytes from one element to the next. */
static void add(void *in, void *inout, int *len, MPI_Datatype *type) {
    MPI_Aint lower, extent;
    PMPI_Type_get_extent(*type, &lower, &extent);
    for (int i = 0; i < *len; i++) {
        char *a = (char *)in + i * extent, *b = (char *)inout + i * extent;
        *(int *)(b - 8) += *(int *)(a - 8);
        *(int *)(b + 4) = *(int *)(a + 4); /* keeps the left one: associative, and does not commute */
    }
}

static void body(MPI_Comm comm, int rank, int size) {
    MPI_Datatype bare, type;
    MPI_Op op;
    OK(MPI_Type_create_hindexed(2, (int[]){1, 1}, (MPI_Aint[]){-8, 4}, MPI_INT, &bare));
    OK(MPI_Op_create(add, 0, &op));
    for (int wide = 0; wide < 2; wide++) {
        /* Narrow: from one element to the next 4 bytes, so that elements interleave without sharing a byte for 3. */
        OK(MPI_Type_create_resized(bare, -8, wide ? 32 : 4, &type));
        OK(MPI_Type_commit(&type));
        const int counts[] = {1, 2, wide ? 5 : 3, wide ? 1000 : 1};
        for (int c = 0; c < 4; c++)
            for (int root = 0; root < size; root++)
                for (int in_place = 0; in_place < 2; in_place++) {
                    const int count = counts[c];
                    const unsigned send_seed = 5 + rank, seed = in_place ? send_seed : 70u + rank;
                    Memory send = check_memory(type, count, send_seed);
                    Memory ours = check_memory(type, count, seed);
                    Memory native = check_memory(type, count, seed);
                    CASE("MPI_Reduce, extent %d, count %d, root %d, p %d, in place %d", wide ? 32 : 4, count, root, size,
                         in_place);
                    OK(MPI_Reduce(in_place && rank == root ? MPI_IN_PLACE : send.at, ours.at, count, type, op, root, comm));
                    OK(PMPI_Reduce(send.at, native.at, count, type, op, root, comm));
                    check_same(ours.base, native.base, ours.size, sizeof(int));
                    check_gaps(ours, type, count, seed);
                    CASE("MPI_Allreduce, extent %d, count %d, p %d, in place %d", wide ? 32 : 4, count, size, in_place);
                    if (in_place) memcpy(ours.base, send.base, send.size);
                    OK(MPI_Allreduce(in_place ? MPI_IN_PLACE : send.at, ours.at, count, type, op, comm));
                    OK(PMPI_Allreduce(send.at, native.at, count, type, op, comm));
                    check_same(ours.base, native.base, ours.size, sizeof(int));
                    check_free(send);
                    check_free(ours);
                    check_free(native);
                }
        OK(MPI_Type_free(&type));
    }
    OK(MPI_Op_free(&op));
    OK(MPI_Type_free(&bare));
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    check_on_parts(body);
    return check_finish();
}
