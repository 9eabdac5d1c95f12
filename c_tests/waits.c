/* Requests of nonblocking and persistent collectives, waited for and tested in every way, among requests of messages; each
 * completed one is in the report once. */
#include "check.h"
/* Open MPI 5 has MPI-4's persistent collectives under their own names, although it says that it is of version 3.1. */
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define MPI_Allreduce_init MPIX_Allreduce_init
#define MPI_Barrier_init MPIX_Barrier_init
#endif

enum { MOST = 4, AGAIN = 5 };

static long waited, inits, waited_inits;
static int sums[MOST], from = 5, to;
static MPI_Request requests[MOST];
/* Of its own, since gcc takes MPICH's MPI_STATUSES_IGNORE for an array of no elements. */
static MPI_Status statuses[MOST];

/* Two allreduces, and between them a message of the rank to itself. */
static void start(void) {
    for (int i = 0; i < MOST; i++) sums[i] = -1;
    OK(MPI_Iallreduce(&check_rank, &sums[0], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Irecv(&to, 1, MPI_INT, check_rank, 7, MPI_COMM_WORLD, &requests[1]));
    OK(MPI_Isend(&from, 1, MPI_INT, check_rank, 7, MPI_COMM_WORLD, &requests[2]));
    OK(MPI_Iallreduce(&check_rank, &sums[3], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[3]));
    waited += 2;
}

static void right(void) {
    const int sum = check_size * (check_size - 1) / 2;
    REQUIRE(sums[0] == sum && sums[3] == sum && to == from, "%d %d %d", sums[0], sums[3], to);
    for (int i = 0; i < MOST; i++) REQUIRE(requests[i] == MPI_REQUEST_NULL, "request %d is still there", i);
}

static void nonblocking(void) {
    int flag, index, number, indices[MOST];
    CASE("wait");
    start();
    for (int i = 0; i < MOST; i++) OK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
    right();
    CASE("waitall");
    start();
    OK(MPI_Waitall(MOST, requests, statuses));
    right();
    CASE("waitany");
    start();
    do OK(MPI_Waitany(MOST, requests, &index, MPI_STATUS_IGNORE));
    while (index != MPI_UNDEFINED);
    right();
    CASE("waitsome");
    start();
    do OK(MPI_Waitsome(MOST, requests, &number, indices, statuses));
    while (number != MPI_UNDEFINED);
    right();
    CASE("test");
    start();
    for (int i = 0; i < MOST; i++)
        do OK(MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE));
        while (!flag);
    right();
    CASE("testall");
    start();
    do OK(MPI_Testall(MOST, requests, &flag, statuses));
    while (!flag);
    right();
    CASE("testany");
    start();
    do OK(MPI_Testany(MOST, requests, &index, &flag, MPI_STATUS_IGNORE));
    while (!flag || index != MPI_UNDEFINED);
    right();
    CASE("testsome");
    start();
    do OK(MPI_Testsome(MOST, requests, &number, indices, statuses));
    while (number != MPI_UNDEFINED);
    right();
}

/* A request may outlive the communicator, but not Open MPI 4.1, which dies of it. */
static void freed(void) {
    MPI_Comm comm;
    MPI_Request request;
    CASE("freed communicator");
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Ibarrier(comm, &request));
#ifdef OPEN_MPI
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
#endif
    OK(MPI_Comm_free(&comm));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void persistent(void) {
/* MPICH 3 has none. */
#if defined(OPEN_MPI) || MPI_VERSION >= 4
    int sum[2];
    MPI_Request again[2];
    CASE("persistent");
    for (int i = 0; i < 2; i++)
        OK(MPI_Allreduce_init(&check_rank, &sum[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &again[i]));
    inits += 2;
    for (int i = 0; i < AGAIN; i++) {
        OK(MPI_Start(&again[0]));
        OK(MPI_Wait(&again[0], MPI_STATUS_IGNORE));
        OK(MPI_Startall(2, again));
        OK(MPI_Waitall(2, again, statuses));
        REQUIRE(sum[0] == sum[1] && sum[0] == check_size * (check_size - 1) / 2, "%d %d", sum[0], sum[1]);
        inits += 3;
        waited_inits += 3;
    }
    /* There is nothing to wait for. */
    OK(MPI_Wait(&again[0], MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&again[0]));
    OK(MPI_Request_free(&again[1]));
#endif
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    nonblocking();
    freed();
    persistent();
    if (check_rank == 0) {
        printf("check: iallreduce calls %ld\n", waited * check_size);
        printf("check: iallreduce (wait) calls %ld\n", waited * check_size);
        printf("check: ibarrier (wait) calls %d\n", check_size);
        printf("check: allreduce_init calls %ld\n", inits * check_size);
        printf("check: allreduce_init (wait) calls %ld\n", waited_inits * check_size);
    }
    return check_finish();
}
