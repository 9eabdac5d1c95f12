/* Programs that survive the failure of processes by ULFM, for MPIs that have it: collectives fail, the communicator is
   revoked and shrunk, and the collectives of who is left give their sum.

   survivors revoke   no process fails: rank 0 revokes what the others wait in
   survivors fail     the last rank ends by SIGKILL
   survivors leave    the same, and nobody revokes anything: the failure ends the call on all ranks */
#include <mpi.h>
#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

static int class_of(int code)
{
    int class;
    MPI_Error_class(code, &class);
    return class;
}

static int sum(MPI_Comm comm, int *total) { return MPI_Allreduce(&rank, total, 1, MPI_INT, MPI_SUM, comm); }

static int wrong(const char *what, int code)
{
    printf("rank %d: %s: class %d\n", rank, what, class_of(code));
    MPI_Abort(MPI_COMM_WORLD, 1);
    return 1;
}

/* The last rank may fail in the call of all others otherwise: it comes out of a call before they do. */
static void tell_last_that_calls_are_over(void)
{
    if (rank < size - 1) MPI_Send(NULL, 0, MPI_INT, size - 1, 0, MPI_COMM_WORLD);
    else
        for (int other = 0; other < size - 1; other++)
            MPI_Recv(NULL, 0, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int leaves = argc > 1 && strcmp(argv[1], "leave") == 0, fails = leaves || (argc > 1 && strcmp(argv[1], "fail") == 0);
    MPI_Comm comm, rest;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    int total, code = MPI_SUCCESS;
    for (int call = 0; call < 20; call++) {
        code = sum(comm, &total);
        if (code != MPI_SUCCESS || total != size * (size - 1) / 2) return wrong("before", code);
    }
    if (fails) {
        tell_last_that_calls_are_over();
        if (rank == size - 1) raise(SIGKILL);
        do code = sum(comm, &total); while (code == MPI_SUCCESS);
        if (class_of(code) != MPIX_ERR_PROC_FAILED && class_of(code) != MPIX_ERR_REVOKED) return wrong("failed", code);
        if (leaves && class_of(code) != MPIX_ERR_PROC_FAILED) return wrong("revoked", code);
        code = sum(comm, &total);
        if (leaves && class_of(code) != MPIX_ERR_PROC_FAILED) return wrong("not failed again", code);
        if (!leaves) MPIX_Comm_revoke(comm);
    } else if (PMPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS && rank == 0) {
        usleep(300000); /* the others wait by then */
        MPIX_Comm_revoke(comm);
    } else {
        code = sum(comm, &total);
        if (class_of(code) != MPIX_ERR_REVOKED) return wrong("not woken", code);
    }
    if (!leaves) {
        code = sum(comm, &total);
        if (class_of(code) != MPIX_ERR_REVOKED) return wrong("not revoked", code);
    }
    if ((code = MPIX_Comm_shrink(comm, &rest)) != MPI_SUCCESS) return wrong("shrink", code);
    int left = fails ? size - 1 : size;
    for (int call = 0; call < 20; call++) {
        code = sum(rest, &total);
        if (code != MPI_SUCCESS || total != left * (left - 1) / 2) return wrong("after", code);
    }
    if (leaves) {
        /* After a failure Open MPI 5.0.11 hangs in MPI_Finalize now and then. */
        printf("rank %d survived\n", rank);
        fflush(stdout);
        sleep(1);
        raise(SIGKILL);
    }
    MPI_Comm_free(&rest);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    printf("rank %d survived\n", rank);
    return 0;
}
