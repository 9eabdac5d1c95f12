/* Communicators that are made, used a few times and freed. With no argument: the calls on each are left to the MPI library until
 * one of them is the first that may be replaced, counted alike on all ranks whatever their arguments are. `NUMBER seconds`: how
 * long it takes to make, use once and free so many. */
#include "check.h"

/* Of all ranks: check.h does not count them. */
static long barriers;

static void use(int call, MPI_Comm comm) {
    int own[64] = {0}, all[64] = {0}, sum = -1, rank, size;
    CASE("call %d", call);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    switch (call % 6) {
    case 0:
        barriers += size;
        OK(MPI_Barrier(comm));
        break;
    case 1: OK(MPI_Bcast(NULL, 0, MPI_INT, 0, comm)); break;
    /* What does not count on a rank may be anything. */
    case 2: OK(MPI_Gather(own, 1, MPI_INT, rank == 0 ? all : NULL, rank == 0 ? 1 : -7, MPI_INT, 0, comm)); break;
    case 3:
        own[0] = 1;
        OK(MPI_Allreduce(own, &sum, 1, MPI_INT, MPI_SUM, comm));
        REQUIRE(sum == size, "the sum is %d", sum);
        break;
    case 4: OK(MPI_Reduce(own, rank == 0 ? all : NULL, 4, MPI_INT, MPI_MAX, 0, comm)); break;
    default: OK(MPI_Allgather(own, 1, MPI_INT, all, 1, MPI_INT, comm));
    }
}

static void time_them(int number) {
    double start = MPI_Wtime();
    for (int i = 0; i < number; i++) {
        MPI_Comm comm;
        int one = 1, sum;
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
        OK(MPI_Comm_free(&comm));
    }
    if (check_rank == 0) printf("%.2f us each\n", (MPI_Wtime() - start) / number * 1e6);
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    if (argc > 2) {
        time_them(atoi(argv[1]));
        return check_finish();
    }
    use(3, MPI_COMM_WORLD);
    for (int i = 0; i < 6; i++) {
        MPI_Comm dup, half, made;
        MPI_Group group;
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
        OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &half));
        OK(MPI_Comm_group(MPI_COMM_WORLD, &group));
        OK(MPI_Comm_create(dup, group, &made));
        for (int call = 0; call < 6; call++) {
            use(i + call, dup);
            use(i + 2 * call, half);
            use(i + 5 * call, made);
        }
        OK(MPI_Group_free(&group));
        OK(MPI_Comm_free(&made));
        OK(MPI_Comm_free(&half));
        OK(MPI_Comm_free(&dup));
    }
    if (check_rank == 0) printf("check: barrier calls %ld\n", barriers);
    return check_finish();
}
