/* Point-to-point calls of every kind, of known numbers, on two ranks; rank 1 comes 150 ms late to the first receive of rank 0. A
 * Waitall has a nonblocking collective among messages, and another one is waited for alone. */
#include "check.h"
#include <unistd.h>

int main(int argc, char **argv) {
    int number[4] = {0}, flag, other, sum, index, ready;
    double values[8] = {0};
    MPI_Request requests[3];
    MPI_Message message;
    MPI_Status status, statuses[3];
    check_start(&argc, &argv);
    REQUIRE(check_size == 2, "for two ranks");
    other = 1 - check_rank;
    if (check_rank == 1) {
        usleep(150000);
        OK(MPI_Send(number, 4, MPI_INT, 0, 1, MPI_COMM_WORLD));
        OK(MPI_Ssend(values, 8, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD));
        OK(MPI_Send(number, 1, MPI_INT, 0, 3, MPI_COMM_WORLD));
        OK(MPI_Send(number, 1, MPI_INT, 0, 4, MPI_COMM_WORLD));
    } else {
        OK(MPI_Recv(number, 4, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Recv(values, 8, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Probe(1, 3, MPI_COMM_WORLD, &status));
        OK(MPI_Recv(number, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Mprobe(1, 4, MPI_COMM_WORLD, &message, &status));
        OK(MPI_Mrecv(number, 1, MPI_INT, &message, &status));
    }
    OK(MPI_Sendrecv(number, 2, MPI_INT, other, 5, number + 2, 2, MPI_INT, other, 5, MPI_COMM_WORLD, &status));
    OK(MPI_Sendrecv_replace(values, 2, MPI_DOUBLE, other, 6, other, 6, MPI_COMM_WORLD, &status));
    /* Nobody receives it. */
    OK(MPI_Send(values, 8, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
    /* There is no such rank, so that nothing is sent. */
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    REQUIRE(MPI_Send(values, 8, MPI_DOUBLE, 1, 0, MPI_COMM_SELF) != MPI_SUCCESS, "sent to nobody");
    for (int i = 0; i < 100; i++) {
        OK(MPI_Irecv(number, 1, MPI_INT, other, 7, MPI_COMM_WORLD, &requests[0]));
        OK(MPI_Isend(number + 1, 1, MPI_INT, other, 7, MPI_COMM_WORLD, &requests[1]));
        OK(MPI_Waitall(2, requests, statuses));
    }
    OK(MPI_Irecv(number, 1, MPI_INT, other, 8, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Isend(number + 1, 1, MPI_INT, other, 8, MPI_COMM_WORLD, &requests[1]));
    OK(MPI_Iallreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[2]));
    OK(MPI_Waitall(3, requests, statuses));
    OK(MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Wait(&requests[0], &status));
    OK(MPI_Send_init(number, 1, MPI_INT, other, 9, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Recv_init(number + 1, 1, MPI_INT, other, 9, MPI_COMM_WORLD, &requests[1]));
    OK(MPI_Start(&requests[1]));
    OK(MPI_Start(&requests[0]));
    OK(MPI_Waitany(2, requests, &index, &status));
    OK(MPI_Waitany(2, requests, &ready, &status));
    OK(MPI_Request_free(&requests[0]));
    OK(MPI_Request_free(&requests[1]));
    OK(MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, &status));
    return check_finish();
}
