/* Allreduce: the same bits on all ranks, and the same again when it is called again; also of operations that give other bits
 * when their sides change, though they commute. */
#include "check.h"
#include <math.h>

static double awkward(long i, int rank) {
    uint32_t x = (uint32_t)(i * 2654435761u) ^ (uint32_t)(rank * 2246822519u);
    x ^= x >> 15;
    x *= 2246822519u;
    double scale[] = {1e-12, 1.0, 1e9, -1e9, -3e-5};
    return (double)(x % 100003) / 3.0 * scale[(x >> 17) % 5];
}

/* The mean of samples of which some have been seen. */
typedef struct { double samples, mean; } Mean;

static void merge(void *in, void *inout, int *count, MPI_Datatype *type) {
    const Mean *from = in;
    Mean *into = inout;
    (void)type;
    for (int i = 0; i < *count; i++) {
        const double samples = from[i].samples + into[i].samples, off = into[i].mean - from[i].mean;
        into[i].mean = from[i].mean + off * into[i].samples / samples;
        into[i].samples = samples;
    }
}

static void sided(MPI_Comm comm, int rank, int size) {
    enum { MOST = 3001 };
    static Mean send[MOST], once[MOST], first[MOST];
    static long double numbers[MOST], most[MOST];
    static double bits[MOST], expected[MOST];
    MPI_Datatype mean;
    MPI_Op op;
    OK(MPI_Type_contiguous(2, MPI_DOUBLE, &mean));
    OK(MPI_Type_commit(&mean));
    OK(MPI_Op_create(merge, 1, &op));
    for (int i = 0; i < MOST; i++) {
        send[i] = (Mean){1 + (i + rank) % 5, awkward(i, rank)};
        /* A maximum of a number and a NaN is one of the two, by the side. */
        numbers[i] = (i + rank) % 3 ? (long double)awkward(i, rank) : (long double)NAN;
    }
    const int counts[] = {1, 2, size, 37, MOST};
    for (int c = 0; c < 5; c++) {
        const int count = counts[c];
        for (int turn = 0; turn < 2; turn++) {
            CASE("MPI_Allreduce of means, count %d, p %d: rank 0's result is shown as native", count, size);
            if (turn) memcpy(once, send, sizeof(Mean) * (size_t)count);
            OK(MPI_Allreduce(turn ? MPI_IN_PLACE : send, once, count, mean, op, comm));
            memcpy(first, once, sizeof(Mean) * (size_t)count);
            OK(PMPI_Bcast(first, count, mean, 0, comm));
            check_same(once, first, sizeof(Mean) * (size_t)count, sizeof(Mean));
        }
        CASE("MPI_Allreduce MPI_LONG_DOUBLE MPI_MAX, count %d, p %d: rank 0's result is shown as native", count, size);
        OK(MPI_Allreduce(numbers, most, count, MPI_LONG_DOUBLE, MPI_MAX, comm));
        for (int i = 0; i < count; i++) expected[i] = bits[i] = (double)most[i];
        OK(PMPI_Bcast(expected, count, MPI_DOUBLE, 0, comm));
        check_same(bits, expected, sizeof(double) * (size_t)count, sizeof(double));
    }
    OK(MPI_Op_free(&op));
    OK(MPI_Type_free(&mean));
}

static void body(MPI_Comm comm, int rank, int size) {
    sided(comm, rank, size);
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
