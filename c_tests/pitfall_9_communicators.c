/* Communicators of every kind: self, dup, reversed, topologies, intercommunicators; the program's attribute callbacks run
 * only for the program; names stay. */
#include "six.h"

static int copies, deletions;

static int copied(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag) {
    (void)comm, (void)key, (void)extra;
    copies++;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int deleted(MPI_Comm comm, int key, void *value, void *extra) {
    (void)comm, (void)key, (void)value, (void)extra;
    deletions++;
    return MPI_SUCCESS;
}

static void kinds(void) {
    MPI_Comm comm, again;
    six("MPI_COMM_WORLD", MPI_COMM_WORLD);
    six("MPI_COMM_SELF", MPI_COMM_SELF);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    six("a duplicate", comm);
    OK(MPI_Comm_dup(comm, &again));
    six("a duplicate of a duplicate", again);
    OK(MPI_Comm_free(&comm));
    six("a duplicate whose origin is gone", again);
    OK(MPI_Comm_free(&again));
    OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &comm));
    six("reversed order", comm);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_split(MPI_COMM_WORLD, check_rank == 0 ? MPI_UNDEFINED : check_rank % 2, 0, &comm));
    if (comm != MPI_COMM_NULL) {
        six("a part that leaves one out", comm);
        OK(MPI_Comm_free(&comm));
    }
    int dims[2] = {0, 0}, periods[2] = {1, 0};
    OK(MPI_Dims_create(check_size, 2, dims));
    OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &comm));
    six("a grid", comm);
    OK(MPI_Cart_sub(comm, (int[]){1, 0}, &again));
    six("a column of a grid", again);
    OK(MPI_Comm_free(&again));
    int rank, coordinates[2], back;
    OK(MPI_Comm_rank(comm, &rank));
    OK(MPI_Cart_coords(comm, rank, 2, coordinates));
    OK(MPI_Cart_rank(comm, coordinates, &back));
    REQUIRE(back == rank, "the grid is no longer one");
    OK(MPI_Comm_free(&comm));
    int index[8], edges[8];
    for (int r = 0; r < check_size; r++) {
        index[r] = r + 1;
        edges[r] = (r + 1) % check_size;
    }
    OK(MPI_Graph_create(MPI_COMM_WORLD, check_size, index, edges, 0, &comm));
    six("a graph", comm);
    OK(MPI_Comm_free(&comm));
    const int left = (check_rank + check_size - 1) % check_size, right = (check_rank + 1) % check_size, weight = 1;
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, &weight, 1, &right, &weight, MPI_INFO_NULL, 0, &comm));
    six("a distributed graph", comm);
    OK(MPI_Comm_free(&comm));
}

