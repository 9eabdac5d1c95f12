/* A message that is longer than the other rank expects, under the error handler that programs begin with: it ends the job. */
#include <mpi.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, numbers[4] = {0};
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Bcast(numbers, rank == 0 ? 4 : 2, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
