/* Communicators of sessions, which MPI 4 makes without MPI_COMM_WORLD:
 *   alone    the program never calls MPI_Init;
 *   before   a session is begun and used before MPI_Init, used again after it and ended before MPI_Finalize;
 *   after    a session is begun after MPI_Init and outlives MPI_Finalize. */
#include "check.h"

/* Open MPI 5 has sessions although it says that it is of version 3.1. */
#if MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)

enum { ROUNDS = 6, COUNT = 1000 };

static MPI_Session session;
static long barriers;

static MPI_Comm of_set(const char *set, const char *tag) {
    MPI_Group group;
    MPI_Comm comm;
    OK(MPI_Group_from_session_pset(session, set, &group));
    OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    MPI_Group_free(&group);
    return comm;
}

static void use(MPI_Comm comm) {
    int rank, size, ours[COUNT], native[COUNT], mine[COUNT];
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int round = 0; round < ROUNDS; round++) {
        int root = round % size;
        CASE("%d ranks, round %d", size, round);
        for (int i = 0; i < COUNT; i++) mine[i] = rank * 7 + i + round;
        OK(MPI_Allreduce(mine, ours, COUNT, MPI_INT, MPI_SUM, comm));
        OK(PMPI_Allreduce(mine, native, COUNT, MPI_INT, MPI_SUM, comm));
        check_same(ours, native, sizeof ours, sizeof *ours);
        OK(MPI_Bcast(mine, COUNT, MPI_INT, root, comm));
        for (int i = 0; i < COUNT; i++) REQUIRE(mine[i] == root * 7 + i + round, "bcast: element %d is %d", i, mine[i]);
        OK(MPI_Reduce(mine, ours, COUNT, MPI_INT, MPI_MAX, root, comm));
        OK(PMPI_Reduce(mine, native, COUNT, MPI_INT, MPI_MAX, root, comm));
        if (rank == root) check_same(ours, native, sizeof ours, sizeof *ours);
        OK(MPI_Barrier(comm));
        barriers++;
    }
}

static void use_all(const char *tag) {
    MPI_Comm all = of_set("mpi://WORLD", tag), self = of_set("mpi://SELF", tag), half, twin;
    use(all);
    use(self);
    MPI_Comm_rank(all, &check_rank);
    MPI_Comm_size(all, &check_size);
    OK(MPI_Comm_split(all, check_rank % 2, -check_rank, &half));
    use(half);
    OK(MPI_Comm_dup(all, &twin));
    use(twin);
    MPI_Comm_free(&twin);
    MPI_Comm_free(&half);
    MPI_Comm_free(&self);
    MPI_Comm_free(&all);
}

static void begin(void) { OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session)); }

static void end(void) { OK(MPI_Session_finalize(&session)); }

int main(int argc, char **argv) {
    const char *way = argc > 1 ? argv[1] : "alone";
    if (strcmp(way, "alone") == 0) {
        int initialized = 1;
        begin();
        use_all("alone");
        MPI_Initialized(&initialized);
        REQUIRE(!initialized, "MPI_Initialized says that it was called");
        end();
        printf("rank %d: %ld failures\n", check_rank, check_failures);
        return check_failures != 0;
    }
    if (strcmp(way, "before") == 0) {
        begin();
        use_all("before");
        memset(check_calls, 0, sizeof check_calls);
        barriers = 0;
    }
    check_start(&argc, &argv);
    if (strcmp(way, "after") == 0) begin();
    use_all("beside");
    use(MPI_COMM_WORLD);
    if (strcmp(way, "before") == 0) end();
    if (check_rank == 0) printf("check: barrier calls %ld\n", barriers * check_size);
    int failed = check_finish();
    if (strcmp(way, "after") == 0) {
        use_all("after");
        end();
        failed |= check_failures != 0;
    }
    return failed;
}

#else

int main(void) {
    printf("no sessions\n");
    return 0;
}

#endif
