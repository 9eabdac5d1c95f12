/* Looks MPI's functions up in the MPI library itself, as programs do that load it while they run: the calls go past what is
 * preloaded. With an argument it asks for them and calls none but MPI_Initialized. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

#define FUNCTION(name) __typeof__(&name) own_##name = (__typeof__(&name))dlsym(library, #name)

int main(int count, char **arguments) {
    Dl_info of_mpi;
    int version, subversion;
    /* Some linkers leave out libraries of which nothing is called. */
    PMPI_Get_version(&version, &subversion);
    /* Collie has no PMPI_Init. */
    if (!dladdr(dlsym(RTLD_DEFAULT, "PMPI_Init"), &of_mpi)) return 1;
    void *library = dlopen(of_mpi.dli_fname, RTLD_NOW);
    if (!library) return 1;
    FUNCTION(MPI_Init);
    FUNCTION(MPI_Initialized);
    FUNCTION(MPI_Allreduce);
    FUNCTION(MPI_Finalize);
    if (count > 1) {
        int initialised;
        (void)arguments;
        return own_MPI_Initialized(&initialised) != MPI_SUCCESS || initialised;
    }
    int one = 1, sum = 0;
    own_MPI_Init(NULL, NULL);
    own_MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    own_MPI_Finalize();
    return sum < 1;
}
