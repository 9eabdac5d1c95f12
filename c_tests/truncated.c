/* Ranks that do not agree on the count: whoever gets a longer message than it has room for returns the error class that the
 * native library returns, MPI_ERR_TRUNCATE, also where several messages are waited for at once. The calls come back often
 * enough to be carried out in every way that the library has. */
#include "check.h"

enum { SHORT = 4, LONG = 8, REPEATED = 5 };

static int class_of(int code) {
    int class = MPI_SUCCESS;
    if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
    return class;
}

/* The class that `call` gives with ranks' own counts, MPI_SUCCESS where this rank gets no more than it has room for. */
#define EXPECT(truncated, ...) \
    do { \
        int class_ = class_of(__VA_ARGS__), expected_ = (truncated) ? MPI_ERR_TRUNCATE : MPI_SUCCESS; \
        REQUIRE(class_ == expected_, "class %d, expected %d", class_, expected_); \
        OK(PMPI_Barrier(MPI_COMM_WORLD)); \
    } while (0)

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    int own[LONG] = {0}, all[3 * LONG];
    MPI_Comm comm;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    /* MPICH 4.0.2 raises what a request meets on MPI_COMM_WORLD, whatever communicator it was started in. */
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    const int count = check_rank == 0 ? LONG : SHORT;
    for (int i = 0; i < REPEATED; i++) {
        if (check_size == 2) {
            CASE("MPI_Allreduce %d", i);
            EXPECT(check_rank == 1, MPI_Allreduce(own, all, count, MPI_INT, MPI_SUM, comm));
        }
        CASE("MPI_Gather %d", i);
        EXPECT(check_rank == 0,
               MPI_Gather(own, check_rank == 0 ? SHORT : LONG, MPI_INT, all, SHORT, MPI_INT, 0, comm));
        CASE("MPI_Scatter %d", i);
        EXPECT(check_rank > 0,
               MPI_Scatter(all, LONG, MPI_INT, own, check_rank == 0 ? LONG : SHORT, MPI_INT, 0, comm));
        CASE("PMPI_Gather %d", i);
        EXPECT(check_rank == 0,
               PMPI_Gather(own, check_rank == 0 ? SHORT : LONG, MPI_INT, all, SHORT, MPI_INT, 0, comm));
    }
    OK(MPI_Comm_free(&comm));
    return check_finish();
}
