/* Point-to-point calls that are made seldom, of known numbers, on two ranks. */
#include "check.h"
#include <stdlib.h>

int main(int argc, char **argv) {
    int number[2] = {0, 7}, flag, other, size;
    char *buffer;
    MPI_Request requests[2];
    MPI_Status status, statuses[2];
    check_start(&argc, &argv);
    REQUIRE(check_size == 2, "for two ranks");
    other = 1 - check_rank;
    OK(MPI_Irecv(&number[0], 1, MPI_INT, other, 1, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Isend(&number[1], 1, MPI_INT, other, 1, MPI_COMM_WORLD, &requests[1]));
    OK(MPI_Request_get_status(requests[0], &flag, &status));
    OK(MPI_Wait(&requests[0], &status));
    OK(MPI_Wait(&requests[1], &status));
    REQUIRE(number[0] == 7, "received %d", number[0]);
    OK(MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Request_get_status(requests[0], &flag, &status));
    OK(MPI_Wait(&requests[0], &status));
    REQUIRE(requests[0] == MPI_REQUEST_NULL, "the barrier's request is left");
    OK(MPI_Irecv(&number[0], 1, MPI_INT, other, 99, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Cancel(&requests[0]));
    OK(MPI_Wait(&requests[0], &status));
    size = 64 + MPI_BSEND_OVERHEAD;
    buffer = malloc(size);
    OK(MPI_Buffer_attach(buffer, size));
    OK(MPI_Bsend(&number[1], 1, MPI_INT, other, 2, MPI_COMM_WORLD));
    OK(MPI_Recv(&number[0], 1, MPI_INT, other, 2, MPI_COMM_WORLD, &status));
    OK(MPI_Buffer_detach(&buffer, &size));
    free(buffer);
    memset(statuses, 0, sizeof statuses);
#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
    if (check_rank == 0) printf("with MPI_Isendrecv\n");
    number[0] = 0;
    OK(MPI_Isendrecv(&number[1], 1, MPI_INT, other, 3, &number[0], 1, MPI_INT, other, 3, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Isendrecv_replace(&size, 1, MPI_INT, other, 4, other, 4, MPI_COMM_WORLD, &requests[1]));
    OK(MPI_Waitall(2, requests, statuses));
    REQUIRE(number[0] == 7, "received %d", number[0]);
#endif
    return check_finish();
}
