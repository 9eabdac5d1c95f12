/* MPI_BOTTOM with types of absolute addresses. */
#include "check.h"
#include <stddef.h>

static MPI_Datatype absolute(int *first, int *second) {
    MPI_Aint at[2];
    MPI_Datatype type;
    OK(MPI_Get_address(first, &at[0]));
    OK(MPI_Get_address(second, &at[1]));
    OK(MPI_Type_create_hindexed(2, (int[]){1, 1}, at, MPI_INT, &type));
    OK(MPI_Type_commit(&type));
    return type;
}

/* Blocks of two ints each, addressed as a whole: one element per rank, 8 bytes apart. */
static MPI_Datatype absolute_blocks(int *blocks) {
    MPI_Aint at;
    MPI_Datatype pair, type;
    OK(MPI_Get_address(blocks, &at));
    OK(MPI_Type_create_hindexed(1, (int[]){2}, &at, MPI_INT, &pair));
    OK(MPI_Type_create_resized(pair, 0, 2 * sizeof(int), &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_Type_free(&pair));
    return type;
}

static void body(MPI_Comm comm, int rank, int size) {
    int a, gap, b, blocks[16];
    MPI_Datatype pair = absolute(&b, &a), many = absolute_blocks(blocks);
    for (int root = 0; root < size; root++) {
        gap = 99;
        a = rank == root ? 5 + root : 0;
        b = rank == root ? 6 + root : 0;
        CASE("MPI_Bcast, root %d, p %d", root, size);
        OK(MPI_Bcast(MPI_BOTTOM, 1, pair, root, comm));
        REQUIRE(a == 5 + root && b == 6 + root && gap == 99, "%d %d %d", a, b, gap);

        a = 10 * rank;
        b = 10 * rank + 1;
        memset(blocks, 0, sizeof blocks);
        CASE("MPI_Gather, root %d, p %d", root, size);
        OK(MPI_Gather(MPI_BOTTOM, 1, pair, MPI_BOTTOM, 1, many, root, comm));
        for (int r = 0; rank == root && r < size; r++)
            REQUIRE(blocks[2 * r] == 10 * r + 1 && blocks[2 * r + 1] == 10 * r, "block %d: %d %d", r, blocks[2 * r],
                    blocks[2 * r + 1]);

        for (int i = 0; i < 2 * size; i++) blocks[i] = rank == root ? 3 * i + root : -1;
        CASE("MPI_Scatter, root %d, p %d", root, size);
        OK(MPI_Scatter(MPI_BOTTOM, 1, many, MPI_BOTTOM, 1, pair, root, comm));
        REQUIRE(b == 3 * 2 * rank + root && a == 3 * (2 * rank + 1) + root, "%d %d", a, b);
    }
    a = rank;
    b = -rank;
    CASE("MPI_Allgather, p %d", size);
    memset(blocks, 0, sizeof blocks);
    OK(MPI_Allgather(MPI_BOTTOM, 1, pair, MPI_BOTTOM, 1, many, comm));
    for (int r = 0; r < size; r++)
        REQUIRE(blocks[2 * r] == -r && blocks[2 * r + 1] == r, "block %d: %d %d", r, blocks[2 * r], blocks[2 * r + 1]);
    CASE("MPI_Allgather from MPI_BOTTOM into memory, p %d", size);
    memset(blocks, 0, sizeof blocks);
    OK(MPI_Allgather(MPI_BOTTOM, 1, pair, blocks, 2, MPI_INT, comm));
    for (int r = 0; r < size; r++)
        REQUIRE(blocks[2 * r] == -r && blocks[2 * r + 1] == r, "block %d: %d %d", r, blocks[2 * r], blocks[2 * r + 1]);
    OK(MPI_Type_free(&pair));
    OK(MPI_Type_free(&many));
}

static MPI_Aint offset_of_b;

/* Adds the two ints of the absolute type, wherever the library keeps the elements. */
static void add(void *in, void *inout, int *len, MPI_Datatype *type) {
    MPI_Aint lower, extent, true_lower, true_extent;
    PMPI_Type_get_extent(*type, &lower, &extent);
    PMPI_Type_get_true_extent(*type, &true_lower, &true_extent);
    for (int i = 0; i < *len; i++) {
        char *x = (char *)in + true_lower + i * extent, *y = (char *)inout + true_lower + i * extent;
        *(int *)y += *(int *)x;
        *(int *)(y + offset_of_b) += *(int *)(x + offset_of_b);
    }
}

static void reductions(MPI_Comm comm, int rank, int size) {
    /* The two lie at one distance on every rank, so that the type maps agree up to a shift. */
    int memory[3] = {rank, 99, 2 * rank};
    MPI_Datatype in = absolute(&memory[0], &memory[2]);
    MPI_Op op;
    offset_of_b = 2 * sizeof(int);
    OK(MPI_Op_create(add, 1, &op));
    const int sum = size * (size - 1) / 2;
    CASE("MPI_Allreduce in place at MPI_BOTTOM, p %d", size);
    OK(MPI_Allreduce(MPI_IN_PLACE, MPI_BOTTOM, 1, in, op, comm));
    REQUIRE(memory[0] == sum && memory[1] == 99 && memory[2] == 2 * sum, "%d %d %d", memory[0], memory[1], memory[2]);
    OK(MPI_Op_free(&op));
    OK(MPI_Type_free(&in));
}

static int static_part;

/* Elements on the stack, on the heap and among the static data: most of what lies between them is nobody's memory.
 * Open MPI 4.1 itself cannot gather such elements. */
static void spread(MPI_Comm comm, int rank, int size) {
    int stack_part, values[24];
    int *heap_part = malloc(sizeof *heap_part), *parts[3] = {&stack_part, heap_part, &static_part};
    MPI_Aint at[3];
    MPI_Datatype type;
    for (int i = 0; i < 3; i++) OK(MPI_Get_address(parts[i], &at[i]));
    OK(MPI_Type_create_hindexed(3, (int[]){1, 1, 1}, at, MPI_INT, &type));
    OK(MPI_Type_commit(&type));
    for (int root = 0; root < size; root++) {
        for (int i = 0; i < 3; i++) *parts[i] = rank == root ? 10 * root + i : -1;
        CASE("MPI_Bcast of spread elements, root %d, p %d", root, size);
        OK(MPI_Bcast(MPI_BOTTOM, 1, type, root, comm));
        for (int i = 0; i < 3; i++) REQUIRE(*parts[i] == 10 * root + i, "element %d: %d", i, *parts[i]);

        for (int i = 0; i < 3 * size; i++) values[i] = rank == root ? 7 * i + root : -1;
        CASE("MPI_Scatter to spread elements, root %d, p %d", root, size);
        OK(MPI_Scatter(values, 3, MPI_INT, MPI_BOTTOM, 1, type, root, comm));
        for (int i = 0; i < 3; i++)
            REQUIRE(*parts[i] == 7 * (3 * rank + i) + root, "element %d: %d", i, *parts[i]);
    }
    OK(MPI_Type_free(&type));
    free(heap_part);
}

/* Elements of 12 bytes in 16 and of two kinds, so many that MPI libraries cut them into pieces: no piece of a power of
 * two bytes holds whole ones. */
enum { MIXED = 3000 };
struct mixed { double value; int number; };
static struct mixed own[MIXED], all[8 * MIXED];

static MPI_Datatype absolute_mixed(const void *at) {
    MPI_Aint address;
    MPI_Datatype parts, element, type;
    OK(MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, offsetof(struct mixed, number)},
                              (MPI_Datatype[]){MPI_DOUBLE, MPI_INT}, &parts));
    OK(MPI_Type_create_resized(parts, 0, sizeof(struct mixed), &element));
    OK(MPI_Get_address(at, &address));
    OK(MPI_Type_create_hindexed(1, (int[]){MIXED}, &address, element, &type));
    OK(MPI_Type_free(&element));
    OK(MPI_Type_create_resized(type, 0, MIXED * sizeof(struct mixed), &element));
    OK(MPI_Type_commit(&element));
    OK(MPI_Type_free(&type));
    OK(MPI_Type_free(&parts));
    return element;
}

