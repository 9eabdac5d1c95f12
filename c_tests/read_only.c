/* Memory that can only be read, as a broadcast's message at its root and as what ranks send. */
#include "check.h"
#include <sys/mman.h>

enum { LONGEST = 1 << 20, MOST_RANKS = 8 };

static int *integers(int readable_only) {
    size_t bytes = (size_t)LONGEST * MOST_RANKS;
    int *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) PMPI_Abort(MPI_COMM_WORLD, 2);
    for (size_t i = 0; readable_only && i < bytes / sizeof *memory; i++) memory[i] = (int)(i % 1000);
    if (readable_only && mprotect(memory, bytes, PROT_READ)) PMPI_Abort(MPI_COMM_WORLD, 2);
    return memory;
}

static void check_block(const int *block, int count, int first, int factor) {
    for (int i = 0; i < count; i++)
        if (block[i] != factor * ((first + i) % 1000)) {
            fail("element %d: %d", i, block[i]);
            return;
        }
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    const int *sent = integers(1);
    int *received = integers(0), rank = check_rank, size = check_size;
    for (int count = 16; (size_t)count * sizeof(int) <= LONGEST; count *= 8)
        for (int root = 0; root < size; root++) {
            int *message = rank == root ? (int *)sent : received;
            memset(received, 1, count * sizeof(int));
            CASE("MPI_Bcast, root %d, %d ints", root, count);
            OK(MPI_Bcast(message, count, MPI_INT, root, MPI_COMM_WORLD));
            check_block(message, count, 0, 1);
            CASE("MPI_Reduce, root %d, %d ints", root, count);
            OK(MPI_Reduce(sent, received, count, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD));
            if (rank == root) check_block(received, count, 0, size);
            CASE("MPI_Allreduce, %d ints", count);
            OK(MPI_Allreduce(sent, received, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
            check_block(received, count, 0, size);
            CASE("MPI_Scatter, root %d, %d ints", root, count);
            OK(MPI_Scatter(sent, count, MPI_INT, received, count, MPI_INT, root, MPI_COMM_WORLD));
            check_block(received, count, rank * count, 1);
            CASE("MPI_Scatter in place, root %d, %d ints", root, count);
            OK(MPI_Scatter(sent, count, MPI_INT, rank == root ? MPI_IN_PLACE : received, count, MPI_INT, root,
                           MPI_COMM_WORLD));
            CASE("MPI_Gather, root %d, %d ints", root, count);
            OK(MPI_Gather(sent, count, MPI_INT, received, count, MPI_INT, root, MPI_COMM_WORLD));
            for (int r = 0; rank == root && r < size; r++) check_block(received + r * count, count, 0, 1);
            CASE("MPI_Allgather, %d ints", count);
            OK(MPI_Allgather(sent, count, MPI_INT, received, count, MPI_INT, MPI_COMM_WORLD));
            for (int r = 0; r < size; r++) check_block(received + r * count, count, 0, 1);
            CASE("MPI_Alltoall, %d ints", count);
            OK(MPI_Alltoall(sent, count, MPI_INT, received, count, MPI_INT, MPI_COMM_WORLD));
            for (int r = 0; r < size; r++) check_block(received + r * count, count, rank * count, 1);
        }
    return check_finish();
}
