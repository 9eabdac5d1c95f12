/* Collective calls on a communicator that is being duplicated: those in which Collie makes a communicator of it for itself,
 * which Open MPI cannot make beside the duplicate. Four ranks. */
#include "check.h"

enum { ROUNDS = 8 };

/* Calls of which one is the first that is replaced. */
static void call(MPI_Comm comm) {
    for (int repeat = 0; repeat < 3; repeat++) {
        int one = 1, sum = 0, all[64];
        OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
        REQUIRE(sum == check_size, "the sum is %d", sum);
        OK(MPI_Allgather(&check_rank, 1, MPI_INT, all, 1, MPI_INT, comm));
        for (int rank = 0; rank < check_size; rank++) REQUIRE(all[rank] == rank, "%d of rank %d", all[rank], rank);
    }
}

static void use(MPI_Comm *comm) {
    call(*comm);
    OK(MPI_Comm_free(comm));
}

/* Waits together with a message that comes only when the others have made their calls. */
static void wait_beside_message(MPI_Request duplicate, MPI_Comm parent) {
    int got = -1;
    MPI_Request requests[] = {duplicate, MPI_REQUEST_NULL};
    MPI_Status statuses[2];
    OK(MPI_Irecv(&got, 1, MPI_INT, (check_rank + 1) % check_size, 3, MPI_COMM_WORLD, &requests[1]));
    call(parent);
    OK(MPI_Send(&check_rank, 1, MPI_INT, (check_rank + check_size - 1) % check_size, 3, MPI_COMM_WORLD));
    OK(MPI_Waitall(2, requests, statuses));
    REQUIRE(got == (check_rank + 1) % check_size, "the message says %d", got);
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    if (check_size > 64) return 2;
    MPI_Comm made[2];
    MPI_Request requests[2];
    MPI_Status statuses[2];
    CASE("MPI_COMM_WORLD");
    OK(MPI_Comm_idup(MPI_COMM_WORLD, &made[0], &requests[0]));
    call(MPI_COMM_WORLD);
    OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    use(&made[0]);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm parent;
        CASE("round %d", round);
        OK(MPI_Comm_split(MPI_COMM_WORLD, 0, check_rank, &parent));
        for (int repeat = 0; repeat < round % 3; repeat++) {
            int one = 1, sum = 0;
            OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, parent));
        }
        OK(MPI_Comm_idup(parent, &made[0], &requests[0]));
        int done = 0;
        switch (round % 4) {
            case 0:
                call(parent);
                OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
                break;
            case 1:
                /* Complete on some ranks before the calls, and not on others. */
                for (int test = 0; !done && test < 1000 * check_rank; test++)
                    OK(MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE));
                call(parent);
                while (!done) OK(MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE));
                break;
            case 2:
                wait_beside_message(requests[0], parent);
                break;
            default:
                /* Another one at the same time, of another communicator. */
                OK(MPI_Comm_idup(MPI_COMM_WORLD, &made[1], &requests[1]));
                call(parent);
                OK(MPI_Waitall(2, requests, statuses));
                use(&made[1]);
        }
        use(&made[0]);
        use(&parent);
    }
    return check_finish();
}
