/* The collectives that are passed on to the native library, blocking, nonblocking and with large counts: results are
 * right, and each call is in the report once. */
#include "check.h"

/* Counted here, under the name that is tested. */
#undef MPI_Alltoall
#undef MPI_Alltoall_c
#undef MPI_Alltoallv
#undef MPI_Alltoallv_c

enum { NAMES = 64, MOST = 16 };

static struct {
    const char *name;
    long calls;
} made[NAMES];

static void count(const char *name) {
    int i = 0;
    while (made[i].name && strcmp(made[i].name, name)) i++;
    made[i].name = name;
    made[i].calls++;
}

static int send[MOST], receive[MOST];

static void fresh(void) {
    for (int i = 0; i < MOST; i++) {
        send[i] = check_rank * 100 + i;
        receive[i] = -1;
    }
}

#define EXPAND(...) __VA_ARGS__

#define HOLDS(text, number, condition) \
    for (int i = 0; i < (number); i++) \
    REQUIRE(condition, text ": element %d: sent %d, received %d", i, send[i], receive[i])

#define ONCE(text, wait, call, number, condition) \
    do { \
        fresh(); \
        CASE(text); \
        count(text); \
        OK(call); \
        if (wait) OK(MPI_Wait(&request, MPI_STATUS_IGNORE)); \
        HOLDS(text, number, condition); \
    } while (0)

#if MPI_VERSION >= 4
#define LARGE(...) __VA_ARGS__
#else
#define LARGE(...)
#endif

