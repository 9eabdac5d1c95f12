/* So many communicators, one after the other, each with one nonblocking reduction that is waited for. They are never freed; or,
 * with a second argument, each is, by turns before and after the wait, and what was recorded is forgotten until so many are left. */
#include "check.h"

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    const int communicators = argc > 1 ? atoi(argv[1]) : 1, frees = argc > 2;
    const int recorded = frees ? atoi(argv[2]) : communicators;
    for (int made = 0; made < communicators; made++) {
        MPI_Comm comm;
        MPI_Request request;
        int sum;
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        OK(MPI_Iallreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, comm, &request));
        if (frees && made % 2) {
            /* Open MPI 4.1.4 loses its way in a reduction that is under way when its communicator is freed. */
            for (int done = 0; !done;) OK(PMPI_Request_get_status(request, &done, MPI_STATUS_IGNORE));
            OK(MPI_Comm_free(&comm));
        }
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        if (frees && made % 2 == 0) OK(MPI_Comm_free(&comm));
        if (made < communicators - recorded) MPI_Pcontrol(2);
    }
    if (check_rank == 0) {
        printf("check: iallreduce calls %ld\n", (long)recorded * check_size);
        printf("check: wait calls %ld\n", (long)recorded * check_size);
    }
    return check_finish();
}
