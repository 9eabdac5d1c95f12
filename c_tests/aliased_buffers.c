/* Send and receive buffers that are one, or overlap: what the native library refuses is refused in its own words, and what
 * it computes comes out right, call after call. With the word "partial" also overlaps that libraries compute at most by
 * chance: ours reads all of a contribution before it writes anything. */
#include "check.h"

enum { TIMES = 6, MOST = 2000, RANKS = 8 };

static int memory[MOST * (RANKS + 2)], apart[MOST * (RANKS + 2)];
static int refuses[OPERATIONS][2], classes[OPERATIONS][2], partial;

static int value(int round, int rank, int i) { return 1000003 * round + 1009 * rank + i; }

static void fill(int *to, int count, int round, int rank) {
    for (int i = 0; i < count; i++) to[i] = value(round, rank, i);
}

static int native(int operation, int count, MPI_Comm comm) {
    int x[2] = {0}, place = 0;
    switch (operation) {
    case REDUCE: return PMPI_Reduce(x, x, count, MPI_INT, MPI_SUM, 0, comm);
    case ALLREDUCE: return PMPI_Allreduce(x, x, count, MPI_INT, MPI_SUM, comm);
    case GATHER: return PMPI_Gather(x, count, MPI_INT, x, count, MPI_INT, 0, comm);
    case SCATTER: return PMPI_Scatter(x, count, MPI_INT, x, count, MPI_INT, 0, comm);
    case ALLGATHER: return PMPI_Allgather(x, count, MPI_INT, x, count, MPI_INT, comm);
    case ALLTOALL: return PMPI_Alltoall(x, count, MPI_INT, x, count, MPI_INT, comm);
    case ALLTOALLV: return PMPI_Alltoallv(x, &count, &place, MPI_INT, x, &count, &place, MPI_INT, comm);
    }
    return MPI_SUCCESS;
}

/* What the library says of each operation with one element and with several. */
static void ask(void) {
    MPI_Comm comm;
    OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    for (int operation = 0; operation < OPERATIONS; operation++)
        for (int several = 0; several < 2; several++) {
            int code = native(operation, 1 + several, comm);
            refuses[operation][several] = code != MPI_SUCCESS;
            if (code != MPI_SUCCESS) MPI_Error_class(code, &classes[operation][several]);
        }
    OK(MPI_Comm_free(&comm));
}

static void expect_refused(int operation, int count, int code) {
    int class = MPI_SUCCESS;
    if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
    REQUIRE(class == classes[operation][count > 1], "class %d, natively %d", class, classes[operation][count > 1]);
}

static void expect_sum(const int *result, int count, int round, int size) {
    for (int i = 0; i < count; i++) {
        int sum = 0;
        for (int rank = 0; rank < size; rank++) sum += value(round, rank, i);
        REQUIRE(result[i] == sum, "element %d is %d, not %d", i, result[i], sum);
    }
}

static void expect_blocks(const int *result, int count, int round, int size) {
    for (int i = 0; i < count * size; i++)
        REQUIRE(result[i] == value(round, i / count, i % count), "element %d of rank %d is %d", i % count, i / count, result[i]);
}

/* Reductions with the contribution `shift` elements behind the result, on ranks that alias. */
static void reductions(MPI_Comm comm, int rank, int size, int count, int root, int shift, int everyone) {
    const int several = count > 1;
    for (int round = 0; round < TIMES; round++) {
        int aliased = everyone || rank == root;
        /* All ranks refuse alike, or none may wait for those that do. */
        if (everyone || !refuses[ALLREDUCE][several] || shift) {
            CASE("MPI_Allreduce, %d elements, shift %d, %d ranks, round %d", count, shift, size, round);
            int *own = aliased ? memory + MOST + shift : apart, *result = memory + MOST;
            fill(own, count, round, rank);
            int code = MPI_Allreduce(own, result, count, MPI_INT, MPI_SUM, comm);
            if (refuses[ALLREDUCE][several] && !shift) expect_refused(ALLREDUCE, count, code);
            else {
                REQUIRE(code == MPI_SUCCESS, "returned %d", code);
                expect_sum(result, count, round, size);
            }
        }
        CASE("MPI_Reduce, %d elements, root %d, shift %d, %d ranks, round %d", count, root, shift, size, round);
        int *own = aliased ? memory + MOST + shift : apart, *result = memory + MOST;
        fill(own, count, round, rank);
        int code = MPI_Reduce(own, result, count, MPI_INT, MPI_SUM, root, comm);
        if (rank == root && refuses[REDUCE][several] && !shift) {
            expect_refused(REDUCE, count, code);
            code = MPI_Reduce(own, apart, count, MPI_INT, MPI_SUM, root, comm);
            result = apart;
        }
        REQUIRE(code == MPI_SUCCESS, "returned %d", code);
        if (rank == root) expect_sum(result, count, round, size);
        else if (aliased && !shift)
            for (int i = 0; i < count; i++) REQUIRE(own[i] == value(round, rank, i), "element %d was written", i);
    }
}

