/* Operations of the program's own that may combine in any order, and round: on pairs of doubles, on structures of a double and an
 * int, on doubles passed as bytes, and exactly, on pairs of ints. Results are near the native ones, each in its own way. */
#include "check.h"
#include <math.h>

enum { ELEMENTS = 600 };

typedef struct {
    double value;
    int number;
} Both;

static void add_pairs(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < 2 * *count; i++) ((double *)inout)[i] += ((double *)in)[i];
}

static void add_structures(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *count; i++) {
        ((Both *)inout)[i].value += ((Both *)in)[i].value;
        ((Both *)inout)[i].number += ((Both *)in)[i].number;
    }
}

static void add_bytes(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *count; i++) ((double *)inout)[i] += ((double *)in)[i];
}

static void add_ints(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < 2 * *count; i++) ((int *)inout)[i] += ((int *)in)[i];
}

static double chance(void) { return rand() / (double)RAND_MAX; }

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    srand(check_rank + 1);
    static double pairs[2 * ELEMENTS], sums[2 * ELEMENTS], native_sums[2 * ELEMENTS];
    static Both both[ELEMENTS], of_both[ELEMENTS], native_of_both[ELEMENTS];
    static int ints[2 * ELEMENTS], of_ints[2 * ELEMENTS], native_of_ints[2 * ELEMENTS];
    for (int i = 0; i < 2 * ELEMENTS; i++) pairs[i] = chance(), ints[i] = rand() % 1000;
    for (int i = 0; i < ELEMENTS; i++) both[i] = (Both){chance(), i};
    MPI_Datatype pair, structure, resized, bytes, two;
    OK(MPI_Type_contiguous(2, MPI_DOUBLE, &pair));
    const int lengths[2] = {1, 1};
    const MPI_Aint places[2] = {0, sizeof(double)};
    const MPI_Datatype parts[2] = {MPI_DOUBLE, MPI_INT};
    OK(MPI_Type_create_struct(2, lengths, places, parts, &structure));
    OK(MPI_Type_create_resized(structure, 0, sizeof(Both), &resized));
    OK(MPI_Type_contiguous(sizeof(double), MPI_BYTE, &bytes));
    OK(MPI_Type_contiguous(2, MPI_INT, &two));
    MPI_Datatype *types[] = {&pair, &resized, &bytes, &two};
    for (int i = 0; i < 4; i++) OK(MPI_Type_commit(types[i]));
    MPI_User_function *functions[] = {add_pairs, add_structures, add_bytes, add_ints};
    MPI_Op ops[4];
    for (int i = 0; i < 4; i++) OK(MPI_Op_create(functions[i], 1, &ops[i]));

    CASE("pairs of doubles");
    OK(MPI_Allreduce(pairs, sums, ELEMENTS, pair, ops[0], MPI_COMM_WORLD));
    OK(PMPI_Allreduce(pairs, native_sums, ELEMENTS, pair, ops[0], MPI_COMM_WORLD));
    for (int i = 0; i < 2 * ELEMENTS; i++) REQUIRE(fabs(sums[i] - native_sums[i]) < 1e-12, "%g and %g", sums[i], native_sums[i]);
    CASE("structures");
    OK(MPI_Allreduce(both, of_both, ELEMENTS, resized, ops[1], MPI_COMM_WORLD));
    OK(PMPI_Allreduce(both, native_of_both, ELEMENTS, resized, ops[1], MPI_COMM_WORLD));
    for (int i = 0; i < ELEMENTS; i++)
        REQUIRE(of_both[i].number == native_of_both[i].number && fabs(of_both[i].value - native_of_both[i].value) < 1e-12,
                "%g and %g", of_both[i].value, native_of_both[i].value);
    CASE("bytes");
    OK(MPI_Allreduce(pairs, sums, ELEMENTS, bytes, ops[2], MPI_COMM_WORLD));
    OK(PMPI_Allreduce(pairs, native_sums, ELEMENTS, bytes, ops[2], MPI_COMM_WORLD));
    for (int i = 0; i < ELEMENTS; i++) REQUIRE(fabs(sums[i] - native_sums[i]) < 1e-12, "%g and %g", sums[i], native_sums[i]);
    CASE("pairs of ints");
    OK(MPI_Allreduce(ints, of_ints, ELEMENTS, two, ops[3], MPI_COMM_WORLD));
    OK(PMPI_Allreduce(ints, native_of_ints, ELEMENTS, two, ops[3], MPI_COMM_WORLD));
    check_same(of_ints, native_of_ints, sizeof of_ints, sizeof(int));

    for (int i = 0; i < 4; i++) {
        OK(MPI_Type_free(types[i]));
        OK(MPI_Op_free(&ops[i]));
    }
    OK(MPI_Type_free(&structure));
    return check_finish();
}
