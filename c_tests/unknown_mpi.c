/* An MPI library that nobody knows, as far as a process of one rank needs it (with -DLIBRARY), and a program for it. Its
 * handles are small numbers. */
#include <stdio.h>
#include <stdlib.h>

enum { WORLD = 1 };
int MPI_Init(int *argc, char ***argv);
int MPI_Comm_rank(int comm, int *rank);
int MPI_Barrier(int comm);
int MPI_Finalize(void);

#ifdef LIBRARY
#define ALSO(name) __attribute__((weak, alias("P" #name)))

static int checked(int comm, const char *procedure) {
    if (comm == WORLD) return 0;
    fprintf(stderr, "%s: %#x is no communicator\n", procedure, comm);
    exit(1);
}

int PMPI_Init(int *argc, char ***argv) { return argc == NULL && argv != NULL; }
int PMPI_Comm_rank(int comm, int *rank) { return *rank = checked(comm, "MPI_Comm_rank"); }
int PMPI_Barrier(int comm) { return checked(comm, "MPI_Barrier"); }
int PMPI_Finalize(void) { return 0; }
int MPI_Init(int *argc, char ***argv) ALSO(MPI_Init);
int MPI_Comm_rank(int comm, int *rank) ALSO(MPI_Comm_rank);
int MPI_Barrier(int comm) ALSO(MPI_Barrier);
int MPI_Finalize(void) ALSO(MPI_Finalize);
#else
int main(int argc, char **argv) {
    int rank = -1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Barrier(WORLD);
    printf("rank %d\n", rank);
    return MPI_Finalize();
}
#endif