static void fill(struct mixed *elements, int count, int rank) {
    for (int i = 0; i < count; i++) elements[i] = (struct mixed){rank + i / 8.0, rank - i};
}

static void check_mixed(const struct mixed *elements, int rank) {
    for (int i = 0; i < MIXED; i++)
        REQUIRE(elements[i].value == rank + i / 8.0 && elements[i].number == rank - i, "element %d of rank %d: %g, %d",
                i, rank, elements[i].value, elements[i].number);
}

static void pieces(MPI_Comm comm, int rank, int size) {
    MPI_Datatype one = absolute_mixed(own), many = absolute_mixed(all);
    for (int root = 0; root < size; root++) {
        memset(own, 0, sizeof own);
        if (rank == root) fill(own, MIXED, root);
        CASE("MPI_Bcast of mixed elements, root %d, p %d", root, size);
        OK(MPI_Bcast(MPI_BOTTOM, 1, one, root, comm));
        check_mixed(own, root);

        memset(all, 0, sizeof all);
        fill(own, MIXED, rank);
        CASE("MPI_Gather of mixed elements, root %d, p %d", root, size);
        OK(MPI_Gather(MPI_BOTTOM, 1, one, MPI_BOTTOM, 1, many, root, comm));
        for (int r = 0; rank == root && r < size; r++) check_mixed(all + r * MIXED, r);

        memset(own, 0, sizeof own);
        CASE("MPI_Scatter of mixed elements, root %d, p %d", root, size);
        OK(MPI_Scatter(MPI_BOTTOM, 1, many, MPI_BOTTOM, 1, one, root, comm));
        check_mixed(own, rank);
    }
    memset(all, 0, sizeof all);
    CASE("MPI_Allgather of mixed elements, p %d", size);
    OK(MPI_Allgather(MPI_BOTTOM, 1, one, MPI_BOTTOM, 1, many, comm));
    for (int r = 0; r < size; r++) check_mixed(all + r * MIXED, r);
    OK(MPI_Type_free(&one));
    OK(MPI_Type_free(&many));
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    /* MPICH 4.0 itself cannot gather so many of them (message truncated): not where native calls are made too. */
    if (argc < 2) check_on_parts(pieces);
    check_on_parts(body);
    check_on_parts(spread);
    check_on_parts(reductions);
    return check_finish();
}
