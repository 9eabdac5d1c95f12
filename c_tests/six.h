/* All six operations on a communicator, against what they must give. */
#ifndef SIX_H
#define SIX_H

#include "check.h"

UNUSED static void six(const char *what, MPI_Comm comm) {
    int rank, size, sum, all[8], own, root;
    OK(MPI_Comm_rank(comm, &rank));
    OK(MPI_Comm_size(comm, &size));
    CASE("on %s, p %d", what, size);
    root = size - 1;
    own = rank == root ? 4711 : 0;
    OK(MPI_Bcast(&own, 1, MPI_INT, root, comm));
    REQUIRE(own == 4711, "MPI_Bcast gave %d", own);
    own = rank + 1;
    OK(MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm));
    REQUIRE(sum == size * (size + 1) / 2, "MPI_Allreduce gave %d", sum);
    sum = 0;
    OK(MPI_Reduce(&own, &sum, 1, MPI_INT, MPI_SUM, root, comm));
    REQUIRE(sum == (rank == root ? size * (size + 1) / 2 : 0), "MPI_Reduce gave %d", sum);
    OK(MPI_Allgather(&own, 1, MPI_INT, all, 1, MPI_INT, comm));
    for (int r = 0; r < size; r++) REQUIRE(all[r] == r + 1, "MPI_Allgather gave %d for rank %d", all[r], r);
    OK(MPI_Gather(&own, 1, MPI_INT, all, 1, MPI_INT, root, comm));
    for (int r = 0; rank == root && r < size; r++) REQUIRE(all[r] == r + 1, "MPI_Gather gave %d for rank %d", all[r], r);
    for (int r = 0; r < size; r++) all[r] = rank == root ? 10 * r : -1;
    OK(MPI_Scatter(all, 1, MPI_INT, &own, 1, MPI_INT, root, comm));
    REQUIRE(own == 10 * rank, "MPI_Scatter gave %d", own);
}

#endif
