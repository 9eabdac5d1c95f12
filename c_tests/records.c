/* A fixed number of calls of each kind, for tests that hold the report against them field by field. Three ranks. */
#include "check.h"

static void times(int count, MPI_Comm comm, int operation) {
    int send[64], receive[64];
    for (int call = 0; call < count; call++) {
        int value[5] = {0}, rank;
        double wide[10], sum[10];
        long one[3] = {check_rank, 1, 2}, all[16];
        float single = (float)check_rank, total = -1;
        MPI_Comm_rank(comm, &rank);
        CASE("operation %d, call %d", operation, call);
        switch (operation) {
            case BCAST:
                if (rank == 1) value[4] = 4711 + call;
                OK(MPI_Bcast(value, 5, MPI_INT, 1, comm));
                REQUIRE(value[4] == 4711 + call, "MPI_Bcast gave %d", value[4]);
                break;
            case ALLREDUCE:
                for (int i = 0; i < 10; i++) wide[i] = i + rank;
                OK(MPI_Allreduce(wide, sum, 10, MPI_DOUBLE, MPI_SUM, comm));
                REQUIRE(sum[9] == 3 * 9 + 3, "MPI_Allreduce gave %g", sum[9]);
                break;
            case ALLGATHER:
                send[0] = send[1] = rank + 5;
                OK(MPI_Allgather(send, 2, MPI_INT, receive, 2, MPI_INT, comm));
                REQUIRE(receive[5] == 7, "MPI_Allgather gave %d", receive[5]);
                break;
            case GATHER:
                OK(MPI_Gather(one, 3, MPI_LONG, all, 3, MPI_LONG, 2, comm));
                REQUIRE(rank != 2 || all[3] == 1, "MPI_Gather gave %ld", all[3]);
                break;
            case REDUCE:
                OK(MPI_Reduce(&single, &total, 1, MPI_FLOAT, MPI_MAX, 0, comm));
                REQUIRE(rank != 0 || total == 2, "MPI_Reduce gave %g", total);
                break;
            default:
                for (int i = 0; i < 3; i++) send[i] = rank;
                OK(MPI_Alltoall(send, 1, MPI_INT, receive, 1, MPI_INT, comm));
                REQUIRE(receive[2] == 2, "MPI_Alltoall gave %d", receive[2]);
        }
    }
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    MPI_Comm ends, between;
    const int in_the_middle = check_rank == 1;
    times(7, MPI_COMM_WORLD, BCAST);
    times(4, MPI_COMM_WORLD, ALLREDUCE);
    times(3, MPI_COMM_WORLD, ALLGATHER);
    times(2, MPI_COMM_WORLD, GATHER);
    OK(MPI_Comm_split(MPI_COMM_WORLD, in_the_middle, check_rank, &ends));
    if (!in_the_middle) {
        OK(MPI_Comm_set_name(ends, "ends"));
        times(6, ends, REDUCE);
    }
    times(5, MPI_COMM_WORLD, OPERATIONS);
    OK(MPI_Intercomm_create(ends, 0, MPI_COMM_WORLD, in_the_middle ? 0 : 1, 0, &between));
    OK(MPI_Comm_set_name(between, "between"));
    OK(MPI_Barrier(between));
    OK(MPI_Comm_free(&between));
    OK(MPI_Comm_free(&ends));
    if (check_rank == 0) printf("check: barrier calls 3\n");
    return check_finish();
}
