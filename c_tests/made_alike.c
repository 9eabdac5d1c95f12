/* Types and operations that the program makes for one call and frees after it, in turns two that look alike to whoever keeps
 * calls by what can be asked of them: types of as many bytes, with one extent and one true extent, whose elements lie in other
 * places, and operations that both commute. Some live on meanwhile. What was kept of one must not be used for the other. The last call of a
 * round has buffers that overlap, which ours takes: it reads all of a contribution before it writes anything. */
#include "check.h"

enum { ROUNDS = 24, SPAN = 5, MOST = 8 * SPAN };

static void sum(void *in, void *inout, int *len, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *len; i++) ((int *)inout)[i] += ((int *)in)[i];
}

static void product(void *in, void *inout, int *len, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *len; i++) ((int *)inout)[i] *= ((int *)in)[i];
}

/* Ints 0, 1 and 4, or 0, 3 and 4, or in the other order: of five. The last has no gap, and is another for `bare`. */
static MPI_Datatype made(int kind, int bare) {
    static const int places[3][3] = {{0, 1, 4}, {0, 3, 4}, {4, 1, 0}};
    const int lengths[3] = {1, 1, 1};
    MPI_Datatype type;
    if (bare) {
        const int pairs[2][2] = {{0, 3}, {3, 0}}, three[2] = {3, 3};
        OK(MPI_Type_indexed(2, three, pairs[kind % 2], MPI_INT, &type));
    } else {
        OK(MPI_Type_indexed(3, lengths, places[kind], MPI_INT, &type));
    }
    OK(MPI_Type_commit(&type));
    return type;
}

static int given[MOST * 8], ours[MOST * 8], native[MOST * 8];

static void fill(int rank, int round) {
    for (int i = 0; i < MOST * 8; i++) {
        given[i] = 1 + (rank + 3 * i + 7 * round) % 11;
        ours[i] = native[i] = -1 - i;
    }
}

static void same(void) { check_same(ours, native, sizeof ours, sizeof(int)); }

static void move(MPI_Comm comm, int rank, int size, int round, MPI_Datatype type, const char *how) {
    const int root = round / 6 % size;
    fill(rank, round);
    CASE("MPI_Bcast, %s, round %d, p %d", how, round, size);
    if (rank == root) memcpy(ours, given, sizeof ours), memcpy(native, given, sizeof native);
    OK(MPI_Bcast(ours, 2, type, root, comm));
    OK(PMPI_Bcast(native, 2, type, root, comm));
    same();
    fill(rank, round);
    CASE("MPI_Gather, %s, round %d, p %d", how, round, size);
    OK(MPI_Gather(given, 1, type, ours, 1, type, root, comm));
    OK(PMPI_Gather(given, 1, type, native, 1, type, root, comm));
    same();
    fill(rank, round);
    CASE("MPI_Scatter, %s, round %d, p %d", how, round, size);
    OK(MPI_Scatter(given, 1, type, ours, 1, type, root, comm));
    OK(PMPI_Scatter(given, 1, type, native, 1, type, root, comm));
    same();
    fill(rank, round);
    CASE("MPI_Allgather, %s, round %d, p %d", how, round, size);
    OK(MPI_Allgather(given, 1, type, ours, 1, type, comm));
    OK(PMPI_Allgather(given, 1, type, native, 1, type, comm));
    same();
    fill(rank, round);
    CASE("MPI_Alltoall, %s, round %d, p %d", how, round, size);
    OK(MPI_Alltoall(given, 1, type, ours, 1, type, comm));
    OK(PMPI_Alltoall(given, 1, type, native, 1, type, comm));
    same();
    /* One side of a type of MPI's own. */
    int ints, extent;
    MPI_Aint lower, whole;
    OK(MPI_Type_size(type, &ints));
    OK(MPI_Type_get_extent(type, &lower, &whole));
    ints /= (int)sizeof(int), extent = (int)(whole / (MPI_Aint)sizeof(int));
    fill(rank, round);
    CASE("MPI_Allgather of ints into %s, round %d, p %d", how, round, size);
    OK(MPI_Allgather(given, ints, MPI_INT, ours, 1, type, comm));
    OK(PMPI_Allgather(given, ints, MPI_INT, native, 1, type, comm));
    same();
    fill(rank, round);
    CASE("MPI_Alltoallv of %s into ints, round %d, p %d", how, round, size);
    int ones[8], numbers[8], places[8], steps[8];
    for (int i = 0; i < size; i++) ones[i] = 1, numbers[i] = ints, places[i] = i, steps[i] = i * extent;
    OK(MPI_Alltoallv(given, ones, places, type, ours, numbers, steps, MPI_INT, comm));
    OK(PMPI_Alltoallv(given, ones, places, type, native, numbers, steps, MPI_INT, comm));
    same();
}

