/* A module that asks by weak references what the MPI library has of what versions of MPI added, as mpi4py does: it sees the same
 * as without Collie. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

#define NAMES(EACH) \
    EACH(MPI_Bcast) EACH(MPI_Bcast_c) EACH(MPI_Allreduce_c) EACH(MPI_Alltoallv_c) EACH(MPI_Gatherv_c) EACH(MPI_Ibcast_c) \
    EACH(MPI_Allreduce_init) EACH(MPI_Barrier_init) EACH(MPI_Bcast_init_c) EACH(MPI_Comm_idup_with_info) \
    EACH(MPI_Session_init) EACH(MPI_Comm_create_from_group) EACH(MPI_Isendrecv) EACH(MPI_Put_c) \
    EACH(MPI_Request_get_status_any) EACH(MPI_Psend_init) EACH(MPI_Win_fence) EACH(MPI_File_iread_all)

/* Under other names in C, as headers may declare them or not. */
#define DECLARE(name) extern char weak_##name[] __asm__(#name) __attribute__((weak));
NAMES(DECLARE)

static int differences;

static void compare(const char *name, const char *native_name, const void *reference) {
    const void *native = dlsym(RTLD_DEFAULT, native_name);
    if ((reference != NULL) != (native != NULL)) {
        fprintf(stderr, "%s is %s, %s is %s\n", name, reference ? "there" : "missing", native_name,
                native ? "there" : "missing");
        differences++;
    }
}

int run(void) {
    int rank, sum = 0, one = 1;
    MPI_Init(NULL, NULL);
#define COMPARE(name) compare(#name, "P" #name, weak_##name);
    NAMES(COMPARE)
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("check: allreduce calls %d\ncheck: %d differences\n", sum, differences);
    fflush(stdout);
    MPI_Finalize();
    return differences != 0;
}
