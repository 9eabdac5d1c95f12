/* A communicator of each way of making one, named after the function, with one call that is only observed and, where it
 * has one group, one that may be replaced. Four ranks. */
#include "check.h"

static long scans_made;

static void use(MPI_Comm comm, const char *name) {
    int inter, one = 1, sum = 0;
    if (comm == MPI_COMM_NULL) return;
    OK(MPI_Comm_set_name(comm, name));
    OK(MPI_Comm_test_inter(comm, &inter));
    CASE("%s", name);
    if (inter) {
        OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
        REQUIRE(sum == 2, "MPI_Allreduce gave %d", sum);
    } else {
        int rank;
        scans_made++;
        MPI_Comm_rank(comm, &rank);
        OK(MPI_Scan(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
        REQUIRE(sum == rank + 1, "MPI_Scan gave %d", sum);
    }
}

static void drop(MPI_Comm *comm) {
    if (*comm != MPI_COMM_NULL) OK(MPI_Comm_free(comm));
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    const int four = 4, two[] = {2, 2}, around[] = {1, 1}, keep[] = {1, 0}, index[] = {1, 2, 3, 4}, edges[] = {1, 0, 3, 2};
    const int next = (check_rank + 1) % 4, before = (check_rank + 3) % 4, side = check_rank / 2;
    const int sources[] = {check_rank}, weight = 1;
    MPI_Comm a, b, c;
    MPI_Group world, odd;
    MPI_Request request;

    OK(MPI_Comm_dup(MPI_COMM_WORLD, &a));
    use(a, "MPI_Comm_dup");
    OK(MPI_Comm_dup_with_info(a, MPI_INFO_NULL, &b));
    use(b, "MPI_Comm_dup_with_info");
    OK(MPI_Comm_idup(b, &c, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    use(c, "MPI_Comm_idup");
    drop(&c);
    drop(&b);
    drop(&a);

    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &a));
    use(a, "MPI_Comm_split_type");
    OK(MPI_Comm_split(a, side, -check_rank, &b));
    use(b, side ? "MPI_Comm_split of the second" : "MPI_Comm_split");
    OK(MPI_Intercomm_create(b, 0, MPI_COMM_WORLD, side ? 1 : 3, 9, &c));
    use(c, "MPI_Intercomm_create");
    drop(&a);
    OK(MPI_Intercomm_merge(c, side, &a));
    use(a, "MPI_Intercomm_merge");
    drop(&b);
    drop(&a);
    OK(MPI_Comm_dup(c, &b));
    use(b, "MPI_Comm_dup of both groups");
    OK(MPI_Intercomm_merge(b, side, &a));
    use(a, "MPI_Intercomm_merge of the duplicate");
    drop(&c);
    drop(&b);
    drop(&a);

    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_incl(world, 2, (int[]){1, 3}, &odd));
    OK(MPI_Comm_create(MPI_COMM_WORLD, odd, &a));
    use(a, "MPI_Comm_create");
    drop(&a);
    for (int time = 0; check_rank % 2 && time < 2; time++) {
        OK(MPI_Comm_create_group(MPI_COMM_WORLD, odd, 5, &a));
        use(a, time ? "MPI_Comm_create_group again" : "MPI_Comm_create_group");
        drop(&a);
    }
    OK(MPI_Group_free(&odd));
    OK(MPI_Group_free(&world));

    OK(MPI_Cart_create(MPI_COMM_WORLD, 2, two, around, 0, &a));
    use(a, "MPI_Cart_create");
    OK(MPI_Cart_sub(a, keep, &b));
    use(b, check_rank % 2 ? "MPI_Cart_sub of the second" : "MPI_Cart_sub");
    drop(&b);
    drop(&a);
    OK(MPI_Graph_create(MPI_COMM_WORLD, four, index, edges, 0, &a));
    use(a, "MPI_Graph_create");
    drop(&a);
    OK(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, sources, (int[]){1}, &next, &weight, MPI_INFO_NULL, 0, &a));
    use(a, "MPI_Dist_graph_create");
    drop(&a);
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, &weight, 1, &next, &weight, MPI_INFO_NULL,
                                      0, &a));
    use(a, "MPI_Dist_graph_create_adjacent");
    drop(&a);

    long scans = 0;
    PMPI_Reduce(&scans_made, &scans, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (check_rank == 0) printf("check: scan calls %ld\n", scans);
    return check_finish();
}