static void between_groups(void) {
    if (check_size < 2) return;
    const int low = check_rank < check_size / 2, others = low ? check_size - check_size / 2 : check_size / 2;
    MPI_Comm part, inter;
    OK(MPI_Comm_split(MPI_COMM_WORLD, low, 0, &part));
    OK(MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, low ? check_size / 2 : 0, 12, &inter));
    int local, own = check_rank + 1, sum = 0, expected = 0, all[8] = {0}, message = check_rank == 0 ? 31 : 0;
    OK(MPI_Comm_rank(inter, &local));
    const int root = low ? (local == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0;
    for (int r = 0; r < check_size; r++)
        if ((r < check_size / 2) != low) expected += r + 1;
    CASE("on an intercommunicator");
    OK(MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, inter));
    REQUIRE(sum == expected, "MPI_Allreduce gave %d, not %d", sum, expected);
    OK(MPI_Bcast(&message, 1, MPI_INT, root, inter));
    REQUIRE(low || message == 31, "MPI_Bcast gave %d", message);
    OK(MPI_Allgather(&own, 1, MPI_INT, all, 1, MPI_INT, inter));
    for (int r = 0; r < others; r++)
        REQUIRE(all[r] == r + 1 + (low ? check_size / 2 : 0), "MPI_Allgather gave %d for %d", all[r], r);
    int each[8];
    for (int r = 0; r < others; r++) each[r] = 10 * own + r;
    OK(MPI_Alltoall(each, 1, MPI_INT, all, 1, MPI_INT, inter));
    for (int r = 0; r < others; r++)
        REQUIRE(all[r] == 10 * (r + 1 + (low ? check_size / 2 : 0)) + local, "MPI_Alltoall gave %d for %d", all[r], r);
    /* Arrays that end where the other group does. */
    int *counts = malloc(sizeof(int) * others), *places = malloc(sizeof(int) * others);
    for (int time = 0; time < 4; time++) {
        for (int r = 0; r < others; r++) {
            counts[r] = 1;
            places[r] = others - 1 - r;
            all[r] = -1;
        }
        OK(MPI_Alltoallv(each, counts, places, MPI_INT, all, counts, places, MPI_INT, inter));
        for (int r = 0; r < others; r++) {
            int from = 10 * (r + 1 + (low ? check_size / 2 : 0)) + (low ? check_size / 2 : check_size - check_size / 2) - 1 - local;
            REQUIRE(all[places[r]] == from, "MPI_Alltoallv gave %d for %d, not %d", all[places[r]], r, from);
        }
    }
    free(counts);
    free(places);
    OK(MPI_Reduce(&own, &sum, 1, MPI_INT, MPI_SUM, root, inter));
    OK(MPI_Gather(&own, 1, MPI_INT, all, 1, MPI_INT, root, inter));
    OK(MPI_Scatter(all, 1, MPI_INT, &own, 1, MPI_INT, root, inter));
    MPI_Comm merged;
    OK(MPI_Intercomm_merge(inter, low, &merged));
    six("a merged intercommunicator", merged);
    OK(MPI_Comm_free(&merged));
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&part));
}

static void attributes_and_names(void) {
    MPI_Comm comm, again;
    int key, flag, length;
    char name[MPI_MAX_OBJECT_NAME];
    void *value;
    OK(MPI_Comm_create_keyval(copied, deleted, &key, NULL));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_set_attr(comm, key, &copies));
    OK(MPI_Comm_set_name(comm, "of the program"));
    six("a communicator with an attribute", comm);
    REQUIRE(copies == 0 && deletions == 0, "the program's callbacks ran: %d copies, %d deletions", copies, deletions);
    OK(MPI_Comm_get_attr(comm, key, &value, &flag));
    REQUIRE(flag && value == &copies, "the attribute is gone");
    OK(MPI_Comm_get_name(comm, name, &length));
    REQUIRE(strcmp(name, "of the program") == 0, "the name is '%s'", name);
    OK(MPI_Comm_dup(comm, &again));
    six("its duplicate", again);
    REQUIRE(copies == 1 && deletions == 0, "one dup: %d copies, %d deletions", copies, deletions);
    OK(MPI_Comm_get_name(again, name, &length));
    REQUIRE(strcmp(name, "of the program") != 0, "the duplicate is named '%s'", name);
    OK(MPI_Comm_free(&again));
    REQUIRE(copies == 1 && deletions == 1, "one free: %d copies, %d deletions", copies, deletions);
    OK(MPI_Comm_free(&comm));
    REQUIRE(copies == 1 && deletions == 2, "two frees: %d copies, %d deletions", copies, deletions);
    OK(MPI_Comm_set_attr(MPI_COMM_WORLD, key, &deletions));
    six("MPI_COMM_WORLD with an attribute", MPI_COMM_WORLD);
    OK(MPI_Comm_delete_attr(MPI_COMM_WORLD, key));
    REQUIRE(copies == 1 && deletions == 3, "one deletion: %d copies, %d deletions", copies, deletions);
    OK(MPI_Comm_free_keyval(&key));
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    kinds();
    between_groups();
    attributes_and_names();
    return check_finish();
}
