/* The example of the README: each rank contributes its rank plus one, rank 0 prints the sum; 36 with 8 ranks. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int rank, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int contribution = rank + 1;
    MPI_Reduce(&contribution, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("Sum result: %d\n", sum);
    MPI_Finalize();
    return 0;
}
