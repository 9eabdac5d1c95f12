/* Each call several times over with the same arguments and other values, short and long, in place or not: what Collie does
 * again without asking must give what it gave before. Results are whole numbers and known. */
#include "check.h"

enum { TIMES = 4, MOST = 3000, RANKS = 8 };

static double own[MOST * RANKS], result[MOST * RANKS];

static double value(int round, int rank, int i) { return 1000 * round + 10 * rank + i % 7; }

static void fill(double *to, int count, int round, int rank) {
    for (int i = 0; i < count; i++) to[i] = value(round, rank, i);
}

static void expect_blocks(int count, int round, const char *name) {
    for (int rank = 0; rank < check_size; rank++)
        for (int i = 0; i < count; i++)
            REQUIRE(result[rank * count + i] == value(round, rank, i), "%s: element %d of rank %d is %g", name, i, rank,
                    result[rank * count + i]);
}

static void expect_sum(int count, int round, const char *name) {
    for (int i = 0; i < count; i++) {
        double sum = 0;
        for (int rank = 0; rank < check_size; rank++) sum += value(round, rank, i);
        REQUIRE(result[i] == sum, "%s: element %d is %g, not %g", name, i, result[i], sum);
    }
}

static void reductions(int count, int root, int round, int in_place) {
    int here = check_rank == root;
    fill(own, count, round, check_rank);
    fill(result, count, round, check_rank);
    OK(MPI_Allreduce(in_place ? MPI_IN_PLACE : own, result, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    expect_sum(count, round, "MPI_Allreduce");
    fill(result, count, round, check_rank);
    OK(MPI_Reduce(in_place && here ? MPI_IN_PLACE : own, result, count, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD));
    if (here) expect_sum(count, round, "MPI_Reduce");
}

static void movements(int count, int root, int round, int in_place) {
    int here = check_rank == root, mine = check_rank * count;
    memset(result, 0, sizeof result);
    if (here) fill(result, count, round, root);
    OK(MPI_Bcast(result, count, MPI_DOUBLE, root, MPI_COMM_WORLD));
    for (int i = 0; i < count; i++) REQUIRE(result[i] == value(round, root, i), "MPI_Bcast: element %d is %g", i, result[i]);
    memset(result, 0, sizeof result);
    fill(own, count, round, check_rank);
    fill(result + mine, count, round, check_rank);
    OK(MPI_Allgather(in_place ? MPI_IN_PLACE : own, count, MPI_DOUBLE, result, count, MPI_DOUBLE, MPI_COMM_WORLD));
    expect_blocks(count, round, "MPI_Allgather");
    double *from = in_place ? result : own;
    for (int rank = 0; rank < check_size; rank++) fill(from + rank * count, count, round, RANKS * check_rank + rank);
    OK(MPI_Alltoall(in_place ? MPI_IN_PLACE : own, count, MPI_DOUBLE, result, count, MPI_DOUBLE, MPI_COMM_WORLD));
    for (int i = 0; i < check_size * count; i++)
        REQUIRE(result[i] == value(round, RANKS * (i / count) + check_rank, i % count), "MPI_Alltoall: element %d is %g", i,
                result[i]);
    fill(own, count, round, check_rank);
    memset(result, 0, sizeof result);
    fill(result + mine, count, round, check_rank);
    OK(MPI_Gather(in_place && here ? MPI_IN_PLACE : own, count, MPI_DOUBLE, result, count, MPI_DOUBLE, root, MPI_COMM_WORLD));
    if (here) expect_blocks(count, round, "MPI_Gather");
    for (int rank = 0; rank < check_size; rank++) fill(own + rank * count, count, round, rank);
    memset(result, 0, sizeof result);
    void *into = in_place && here ? MPI_IN_PLACE : result;
    OK(MPI_Scatter(own, count, MPI_DOUBLE, into, count, MPI_DOUBLE, root, MPI_COMM_WORLD));
    for (int i = 0; into == result && i < count; i++)
        REQUIRE(result[i] == value(round, check_rank, i), "MPI_Scatter: element %d is %g", i, result[i]);
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    /* Around the limits of messages that travel as one, as two, and as many. */
    static const int counts[] = {1, 8, 9, 16, 17, 32, 33, 64, 65, 125, 126, 300, MOST};
    if (check_size > RANKS) return 1;
    for (size_t number = 0; number < sizeof counts / sizeof *counts; number++)
        for (int in_place = 0; in_place < 2; in_place++)
            for (int root = 0; root < check_size; root += check_size - 1)
                for (int round = 0; round < TIMES; round++) {
                    CASE("%d numbers, root %d, %s place, round %d", counts[number], root, in_place ? "in" : "out of", round);
                    reductions(counts[number], root, round, in_place);
                    movements(counts[number], root, round, in_place);
                }
    return check_finish();
}
