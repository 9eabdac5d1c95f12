/* One rank has no context id left for communicators of its own. Which library carries a collective out is still the same on
 * all ranks: no question that a rank answers for itself may need a communicator. */
#include "check.h"

enum { MOST = 70000, WIDE = 3 };
static MPI_Comm taken[MOST];

/* Duplicates MPI_COMM_SELF until there is no more. */
static int take_all(void) {
    int number = 0;
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    while (number < MOST && MPI_Comm_dup(MPI_COMM_SELF, &taken[number]) == MPI_SUCCESS) number++;
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
    return number;
}

static void add(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *count; i++)
        for (int k = 0; k < 2; k++) ((int *)inout)[i * WIDE + 2 * k] += ((int *)in)[i * WIDE + 2 * k];
}

/* Elements with a gap: an int, a hole of one, an int. */
static void with_gaps(MPI_Comm comm, MPI_Datatype type, MPI_Op op) {
    int buffer[4 * WIDE], all[64 * WIDE];
    for (int i = 0; i < 4 * WIDE; i++) buffer[i] = check_rank == 0 ? i : -1;
    OK(MPI_Bcast(buffer, 4, type, 0, comm));
    for (int i = 0; i < 4 * WIDE; i++) {
        int expected = i % WIDE == 1 && check_rank > 0 ? -1 : i;
        REQUIRE(buffer[i] == expected, "bcast: element %d is %d", i, buffer[i]);
    }
    int own[WIDE] = {check_rank, -1, 2 * check_rank};
    OK(MPI_Allgather(own, 1, type, all, 1, type, comm));
    for (int i = 0; i < check_size; i++)
        REQUIRE(all[i * WIDE] == i && all[i * WIDE + 2] == 2 * i, "allgather: %d, %d of rank %d", all[i * WIDE], all[i * WIDE + 2], i);
    int sum[WIDE] = {0};
    OK(MPI_Allreduce(own, sum, 1, type, op, comm));
    int expected = check_size * (check_size - 1) / 2;
    REQUIRE(sum[0] == expected && sum[2] == 2 * expected, "allreduce: %d, %d", sum[0], sum[2]);
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    MPI_Comm late;
    MPI_Datatype vector, type;
    MPI_Op op;
    int one = 1, sum;
    OK(MPI_Type_vector(2, 1, 2, MPI_INT, &vector));
    OK(MPI_Type_create_resized(vector, 0, WIDE * sizeof(int), &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_Op_create(add, 1, &op));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &late));
    OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    int number = check_rank == 1 ? take_all() : 0;
    for (int i = 0; i < 4; i++) {
        CASE("MPI_COMM_WORLD, time %d", i);
        with_gaps(MPI_COMM_WORLD, type, op);
        CASE("a communicator first used then, time %d", i);
        with_gaps(late, type, op);
    }
    while (number > 0) OK(MPI_Comm_free(&taken[--number]));
    CASE("when there are context ids again");
    with_gaps(MPI_COMM_WORLD, type, op);
    OK(MPI_Op_free(&op));
    OK(MPI_Type_free(&vector));
    OK(MPI_Type_free(&type));
    OK(MPI_Comm_free(&late));
    return check_finish();
}