/* Gather and allgather with the contribution in the own block, or `shift` elements behind it. */
static void gathers(MPI_Comm comm, int rank, int size, int count, int root, int shift) {
    const int several = count > 1;
    for (int round = 0; round < TIMES; round++) {
        int *own = memory + rank * count + shift;
        CASE("MPI_Allgather, %d elements, shift %d, %d ranks, round %d", count, shift, size, round);
        memset(memory, -1, sizeof memory);
        fill(own, count, round, rank);
        int code = MPI_Allgather(own, count, MPI_INT, memory, count, MPI_INT, comm);
        if (refuses[ALLGATHER][several] && !shift) expect_refused(ALLGATHER, count, code);
        else {
            REQUIRE(code == MPI_SUCCESS, "returned %d", code);
            expect_blocks(memory, count, round, size);
        }
        CASE("MPI_Gather, %d elements, root %d, shift %d, %d ranks, round %d", count, root, shift, size, round);
        memset(memory, -1, sizeof memory);
        fill(own, count, round, rank);
        int *result = memory;
        code = MPI_Gather(own, count, MPI_INT, result, count, MPI_INT, root, comm);
        if (rank == root && refuses[GATHER][several] && !shift) {
            expect_refused(GATHER, count, code);
            code = MPI_Gather(own, count, MPI_INT, apart, count, MPI_INT, root, comm);
            result = apart;
        }
        REQUIRE(code == MPI_SUCCESS, "returned %d", code);
        if (rank == root) expect_blocks(result, count, round, size);
    }
}

static void scatters(MPI_Comm comm, int rank, int size, int count, int root, int shift) {
    const int several = count > 1;
    for (int round = 0; round < TIMES; round++) {
        CASE("MPI_Scatter, %d elements, root %d, shift %d, %d ranks, round %d", count, root, shift, size, round);
        for (int block = 0; block < size; block++) fill(memory + MOST + block * count, count, round, block);
        int *result = memory + MOST + rank * count + shift;
        int code = MPI_Scatter(memory + MOST, count, MPI_INT, result, count, MPI_INT, root, comm);
        if (rank == root && refuses[SCATTER][several] && !shift) {
            expect_refused(SCATTER, count, code);
            code = MPI_Scatter(memory + MOST, count, MPI_INT, apart, count, MPI_INT, root, comm);
            result = apart;
        }
        REQUIRE(code == MPI_SUCCESS, "returned %d", code);
        for (int i = 0; i < count; i++) REQUIRE(result[i] == value(round, rank, i), "element %d is %d", i, result[i]);
    }
}

/* Alltoall from a buffer to itself, or to one `shift` elements before it. */
static void exchanges(MPI_Comm comm, int rank, int size, int count, int shift) {
    for (int round = 0; round < TIMES; round++) {
        CASE("MPI_Alltoall, %d elements, shift %d, %d ranks, round %d", count, shift, size, round);
        int *own = memory + shift;
        for (int block = 0; block < size; block++) fill(own + block * count, count, round, RANKS * rank + block);
        int code = MPI_Alltoall(own, count, MPI_INT, memory, count, MPI_INT, comm);
        if (refuses[ALLTOALL][count > 1] && !shift) {
            expect_refused(ALLTOALL, count, code);
            continue;
        }
        REQUIRE(code == MPI_SUCCESS, "returned %d", code);
        for (int i = 0; i < count * size; i++)
            REQUIRE(memory[i] == value(round, RANKS * (i / count) + rank, i % count), "element %d is %d", i, memory[i]);
    }
}

/* Alltoallv from a buffer to itself, or to one `shift` elements before it; with one array of counts for both sides, which
 * MPICH takes for a sign that the buffers are one, or two. */