static void fold(MPI_Comm comm, int rank, int size, int round, MPI_Op op, const char *how) {
    const int root = round / 6 % size;
    fill(rank, round);
    CASE("MPI_Allreduce, %s, round %d, p %d", how, round, size);
    OK(MPI_Allreduce(given, ours, 5, MPI_INT, op, comm));
    OK(PMPI_Allreduce(given, native, 5, MPI_INT, op, comm));
    same();
    fill(rank, round);
    CASE("MPI_Reduce, %s, round %d, p %d", how, round, size);
    OK(MPI_Reduce(given, ours, 5, MPI_INT, op, root, comm));
    OK(PMPI_Reduce(given, native, 5, MPI_INT, op, root, comm));
    same();
}

/* A contribution that is its place in the result, of a type that is that place's, and then of one that reaches past it. */
static void aliased(MPI_Comm comm, int rank, int size, int round) {
    MPI_Datatype type;
    if (round % 2) OK(MPI_Type_vector(2, 2, 3, MPI_INT, &type));
    else OK(MPI_Type_contiguous(4, MPI_INT, &type));
    OK(MPI_Type_commit(&type));
    fill(rank, round);
    memcpy(ours, given, sizeof ours);
    CASE("MPI_Allgather from its place in the result, round %d, p %d", round, size);
    OK(MPI_Allgather(ours + 4 * rank, 1, type, ours, 4, MPI_INT, comm));
    OK(PMPI_Allgather(given + 4 * rank, 1, type, native, 4, MPI_INT, comm));
    check_same(ours, native, sizeof(int) * 4 * size, sizeof(int));
    OK(MPI_Type_free(&type));
}

static void body(MPI_Comm comm, int rank, int size) {
    /* Those that live on have handles of their own. */
    const MPI_Datatype kept[2] = {made(0, 0), made(1, 0)};
    MPI_Op operations[2];
    OK(MPI_Op_create(sum, 1, &operations[0]));
    OK(MPI_Op_create(product, 1, &operations[1]));
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Datatype gaps = made(round % 3, 0), bare = made(round, 1);
        MPI_Op op;
        OK(MPI_Op_create(round % 2 ? product : sum, 1, &op));
        move(comm, rank, size, round, gaps, "a type made anew");
        move(comm, rank, size, round, bare, "a type without gaps made anew");
        move(comm, rank, size, round, kept[round % 2], "a type that lives on");
        fold(comm, rank, size, round, op, round % 2 ? "a product made anew" : "a sum made anew");
        fold(comm, rank, size, round, operations[round % 2], round % 2 ? "a product that lives on" : "a sum that lives on");
        OK(MPI_Type_free(&gaps));
        OK(MPI_Type_free(&bare));
        OK(MPI_Op_free(&op));
        if (size > 1) aliased(comm, rank, size, round);
    }
    for (int i = 0; i < 2; i++) {
        MPI_Datatype type = kept[i];
        OK(MPI_Type_free(&type));
        OK(MPI_Op_free(&operations[i]));
    }
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    check_on_parts(body);
    return check_finish();
}
