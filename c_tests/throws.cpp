// Error handlers that throw: the exception goes through MPI_X to the program, and the calls after it still run as they did.
#include <mpi.h>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

static int rank, size, wrong;

static void handler(MPI_Comm *, int *code, ...) { throw *code; }

static void require(bool holds, const char *what) {
    if (holds) return;
    wrong++;
    std::fprintf(stderr, "rank %d: wrong: %s\n", rank, what);
}

static void works(MPI_Comm comm) {
    for (int repeat = 0; repeat < 4; repeat++) {
        int own = rank + 1, sum = 0;
        MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm);
        require(sum == size * (size + 1) / 2, "sum");
    }
}

template <typename Call> static void throws(MPI_Comm comm, const char *what, Call call) {
    int thrown = MPI_SUCCESS;
    try {
        call();
    } catch (int code) {
        thrown = code;
    }
    require(thrown != MPI_SUCCESS, what);
    works(comm);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm comm;
    MPI_Errhandler errhandler;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(handler, &errhandler);
    MPI_Comm_set_errhandler(comm, errhandler);
    works(comm);
    int data[64] = {};
    for (int repeat = 0; repeat < 5; repeat++) {
        throws(comm, "root", [&] { MPI_Bcast(data, 1, MPI_INT, size + 3, comm); });
        throws(comm, "datatype", [&] { MPI_Allreduce(data, data + 1, 1, MPI_DATATYPE_NULL, MPI_SUM, comm); });
        throws(comm, "observed", [&] { MPI_Alltoall(data, -1, MPI_INT, data + 1, -1, MPI_INT, comm); });
    }
    if (size == 2) {
        bool thrown = false;
        try {
            MPI_Bcast(data, rank == 0 ? 10 : 5, MPI_INT, 0, comm);
        } catch (int) {
            thrown = true;
        }
        require(thrown == (rank == 1), "a message of ours");
        works(comm);
    }
    PMPI_Barrier(MPI_COMM_WORLD);
    MPI_Errhandler_free(&errhandler);
    MPI_Comm_free(&comm);
    int all = 0;
    PMPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) std::printf("%d wrong\n", all);
    MPI_Finalize();
    return all != 0;
}
