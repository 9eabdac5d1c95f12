/* Preloaded after Collie: makes the ranks of one machine look as if they ran on three nodes, in turns, to Collie alone,
 * or on those that SEVERAL_NODES tells, a character for each rank: 0001 is three ranks on a node and one on another. It
 * asks while MPI is up; the MPI library, which must know where it is, also asks before and after. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int gethostname(char *name, size_t length) {
    int (*next)(char *, size_t), rank;
    Dl_info asker;
    if (!dladdr(__builtin_return_address(0), &asker) || !strstr(asker.dli_fname, "libcollie.so")) {
        *(void **)&next = dlsym(RTLD_NEXT, "gethostname");
        return next(name, length);
    }
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char *nodes = getenv("SEVERAL_NODES");
    snprintf(name, length, "node%d", nodes ? nodes[rank % (int)strlen(nodes)] : rank % 3);
    return 0;
}
