/* Receives and probes of the program that would match anything stay untouched by collectives on the same communicator. */
#include "check.h"

static void collectives(MPI_Comm comm, int rank, int size, int round) {
    int values[8], own = rank + round, sum, message = rank == round % size ? 77 : 0;
    OK(MPI_Bcast(&message, 1, MPI_INT, round % size, comm));
    REQUIRE(message == 77, "MPI_Bcast gave %d", message);
    OK(MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm));
    REQUIRE(sum == size * (size - 1) / 2 + size * round, "MPI_Allreduce gave %d", sum);
    OK(MPI_Allgather(&own, 1, MPI_INT, values, 1, MPI_INT, comm));
    for (int r = 0; r < size; r++) REQUIRE(values[r] == r + round, "MPI_Allgather gave %d", values[r]);
    OK(MPI_Gather(&own, 1, MPI_INT, values, 1, MPI_INT, 0, comm));
    OK(MPI_Scatter(values, 1, MPI_INT, &own, 1, MPI_INT, 0, comm));
    REQUIRE(own == rank + round, "MPI_Scatter gave %d", own);
    OK(MPI_Reduce(&own, &sum, 1, MPI_INT, MPI_SUM, size - 1, comm));
}

static void body(MPI_Comm comm, int rank, int size) {
    for (int round = 0; round < 10; round++) {
        CASE("round %d, p %d", round, size);
        int received = -1, flag = 0, token = 1000 * round + rank;
        MPI_Request posted;
        MPI_Status status;
        OK(MPI_Irecv(&received, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &posted));
        for (int i = 0; i < 5; i++) collectives(comm, rank, size, round);
        OK(MPI_Test(&posted, &flag, MPI_STATUS_IGNORE));
        REQUIRE(!flag, "a posted receive from anyone was matched");
        OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE));
        REQUIRE(!flag, "a probe for anything found a message");
        /* Nobody sends before all have probed; the barrier is the native one. */
        OK(PMPI_Barrier(comm));
        OK(MPI_Send(&token, 1, MPI_INT, (rank + 1) % size, 5 + round, comm));
        OK(MPI_Wait(&posted, &status));
        const int left = (rank + size - 1) % size;
        REQUIRE(received == 1000 * round + left && status.MPI_SOURCE == left && status.MPI_TAG == 5 + round,
                "received %d from %d with tag %d", received, status.MPI_SOURCE, status.MPI_TAG);
        OK(PMPI_Barrier(comm));
    }
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    check_on_parts(body);
    return check_finish();
}
