/* Preloaded after Collie: makes the ranks of one machine look as if they ran on three nodes, in turns, to whoever asks
 * for the host's name once MPI is up. MPI itself has asked before. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

int gethostname(char *name, size_t length) {
    int (*next)(char *, size_t), up = 0, rank;
    PMPI_Initialized(&up);
    if (!up) {
        *(void **)&next = dlsym(RTLD_NEXT, "gethostname");
        return next(name, length);
    }
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(name, length, "node%d", rank % 3);
    return 0;
}
