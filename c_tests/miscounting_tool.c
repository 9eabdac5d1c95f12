/* A tool of the PMPI kind under Collie, in the place of an MPI library that gets one collective wrong: the native allreduce of
 * as many integers as rounds.c adds up gives one too many in element 3 at rank 1, and of as many doubles, as in judged.c, a
 * sixteenth too much. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>

enum { NUMBERS = 6, ELEMENT = 3 };

int PMPI_Allreduce(const void *from, void *into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    int (*next)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
    *(void **)&next = dlsym(RTLD_NEXT, "PMPI_Allreduce");
    const int code = next(from, into, count, type, op, comm);
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1 && count == NUMBERS && type == MPI_INT && op == MPI_SUM) ((int *)into)[ELEMENT]++;
    if (rank == 1 && count == NUMBERS && type == MPI_DOUBLE) ((double *)into)[ELEMENT] *= 1.0625;
    return code;
}
