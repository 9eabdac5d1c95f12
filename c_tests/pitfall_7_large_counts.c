/* More than 2^31 bytes in one call. The broadcast of 2^31+8 bytes always runs; the argument `large` adds the other
 * operations (some 13 GiB of memory with 2 ranks). */
#include "check.h"

enum { CHUNK = 4096 };

static size_t span;

static unsigned char *pages(size_t bytes) {
    unsigned char *memory = malloc(bytes);
    if (memory == NULL) {
        fprintf(stderr, "no memory for %zu bytes\n", bytes);
        PMPI_Abort(MPI_COMM_WORLD, 3);
    }
    return memory;
}

/* One byte in each page and the last bytes say where they are. */
static unsigned char at(size_t i, int rank) { return (unsigned char)(i / CHUNK * 7 + i % CHUNK + rank * 101); }

static void mark(unsigned char *memory, size_t bytes, int rank) {
    memset(memory, rank, bytes);
    for (size_t i = 0; i < bytes; i += CHUNK) memory[i] = at(i, rank);
    for (size_t i = bytes - 8; i < bytes; i++) memory[i] = at(i, rank);
}

static void verify(const unsigned char *memory, size_t bytes, int rank) {
    for (size_t i = 0; i < bytes; i += CHUNK) REQUIRE(memory[i] == at(i, rank), "byte %zu is %d, not %d", i, memory[i], at(i, rank));
    for (size_t i = bytes - 8; i < bytes; i++) REQUIRE(memory[i] == at(i, rank), "byte %zu is %d, not %d", i, memory[i], at(i, rank));
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    span = ((size_t)1 << 31) + 8;
    MPI_Datatype eight;
    OK(MPI_Type_contiguous(8, MPI_BYTE, &eight));
    OK(MPI_Type_commit(&eight));
    unsigned char *message = pages(span);
    memset(message, 0xee, span);
    if (check_rank == 0) mark(message, span, 3);
    CASE("MPI_Bcast of %zu bytes as %zu elements of 8 bytes", span, span / 8);
    OK(MPI_Bcast(message, (int)(span / 8), eight, 0, MPI_COMM_WORLD));
    verify(message, span, 3);
    if (argc > 1 && strcmp(argv[1], "large") == 0) {
#if MPI_VERSION >= 4
        memset(message, 0xdd, span);
        if (check_rank == check_size - 1) mark(message, span, 4);
        CASE("MPI_Bcast_c of %zu bytes", span);
        OK(MPI_Bcast_c(message, (MPI_Count)span, MPI_BYTE, check_size - 1, MPI_COMM_WORLD));
        verify(message, span, 4);
#endif
        /* Blocks whose sum passes 2^31 bytes, though none does. */
        size_t block = ((size_t)1 << 31) / check_size + 4096;
        unsigned char *all = pages(block * check_size);
        mark(message, block, check_rank);
        CASE("MPI_Allgather of %zu bytes a rank", block);
        OK(MPI_Allgather(message, (int)(block / 8), eight, all, (int)(block / 8), eight, MPI_COMM_WORLD));
        for (int r = 0; r < check_size; r++) verify(all + r * block, block, r);
        CASE("MPI_Gather of %zu bytes a rank", block);
        memset(all, 0, block * check_size);
        OK(MPI_Gather(message, (int)(block / 8), eight, all, (int)(block / 8), eight, 0, MPI_COMM_WORLD));
        for (int r = 0; check_rank == 0 && r < check_size; r++) verify(all + r * block, block, r);
        CASE("MPI_Scatter of %zu bytes a rank", block);
        memset(message, 0, block);
        OK(MPI_Scatter(all, (int)(block / 8), eight, message, (int)(block / 8), eight, 0, MPI_COMM_WORLD));
        verify(message, block, check_rank);
        free(all);
        size_t longs = span / sizeof(uint64_t);
        uint64_t *numbers = (uint64_t *)message, *sum = (uint64_t *)pages(span);
        for (size_t i = 0; i < longs; i++) numbers[i] = i * (uint64_t)(check_rank + 1);
        const uint64_t factor = (uint64_t)check_size * (check_size + 1) / 2;
        CASE("MPI_Allreduce of %zu bytes", span);
        OK(MPI_Allreduce(numbers, sum, (int)longs, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD));
        for (size_t i = 0; i < longs; i += 511) REQUIRE(sum[i] == i * factor, "element %zu is %lu", i, (unsigned long)sum[i]);
        memset(sum, 0, span);
        CASE("MPI_Reduce of %zu bytes", span);
        OK(MPI_Reduce(numbers, sum, (int)longs, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD));
        for (size_t i = 0; check_rank == 0 && i < longs; i += 511)
            REQUIRE(sum[i] == i * factor, "element %zu is %lu", i, (unsigned long)sum[i]);
        free(sum);
    }
    free(message);
    OK(MPI_Type_free(&eight));
    return check_finish();
}
