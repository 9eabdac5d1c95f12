/* In MPICH and its kin, errors on communicators that no handler was set on come to what MPI_COMM_WORLD's is by then. With
 * `used` these have had collective calls before. */
#include "check.h"
#include <limits.h>

/* A send to a rank that is not there: whether the error is returned. */
static int returns_errors(MPI_Comm comm) {
    return PMPI_Send(&check_rank, 1, MPI_INT, INT_MAX, 0, comm) != MPI_SUCCESS;
}

int main(int argc, char **argv) {
    MPI_Comm own, half, copy;
    int sum;
    check_start(&argc, &argv);
    int used = argc > 1 && !strcmp(argv[1], "used");
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &own));
    OK(MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, check_rank, &half));
    OK(MPI_Comm_dup(MPI_COMM_SELF, &copy));
    for (int call = 0; used && call < 4; call++) {
        OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, own));
        OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, half));
    }
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    REQUIRE(returns_errors(own), "no error of a duplicate");
    REQUIRE(returns_errors(half), "no error of a part");
    /* MPICH 5 raises what is no communicator's own on MPI_COMM_SELF. */
    int size, code = MPI_Type_size(MPI_DATATYPE_NULL, &size);
    REQUIRE(code != MPI_SUCCESS, "a datatype that is none has a size");
    OK(MPI_Comm_free(&own));
    OK(MPI_Comm_free(&half));
    OK(MPI_Comm_free(&copy));
    return check_finish();
}
