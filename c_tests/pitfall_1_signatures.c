/* One signature, another type map and count on every rank: bcast, gather, scatter, allgather, alltoall. The reference is PMPI on the
 * packed bytes, since libraries have had trouble with this themselves. */
#include "check.h"

enum { MAPS = 5 };

/* The same ints as `ints` elements of MPI_INT (a multiple of 4), mapped differently for each `map`. */
static void mapped(int map, int ints, MPI_Datatype *type, int *count) {
    switch (map % MAPS) {
    case 0:
        OK(MPI_Type_contiguous(1, MPI_INT, type));
        *count = ints;
        break;
    case 1:
        OK(MPI_Type_contiguous(4, MPI_INT, type));
        *count = ints / 4;
        break;
    case 2:
        OK(MPI_Type_vector(2, 1, 2, MPI_INT, type));
        *count = ints / 2;
        break;
    case 3:
        OK(MPI_Type_indexed(4, (int[]){1, 1, 1, 1}, (int[]){6, 0, 3, 2}, MPI_INT, type));
        *count = ints / 4;
        break;
    default:
        OK(MPI_Type_vector(ints, 1, 2, MPI_INT, type));
        *count = 1;
    }
    OK(MPI_Type_commit(type));
}

static void compare(Memory memory, MPI_Datatype type, int count, const void *native, unsigned seed) {
    int bytes;
    unsigned char *ours = check_packed(memory.at, count, type, &bytes);
    check_same(ours, native, (size_t)bytes, sizeof(int));
    check_gaps(memory, type, count, seed);
    free(ours);
}

static void body(MPI_Comm comm, int rank, int size) {
    for (int root = 0; root < size; root++)
        for (int ints = 4; ints <= 40004; ints += 20000) {
            int count, bytes, whole_bytes;
            MPI_Datatype block;
            mapped(rank + root, ints, &block, &count);
            Memory own = check_memory(block, count, 10 + rank);
            unsigned char *packed = check_packed(own.at, count, block, &bytes);
            unsigned char *native = malloc((size_t)bytes * (size_t)size);

            CASE("MPI_Bcast, root %d, %d ints, p %d", root, ints, size);
            Memory message = check_memory(block, count, rank == root ? 3 : 30 + rank);
            unsigned char *sent = check_packed(message.at, count, block, &bytes);
            OK(MPI_Bcast(message.at, count, block, root, comm));
            OK(PMPI_Bcast(sent, bytes, MPI_BYTE, root, comm));
            compare(message, block, count, sent, rank == root ? 3 : 30 + rank);

            CASE("MPI_Gather, root %d, %d ints, p %d", root, ints, size);
            Memory gathered = check_memory(block, (long)count * size, 40);
            OK(MPI_Gather(packed, bytes / 4, MPI_INT, gathered.at, count, block, root, comm));
            OK(PMPI_Gather(packed, bytes, MPI_BYTE, native, bytes, MPI_BYTE, root, comm));
            if (rank == root) compare(gathered, block, count * size, native, 40);
            OK(MPI_Gather(own.at, count, block, gathered.at, count, block, root, comm));
            if (rank == root) compare(gathered, block, count * size, native, 40);

            CASE("MPI_Scatter, root %d, %d ints, p %d", root, ints, size);
            unsigned char *blocks = check_packed(gathered.at, count * size, block, &whole_bytes);
            Memory scattered = check_memory(block, count, 50);
            OK(MPI_Scatter(gathered.at, count, block, scattered.at, count, block, root, comm));
            OK(PMPI_Scatter(blocks, bytes, MPI_BYTE, native, bytes, MPI_BYTE, root, comm));
            compare(scattered, block, count, native, 50);

            CASE("MPI_Allgather, %d ints, p %d", ints, size);
            OK(MPI_Allgather(own.at, count, block, gathered.at, count, block, comm));
            OK(PMPI_Allgather(packed, bytes, MPI_BYTE, native, bytes, MPI_BYTE, comm));
            compare(gathered, block, count * size, native, 40);

            CASE("MPI_Alltoall, %d ints, p %d", ints, size);
            unsigned char *outgoing = check_packed(gathered.at, count * size, block, &whole_bytes);
            Memory exchanged = check_memory(block, (long)count * size, 60);
            OK(MPI_Alltoall(gathered.at, count, block, exchanged.at, count, block, comm));
            OK(PMPI_Alltoall(outgoing, bytes, MPI_BYTE, native, bytes, MPI_BYTE, comm));
            compare(exchanged, block, count * size, native, 60);
            OK(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, gathered.at, count, block, comm));
            compare(gathered, block, count * size, native, 40);
            CASE("MPI_Alltoallv, %d ints, p %d", ints, size);
            int counts[8], places[8], byte_counts[8], byte_places[8];
            for (int i = 0; i < size; i++) {
                counts[i] = count;
                places[i] = count * (size - 1 - i);
                byte_counts[i] = bytes;
                byte_places[i] = bytes * (size - 1 - i);
            }
            outgoing = (free(outgoing), check_packed(gathered.at, count * size, block, &whole_bytes));
            OK(MPI_Alltoallv(gathered.at, counts, places, block, exchanged.at, counts, places, block, comm));
            OK(PMPI_Alltoallv(outgoing, byte_counts, byte_places, MPI_BYTE, native, byte_counts, byte_places, MPI_BYTE,
                              comm));
            compare(exchanged, block, count * size, native, 60);
            free(outgoing);
            check_free(exchanged);

            free(packed);
            free(native);
            free(sent);
            free(blocks);
            check_free(own);
            check_free(message);
            check_free(gathered);
            check_free(scattered);
            OK(MPI_Type_free(&block));
        }
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    check_on_parts(body);
    return check_finish();
}
