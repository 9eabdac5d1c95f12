/* Regions by MPI_Pcontrol with names in memory of each kind, of which no byte more may be read by what AddressSanitizer watches. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static void region(const char *name) {
    int one = 1, sum;
    MPI_Pcontrol(1, name);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Pcontrol(-1, name);
}

int main(int argc, char **argv) {
    char stack[] = "stack", *heap = malloc(sizeof "heap");
    MPI_Init(&argc, &argv);
    strcpy(heap, "heap");
    region("constant");
    region(stack);
    region(heap);
    free(heap);
    return MPI_Finalize();
}
