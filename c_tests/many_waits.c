/* So many communicators, one after the other and never freed, each with one nonblocking reduction that is waited for. */
#include "check.h"

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    const int communicators = argc > 1 ? atoi(argv[1]) : 1;
    for (int made = 0; made < communicators; made++) {
        MPI_Comm comm;
        MPI_Request request;
        int sum;
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        OK(MPI_Iallreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, comm, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    if (check_rank == 0) {
        printf("check: iallreduce calls %ld\n", (long)communicators * check_size);
        printf("check: wait calls %ld\n", (long)communicators * check_size);
    }
    return check_finish();
}
