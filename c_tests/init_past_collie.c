/* A module that takes the start and the end of MPI from the MPI library itself, and calls the rest by name: Collie sees one
 * rank wait for a message and the other one send it, and neither MPI_Init nor MPI_Finalize. For host.c. With INTRODUCED in
 * the environment all ranks make a collective as well. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int run(void) {
    Dl_info of_mpi;
    if (!dladdr((void *)&PMPI_Get_version, &of_mpi)) return 1;
    void *library = dlopen(of_mpi.dli_fname, RTLD_NOW | RTLD_LOCAL);
    if (!library) return 1;
    int (*init)(int *, char ***) = (int (*)(int *, char ***))dlsym(library, "MPI_Init");
    int (*finalize)(void) = (int (*)(void))dlsym(library, "MPI_Finalize");
    int rank, received = 0, sent = 7, sum = 0, one = 1;
    if (!init || !finalize || init(NULL, NULL)) return 1;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Request request;
        MPI_Irecv(&received, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (received != 7) return 1;
    } else {
        MPI_Send(&sent, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    if (getenv("INTRODUCED")) {
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (sum != 2) return 1;
    }
    return finalize();
}
