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
    int own[LONG] = {0}, all[3 * LONG] = {0}, into[3 * LONG];
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
        /* To everybody, from rank 0 too much; on the last rank too little room for what it sends itself. */
        int sent[8], received[8], places[8], last = check_size - 1;
        for (int r = 0; r < check_size; r++) {
            places[r] = LONG * r;
            sent[r] = check_rank == 0 && r > 0 ? LONG : SHORT;
            received[r] = SHORT;
        }
        CASE("MPI_Alltoallv %d", i);
        /* A rank that met an error sends nothing more, which others may wait for, unless all of it is on its way by then. */
        if (check_size == 2 || getenv("COLLIE_ALLTOALLV"))
            EXPECT(check_rank > 0, MPI_Alltoallv(all, sent, places, MPI_INT, into, received, places, MPI_INT, comm));
        sent[check_rank] = check_rank == last ? LONG : SHORT;
        for (int r = 0; r < check_size; r++)
            if (r != check_rank) sent[r] = SHORT;
        for (int k = 0; k < 3 * LONG; k++) into[k] = -1;
        CASE("MPI_Alltoallv to itself %d", i);
        EXPECT(check_rank == last, MPI_Alltoallv(all, sent, places, MPI_INT, into, received, places, MPI_INT, comm));
        for (int k = 0; k < LONG * check_size; k++)
            REQUIRE((into[k] == -1) == (k % LONG >= SHORT), "element %d is %d", k, into[k]);
        CASE("PMPI_Gather %d", i);
        EXPECT(check_rank == 0,
               PMPI_Gather(own, check_rank == 0 ? SHORT : LONG, MPI_INT, all, SHORT, MPI_INT, 0, comm));
    }
    OK(MPI_Comm_free(&comm));
    return check_finish();
}
