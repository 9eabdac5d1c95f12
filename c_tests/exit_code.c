/* Ends with the exit status that the command line names; `abort` ends by MPI_Abort with it instead. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    int own, sum, status = argc > 1 ? atoi(argv[1]) : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &own);
    MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (argc > 2 && strcmp(argv[2], "abort") == 0) MPI_Abort(MPI_COMM_WORLD, status);
    MPI_Finalize();
    return status;
}
