/* Arguments that MPI calls not significant hold rubbish: nobody may look at them. */
#include "check.h"

static void *const rubbish = (void *)8;
/* The compiler knows what an array of counts is, and is not to know that this is none. */
static const int *volatile rubbish_array = (int *)8;

static void body(MPI_Comm comm, int rank, int size) {
    int own[3], all[3 * 8], expected[3 * 8];
    for (int root = 0; root < size; root++) {
        for (int i = 0; i < 3 * size; i++) expected[i] = 100 * (i / 3) + i % 3 + root;
        memcpy(own, expected + 3 * rank, sizeof own);
        memset(all, 0, sizeof all);

        CASE("MPI_Gather, root %d, p %d", root, size);
        if (rank == root) OK(MPI_Gather(own, 3, MPI_INT, all, 3, MPI_INT, root, comm));
        else OK(MPI_Gather(own, 3, MPI_INT, rubbish, -7, MPI_DATATYPE_NULL, root, comm));
        if (rank == root) check_same(all, expected, sizeof(int) * 3 * size, sizeof(int));

        CASE("MPI_Gather in place, root %d, p %d", root, size);
        memset(all, 0, sizeof all);
        memcpy(all + 3 * rank, own, sizeof own);
        if (rank == root) OK(MPI_Gather(MPI_IN_PLACE, -7, MPI_DATATYPE_NULL, all, 3, MPI_INT, root, comm));
        else OK(MPI_Gather(own, 3, MPI_INT, rubbish, -7, MPI_DATATYPE_NULL, root, comm));
        if (rank == root) check_same(all, expected, sizeof(int) * 3 * size, sizeof(int));

        CASE("MPI_Scatter, root %d, p %d", root, size);
        memset(own, 0, sizeof own);
        if (rank == root) OK(MPI_Scatter(expected, 3, MPI_INT, own, 3, MPI_INT, root, comm));
        else OK(MPI_Scatter(rubbish, -7, MPI_DATATYPE_NULL, own, 3, MPI_INT, root, comm));
        check_same(own, expected + 3 * rank, sizeof own, sizeof(int));

        CASE("MPI_Scatter in place, root %d, p %d", root, size);
        memset(own, 0, sizeof own);
        if (rank == root) OK(MPI_Scatter(expected, 3, MPI_INT, MPI_IN_PLACE, -7, MPI_DATATYPE_NULL, root, comm));
        else OK(MPI_Scatter(rubbish, -7, MPI_DATATYPE_NULL, own, 3, MPI_INT, root, comm));
        if (rank != root) check_same(own, expected + 3 * rank, sizeof own, sizeof(int));
        memcpy(own, expected + 3 * rank, sizeof own);

        CASE("MPI_Allgather in place, p %d", size);
        memset(all, 0, sizeof all);
        memcpy(all + 3 * rank, own, sizeof own);
        OK(MPI_Allgather(MPI_IN_PLACE, -7, MPI_DATATYPE_NULL, all, 3, MPI_INT, comm));
        check_same(all, expected, sizeof(int) * 3 * size, sizeof(int));

        CASE("MPI_Alltoall in place, p %d", size);
        for (int i = 0; i < 3 * size; i++) all[i] = 100 * rank + i / 3;
        OK(MPI_Alltoall(MPI_IN_PLACE, -7, MPI_DATATYPE_NULL, all, 3, MPI_INT, comm));
        for (int i = 0; i < 3 * size; i++) REQUIRE(all[i] == i / 3 * 100 + rank, "element %d is %d", i, all[i]);

        CASE("MPI_Alltoallv in place, p %d", size);
        int counts[8], places[8];
        for (int i = 0; i < size; i++) {
            counts[i] = (rank + i + root) % 3 + 1;
            places[i] = 3 * i;
            for (int k = 0; k < 3; k++) all[3 * i + k] = 100 * rank + 10 * i + k;
        }
        OK(MPI_Alltoallv(MPI_IN_PLACE, rubbish_array, rubbish_array, MPI_DATATYPE_NULL, all, counts, places, MPI_INT, comm));
        for (int i = 0; i < 3 * size; i++) {
            int of = i % 3 < counts[i / 3] ? 100 * (i / 3) + 10 * rank + i % 3 : 100 * rank + 10 * (i / 3) + i % 3;
            REQUIRE(all[i] == of, "element %d is %d, not %d", i, all[i], of);
        }

        CASE("MPI_Alltoallv with places of empty blocks, p %d", size);
        int nowhere[8], none[8] = {0};
        for (int i = 0; i < size; i++) nowhere[i] = i % 2 ? 2147483647 : -2147483647 - 1;
        OK(MPI_Alltoallv(rubbish, none, nowhere, MPI_INT, all, none, nowhere, MPI_INT, comm));

        CASE("MPI_Reduce, root %d, p %d", root, size);
        int sum = -1;
        OK(MPI_Reduce(&rank, rank == root ? (void *)&sum : rubbish, 1, MPI_INT, MPI_SUM, root, comm));
        if (rank == root) REQUIRE(sum == size * (size - 1) / 2, "ours %d, expected %d", sum, size * (size - 1) / 2);
    }
}

/* Between two groups it is a rank of the other one that is the root: on its side one rank alone has arguments that count, on
 * this one every rank has one buffer. Rubbish that is a datatype's address would be read. */
static void between_groups(void) {
    MPI_Comm group, comm;
    MPI_Datatype rubbish_type;
    memset(&rubbish_type, 8, sizeof rubbish_type);
    const int side = check_rank % 2, members = (check_size + !side) / 2, others = check_size - members;
    OK(MPI_Comm_split(MPI_COMM_WORLD, side, check_rank, &group));
    OK(MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, 1 - side, 0, &comm));
    int rank, own, all[8];
    MPI_Comm_rank(group, &rank);
    for (int call = 0; call < 4; call++) {
        const int root = side ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
        own = 100 * side + 10 * rank + call;
        memset(all, 0, sizeof all);
        CASE("MPI_Gather between groups, call %d", call);
        if (side) OK(MPI_Gather(&own, 1, MPI_INT, rubbish, -7, rubbish_type, root, comm));
        else OK(MPI_Gather(rubbish, -7, rubbish_type, all, 1, MPI_INT, root, comm));
        for (int i = 0; root == MPI_ROOT && i < others; i++)
            REQUIRE(all[i] == 100 + 10 * i + call, "element %d is %d", i, all[i]);
        CASE("MPI_Scatter between groups, call %d", call);
        for (int i = 0; i < others; i++) all[i] = 7 * i + call;
        if (side) OK(MPI_Scatter(rubbish, -7, rubbish_type, &own, 1, MPI_INT, root, comm));
        else OK(MPI_Scatter(all, 1, MPI_INT, rubbish, -7, rubbish_type, root, comm));
        if (side) REQUIRE(own == 7 * rank + call, "ours %d, expected %d", own, 7 * rank + call);
    }
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_free(&group));
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    check_on_parts(body);
    between_groups();
    return check_finish();
}
