/* A tool of the PMPI kind under Collie: what Collie sends goes through here, and one message of rank 1 arrives with a bit
 * of element 3 turned over. What the MPI library's own collectives send does not come this way, nor what programs send. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGE = 5, ELEMENT = 3, BIT = 0x40 };

static long sent;

/* The memory to send from: the program's own, or a copy with the bit turned over. It stays until the process ends. */
static const void *corrupted(const void *from, int count, MPI_Datatype type) {
    int rank, size;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Type_size(type, &size);
    const size_t bytes = (size_t)size * (size_t)count, at = ELEMENT * sizeof(int);
    if (rank != 1 || bytes <= at || sent++ != MESSAGE) return from;
    unsigned char *copy = malloc(bytes);
    memcpy(copy, from, bytes);
    copy[at] ^= BIT;
    return copy;
}

#define NEXT(name, ...) \
    int (*next)(__VA_ARGS__); \
    *(void **)&next = dlsym(RTLD_NEXT, #name)

int PMPI_Send(const void *from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    NEXT(PMPI_Send, const void *, int, MPI_Datatype, int, int, MPI_Comm);
    return next(corrupted(from, count, type), count, type, to, tag, comm);
}

int PMPI_Isend(const void *from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request) {
    NEXT(PMPI_Isend, const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    return next(corrupted(from, count, type), count, type, to, tag, comm, request);
}

int PMPI_Sendrecv(const void *from, int count, MPI_Datatype type, int to, int tag, void *into, int most,
                  MPI_Datatype into_type, int source, int receive_tag, MPI_Comm comm, MPI_Status *status) {
    NEXT(PMPI_Sendrecv, const void *, int, MPI_Datatype, int, int, void *, int, MPI_Datatype, int, int, MPI_Comm,
         MPI_Status *);
    return next(corrupted(from, count, type), count, type, to, tag, into, most, into_type, source, receive_tag, comm,
                status);
}
