/* Collectives whose blocks are of several sizes: what each rank contributes is the sum of its counts times the sizes of their
 * types. On three ranks. */
#include "check.h"

enum { MOST = 64 };

static double from[MOST], to[MOST];

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    const MPI_Comm comm = MPI_COMM_WORLD;
    const int rank = check_rank;
    int send[3], receive[3], alike[3], twos[3], places[3], far[3], own[] = {1, 2, 3}, starts[] = {0, 1, 3};
    MPI_Datatype types[3];
    MPI_Request request;
    REQUIRE(check_size == 3, "three ranks, not %d", check_size);
    for (int i = 0; i < 3; i++) {
        send[i] = rank + 2 * i;
        receive[i] = i + 2 * rank;
        alike[i] = rank + i + 1;
        twos[i] = 2;
        places[i] = 8 * i;
        far[i] = 64 * i;
        types[i] = (rank + i) % 2 ? MPI_DOUBLE : MPI_INT;
    }
    /* 3 rank + 6 integers of each rank. */
    OK(MPI_Alltoallv(from, send, places, MPI_INT, to, receive, places, MPI_INT, comm));
    OK(MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, to, alike, places, MPI_INT, comm));
    OK(MPI_Ialltoallv(from, send, places, MPI_INT, to, receive, places, MPI_INT, comm, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    /* 32, 40 and 32 bytes. */
    OK(MPI_Alltoallw(from, twos, far, types, to, twos, far, types, comm));
    OK(MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, to, twos, far, types, comm));
    /* Six integers of each rank. */
    OK(MPI_Reduce_scatter(from, to, own, MPI_INT, MPI_MAX, comm));
    /* One, two and three integers. */
    OK(MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, to, own, starts, MPI_INT, comm));
    /* The same, that of the root in place. */
    if (rank == 1)
        OK(MPI_Gatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, to, own, starts, MPI_INT, 1, comm));
    else
        OK(MPI_Gatherv(from, own[rank], MPI_INT, NULL, NULL, NULL, MPI_DATATYPE_NULL, 1, comm));

    /* One integer to the left, two to the right: in a ring, and along a line, at whose ends the block for nobody counts for
     * nothing. */
    const int around = 1, open = 0, size = 3, sent[] = {1, 2}, received[] = {2, 1}, two_places[] = {0, 8};
    MPI_Comm ring, line, star;
    OK(MPI_Cart_create(comm, 1, &size, &around, 0, &ring));
    OK(MPI_Neighbor_alltoallv(from, sent, two_places, MPI_INT, to, received, two_places, MPI_INT, ring));
    OK(MPI_Comm_free(&ring));
    OK(MPI_Cart_create(comm, 1, &size, &open, 0, &line));
    OK(MPI_Neighbor_alltoallv(from, sent, two_places, MPI_INT, to, received, two_places, MPI_INT, line));
    OK(MPI_Comm_free(&line));
    /* From rank 0 to the others: two blocks of one double and of one integer. */
    const int others[] = {1, 2}, middle = 0, ones[] = {1, 1};
    const MPI_Aint far_places[] = {0, 64};
    const MPI_Datatype out[] = {MPI_DOUBLE, MPI_INT}, in[] = {rank == 1 ? MPI_DOUBLE : MPI_INT};
    OK(MPI_Dist_graph_create_adjacent(comm, rank != 0, &middle, ones, rank == 0 ? 2 : 0, others, ones, MPI_INFO_NULL, 0,
                                      &star));
    OK(MPI_Neighbor_alltoallw(from, ones, far_places, out, to, ones, far_places, in, star));
    OK(MPI_Comm_free(&star));
    return check_finish();
}
