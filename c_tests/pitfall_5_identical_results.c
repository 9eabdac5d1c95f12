/* Floating-point allreduce: the same bits on all ranks, and the same again when it is called again. */
#include "check.h"

static double awkward(long i, int rank) {
    uint32_t x = (uint32_t)(i * 2654435761u) ^ (uint32_t)(rank * 2246822519u);
    x ^= x >> 15;
    x *= 2246822519u;
    double scale[] = {1e-12, 1.0, 1e9, -1e9, -3e-5};
    return (double)(x % 100003) / 3.0 * scale[(x >> 17) % 5];
}

static void body(MPI_Comm comm, int rank, int size) {
    enum { LARGEST = 70001 };
    static double send[LARGEST], once[LARGEST], again[LARGEST], first[LARGEST];
    static float send4[LARGEST], once4[LARGEST], first4[LARGEST];
    for (long i = 0; i < LARGEST; i++) send4[i] = (float)(send[i] = awkward(i, rank));
    const int counts[] = {1, 2, size, 37, 1009, LARGEST};
    for (int c = 0; c < 6; c++) {
        const int count = counts[c];
        CASE("MPI_Allreduce MPI_DOUBLE MPI_SUM, count %d, p %d: rank 0's result is shown as native", count, size);
        OK(MPI_Allreduce(send, once, count, MPI_DOUBLE, MPI_SUM, comm));
        memcpy(first, once, sizeof(double) * (size_t)count);
        OK(PMPI_Bcast(first, count, MPI_DOUBLE, 0, comm));
        check_same(once, first, sizeof(double) * (size_t)count, sizeof(double));
        CASE("MPI_Allreduce MPI_DOUBLE MPI_SUM, count %d, p %d: the first call's result is shown as native", count, size);
        memcpy(again, send, sizeof(double) * (size_t)count);
        OK(MPI_Allreduce(MPI_IN_PLACE, again, count, MPI_DOUBLE, MPI_SUM, comm));
        check_same(again, once, sizeof(double) * (size_t)count, sizeof(double));
        CASE("MPI_Allreduce MPI_FLOAT MPI_PROD, count %d, p %d: rank 0's result is shown as native", count, size);
        OK(MPI_Allreduce(send4, once4, count, MPI_FLOAT, MPI_PROD, comm));
        memcpy(first4, once4, sizeof(float) * (size_t)count);
        OK(PMPI_Bcast(first4, count, MPI_FLOAT, 0, comm));
        check_same(once4, first4, sizeof(float) * (size_t)count, sizeof(float));
    }
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    check_on_parts(body);
    return check_finish();
}