static void own_exchanges(MPI_Comm comm, int rank, int size, int count, int shift, int one_array) {
    int counts[RANKS], others[RANKS], places[RANKS];
    for (int block = 0; block < size; block++) {
        counts[block] = others[block] = count - (rank + block) % 2;
        places[block] = count * (size - 1 - block);
    }
    for (int round = 0; round < TIMES; round++) {
        CASE("MPI_Alltoallv, %d elements, shift %d, %d ranks, %s, round %d", count, shift, size,
             one_array ? "one array" : "two arrays", round);
        int *own = memory + shift;
        for (int block = 0; block < size; block++) fill(own + places[block], count, round, RANKS * rank + block);
        int code = MPI_Alltoallv(own, counts, places, MPI_INT, memory, one_array ? counts : others, places, MPI_INT, comm);
        if (refuses[ALLTOALLV][1] && !shift && one_array) {
            expect_refused(ALLTOALLV, 2, code);
            continue;
        }
        REQUIRE(code == MPI_SUCCESS, "returned %d", code);
        for (int block = 0; block < size; block++)
            for (int i = 0; i < counts[block]; i++) {
                int found = memory[places[block] + i];
                REQUIRE(found == value(round, RANKS * block + rank, i), "element %d of rank %d is %d", i, block, found);
            }
    }
}

/* No elements: both buffers may be one, or nowhere. */
static void nothing(MPI_Comm comm, int root) {
    CASE("no elements, root %d", root);
    for (int round = 0; round < TIMES; round++) {
        int *at = round % 2 ? memory : NULL;
        OK(MPI_Allreduce(at, at, 0, MPI_INT, MPI_SUM, comm));
        OK(MPI_Reduce(at, at, 0, MPI_INT, MPI_SUM, root, comm));
        OK(MPI_Gather(at, 0, MPI_INT, at, 0, MPI_INT, root, comm));
        OK(MPI_Scatter(at, 0, MPI_INT, at, 0, MPI_INT, root, comm));
        OK(MPI_Allgather(at, 0, MPI_INT, at, 0, MPI_INT, comm));
        OK(MPI_Alltoall(at, 0, MPI_INT, at, 0, MPI_INT, comm));
        int counts[RANKS] = {0}, others[RANKS] = {0}, places[RANKS] = {0};
        OK(MPI_Alltoallv(at, counts, places, MPI_INT, at, others, places, MPI_INT, comm));
    }
}

/* The same arguments but for the addresses, which lie apart, in place and across each other in turns. */
static void in_turns(MPI_Comm comm, int rank, int size) {
    const int count = 8, shifts[] = {MOST, 3, MOST, -5, MOST, 7};
    for (int round = 0; round < 4 * TIMES; round++) {
        /* Each way long enough to be remembered. */
        int *result = memory + MOST, *own = result + shifts[round / 4];
        CASE("MPI_Allreduce with addresses in turns, %d ranks, round %d", size, round);
        fill(own, count, round, rank);
        OK(MPI_Allreduce(own, result, count, MPI_INT, MPI_SUM, comm));
        expect_sum(result, count, round, size);
    }
}

static void body(MPI_Comm comm, int rank, int size) {
    static const int counts[] = {1, 2, 64, MOST};
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    for (int root = 0; root < size; root += size > 1 ? size - 1 : 1) {
        nothing(comm, root);
        for (int number = 0; number < 4; number++) {
            const int count = counts[number];
            for (int everyone = 0; everyone < 2; everyone++) {
                reductions(comm, rank, size, count, root, 0, everyone);
                if (partial && size > 1) reductions(comm, rank, size, count, root, count / 2 + 1, everyone);
            }
            gathers(comm, rank, size, count, root, 0);
            if (size > 1) exchanges(comm, rank, size, count, 0);
            for (int arrays = 1; size > 1 && arrays <= 2; arrays++) own_exchanges(comm, rank, size, count, 0, arrays == 1);
            scatters(comm, rank, size, count, root, 0);
            if (!partial || size == 1 || count < 2) continue;
            gathers(comm, rank, size, count, root, count / 2);
            exchanges(comm, rank, size, count, count / 2);
            own_exchanges(comm, rank, size, count, count / 2, 1);
            scatters(comm, rank, size, count, root, -count / 2);
        }
    }
    if (partial && size > 1) in_turns(comm, rank, size);
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    /* Open MPI raises some of these errors there, whatever the communicator. */
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    partial = argc > 1 && strcmp(argv[1], "partial") == 0;
    ask();
    check_on_parts(body);
    return check_finish();
}
