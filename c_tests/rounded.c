/* Sums that round otherwise in another order, the same ones again and again: with COLLIE_REPRODUCIBLE=on each call gives what the
 * first one of its kind gave, to the last bit, and so does the next run. Kinds take turns, roots too, and communicators. What all of
 * them gave stands in a line of standard output.
 *
 * Arguments: calls of each kind. */
#include "check.h"

enum { KINDS = 4, MOST = 5000 };
static const int counts[KINDS] = {1, 9, 700, MOST};

static uint64_t hash = 1469598103934665603u;

static void add(const void *data, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) hash = (hash ^ ((const unsigned char *)data)[i]) * 1099511628211u;
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    const int calls = argc > 1 ? atoi(argv[1]) : 800;
    static double own[MOST], sum[MOST], all_first[2][KINDS][MOST];
    double *reduced_first[2] = {calloc((size_t)check_size * KINDS * MOST, sizeof(double)),
                                calloc((size_t)check_size * KINDS * MOST, sizeof(double))};
    MPI_Comm comms[2] = {MPI_COMM_WORLD, MPI_COMM_NULL};
    OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &comms[1]));
    for (int i = 0; i < MOST; i++) own[i] = (1.0 + (i % 97) / 97.0) * (double)(1ull << (check_rank * 31 + i) % 61);
    for (int call = 0; call < calls; call++) {
        for (int which = 0; which < 2; which++) {
            int rank;
            MPI_Comm_rank(comms[which], &rank);
            for (int kind = 0; kind < KINDS; kind++) {
                const size_t bytes = (size_t)counts[kind] * sizeof(double);
                CASE("communicator %d, call %d, %d elements", which, call, counts[kind]);
                OK(MPI_Allreduce(own, sum, counts[kind], MPI_DOUBLE, MPI_SUM, comms[which]));
                double *first = all_first[which][kind];
                if (call == 0) memcpy(first, sum, bytes), add(sum, bytes);
                REQUIRE(!memcmp(first, sum, bytes), "the sum of all is not that of the first call");
                const int root = call % check_size;
                OK(MPI_Reduce(own, sum, counts[kind], MPI_DOUBLE, MPI_SUM, root, comms[which]));
                if (rank != root) continue;
                first = reduced_first[which] + ((size_t)root * KINDS + kind) * MOST;
                if (call < check_size) memcpy(first, sum, bytes), add(sum, bytes);
                REQUIRE(!memcmp(first, sum, bytes), "the sum at root %d is not that of the first call", root);
            }
        }
    }
    uint64_t all = 0;
    OK(MPI_Reduce(&hash, &all, 1, MPI_UINT64_T, MPI_BXOR, 0, MPI_COMM_WORLD));
    if (check_rank == 0) printf("rounded: %016llx\n", (unsigned long long)all);
    OK(MPI_Comm_free(&comms[1]));
    free(reduced_first[0]);
    free(reduced_first[1]);
    return check_finish();
}