/* MPI_Iname, and with large counts; after each, `condition` holds for the first `number` elements i. */
#define START(lower, comm, arguments, large, number, condition) \
    ONCE("i" #lower, 1, MPI_I##lower(EXPAND arguments, comm, &request), number, condition); \
    LARGE(ONCE("i" #lower, 1, MPI_I##lower##_c(EXPAND large, comm, &request), number, condition);)

/* MPI_Name as well. */
#define EVERY(name, lower, comm, arguments, large, number, condition) \
    ONCE(#lower, 0, MPI_##name(EXPAND arguments, comm), number, condition); \
    LARGE(ONCE(#lower, 0, MPI_##name##_c(EXPAND large, comm), number, condition);) \
    START(lower, comm, arguments, large, number, condition)

static int ones[MOST], places[MOST], byte_places[MOST];
static MPI_Aint far_places[MOST], far_byte_places[MOST];
LARGE(static MPI_Count many[MOST];)
static MPI_Datatype types[MOST];

static void replaced_ones(int rank, int size) {
    const MPI_Comm comm = MPI_COMM_WORLD;
    const int ranks = size * (size - 1) / 2 * 100, at_root = rank == 0;
    MPI_Request request;
#define BCAST_ARGUMENTS (send, 3, MPI_INT, 0)
    START(bcast, comm, BCAST_ARGUMENTS, BCAST_ARGUMENTS, 3, send[i] == i)
#define REDUCE_ARGUMENTS (send, receive, 2, MPI_INT, MPI_SUM, 0)
    START(reduce, comm, REDUCE_ARGUMENTS, REDUCE_ARGUMENTS, 2 * at_root, receive[i] == ranks + size * i)
#define ALLREDUCE_ARGUMENTS (send, receive, 2, MPI_INT, MPI_SUM)
    START(allreduce, comm, ALLREDUCE_ARGUMENTS, ALLREDUCE_ARGUMENTS, 2, receive[i] == ranks + size * i)
#define GATHER_ARGUMENTS (send, 1, MPI_INT, receive, 1, MPI_INT, 0)
    START(gather, comm, GATHER_ARGUMENTS, GATHER_ARGUMENTS, size * at_root, receive[i] == i * 100)
#define SCATTER_ARGUMENTS (send, 1, MPI_INT, receive, 1, MPI_INT, 0)
    START(scatter, comm, SCATTER_ARGUMENTS, SCATTER_ARGUMENTS, 1, receive[i] == rank)
#define ALLGATHER_ARGUMENTS (send, 1, MPI_INT, receive, 1, MPI_INT)
    START(allgather, comm, ALLGATHER_ARGUMENTS, ALLGATHER_ARGUMENTS, size, receive[i] == i * 100)
    ONCE("ibarrier", 1, MPI_Ibarrier(comm, &request), 1, receive[i] == -1);
}

static void others(int rank, int size) {
    const MPI_Comm comm = MPI_COMM_WORLD;
    const int ranks = size * (size - 1) / 2 * 100, at_root = rank == 0;
    MPI_Request request;
    EVERY(Gatherv, gatherv, comm, (send, 1, MPI_INT, receive, ones, places, MPI_INT, 0),
          (send, 1, MPI_INT, receive, many, far_places, MPI_INT, 0), size * at_root, receive[i] == i * 100)
    EVERY(Scatterv, scatterv, comm, (send, ones, places, MPI_INT, receive, 1, MPI_INT, 0),
          (send, many, far_places, MPI_INT, receive, 1, MPI_INT, 0), 1, receive[i] == rank)
    EVERY(Allgatherv, allgatherv, comm, (send, 1, MPI_INT, receive, ones, places, MPI_INT),
          (send, 1, MPI_INT, receive, many, far_places, MPI_INT), size, receive[i] == i * 100)
#define ALLTOALL (send, 1, MPI_INT, receive, 1, MPI_INT)
    EVERY(Alltoall, alltoall, comm, ALLTOALL, ALLTOALL, size, receive[i] == i * 100 + rank)
#define IN_PLACE (MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, send, 1, MPI_INT)
    EVERY(Alltoall, alltoall, comm, IN_PLACE, IN_PLACE, size, send[i] == i * 100 + rank)
    EVERY(Alltoallv, alltoallv, comm, (send, ones, places, MPI_INT, receive, ones, places, MPI_INT),
          (send, many, far_places, MPI_INT, receive, many, far_places, MPI_INT), size, receive[i] == i * 100 + rank)
    EVERY(Alltoallw, alltoallw, comm, (send, ones, byte_places, types, receive, ones, byte_places, types),
          (send, many, far_byte_places, types, receive, many, far_byte_places, types), size,
          receive[i] == i * 100 + rank)
    EVERY(Reduce_scatter, reduce_scatter, comm, (send, receive, ones, MPI_INT, MPI_SUM),
          (send, receive, many, MPI_INT, MPI_SUM), 1, receive[i] == ranks + size * rank)
#define BLOCK (send, receive, 1, MPI_INT, MPI_SUM)
    EVERY(Reduce_scatter_block, reduce_scatter_block, comm, BLOCK, BLOCK, 1, receive[i] == ranks + size * rank)
#define SCAN (send, receive, 2, MPI_INT, MPI_SUM)
    EVERY(Scan, scan, comm, SCAN, SCAN, 2, receive[i] == rank * (rank + 1) / 2 * 100 + (rank + 1) * i)
    EVERY(Exscan, exscan, comm, SCAN, SCAN, rank > 0 ? 2 : 0, receive[i] == rank * (rank - 1) / 2 * 100 + rank * i)
}

/* A ring; on one and two ranks left and right are one, and which element comes from where is not told apart. */
static void neighbours(int rank, int size) {
    const int around = 1;
    const int from[] = {(rank + size - 1) % size * 100, (rank + 1) % size * 100};
    const int same[2] = {0, 0};
    const MPI_Aint far_same[2] = {0, 0};
    MPI_Comm ring;
    MPI_Request request;
    OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &around, 0, &ring));
    OK(MPI_Comm_set_name(ring, "ring"));
#define NEIGHBOURS (send, 1, MPI_INT, receive, 1, MPI_INT)
    EVERY(Neighbor_allgather, neighbor_allgather, ring, NEIGHBOURS, NEIGHBOURS, 2, receive[i] == from[i])
    EVERY(Neighbor_allgatherv, neighbor_allgatherv, ring, (send, 1, MPI_INT, receive, ones, places, MPI_INT),
          (send, 1, MPI_INT, receive, many, far_places, MPI_INT), 2, receive[i] == from[i])
    EVERY(Neighbor_alltoall, neighbor_alltoall, ring, NEIGHBOURS, NEIGHBOURS, 2,
          size > 2 ? receive[i] == from[i] + 1 - i : receive[i] / 100 * 100 == from[i])
    EVERY(Neighbor_alltoallv, neighbor_alltoallv, ring, (send, ones, same, MPI_INT, receive, ones, places, MPI_INT),
          (send, many, far_same, MPI_INT, receive, many, far_places, MPI_INT), 2, receive[i] == from[i])
    EVERY(Neighbor_alltoallw, neighbor_alltoallw, ring,
          (send, ones, far_same, types, receive, ones, far_byte_places, types),
          (send, many, far_same, types, receive, many, far_byte_places, types), 2, receive[i] == from[i])
    OK(MPI_Comm_free(&ring));
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    for (int i = 0; i < MOST; i++) {
        ones[i] = 1;
        places[i] = far_places[i] = i;
        byte_places[i] = far_byte_places[i] = i * (int)sizeof(int);
        LARGE(many[i] = 1;)
        types[i] = MPI_INT;
    }
    replaced_ones(check_rank, check_size);
    others(check_rank, check_size);
    neighbours(check_rank, check_size);
    if (check_rank == 0)
        for (int i = 0; made[i].name; i++) printf("check: %s calls %ld\n", made[i].name, made[i].calls * check_size);
    return check_finish();
}
