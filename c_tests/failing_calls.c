/* Collectives that fail on one rank and succeed on the other, on a communicator with no other calls and on one with some before
 * and after: each rank has come to each of them. One that is refused on one rank alone is none of them. */
#include "check.h"

enum { COUNT = 4 };

/* Rank 1 of 2 sends more than rank 0 has room for. */
static void too_much(MPI_Comm comm) {
    int own[COUNT] = {1, 2, 3, 4}, all[2 * COUNT], counts[2] = {COUNT, 1}, places[2] = {0, COUNT}, class = MPI_SUCCESS;
    int code = MPI_Gatherv(own, COUNT, MPI_INT, all, counts, places, MPI_INT, 0, comm);
    if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
    /* MPICH 4.2 tells only that it is in some status. */
    REQUIRE((class != MPI_SUCCESS) == (check_rank == 0), "class %d", class);
    OK(PMPI_Barrier(MPI_COMM_WORLD));
}

static void all_well(MPI_Comm comm) {
    int own[COUNT] = {1, 2, 3, 4}, all[2 * COUNT], counts[2] = {COUNT, COUNT}, places[2] = {0, COUNT};
    OK(MPI_Gatherv(own, COUNT, MPI_INT, all, counts, places, MPI_INT, 0, comm));
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    MPI_Comm alone, among;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &alone));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &among));
    OK(MPI_Comm_set_name(alone, "alone"));
    OK(MPI_Comm_set_name(among, "among"));
    OK(MPI_Comm_set_errhandler(alone, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(among, MPI_ERRORS_RETURN));
    CASE("the only call");
    too_much(alone);
    CASE("a call among others");
    all_well(among);
    too_much(among);
    all_well(among);
    CASE("a call with an invalid argument that one rank makes, and then the right one");
    int own[COUNT] = {0};
    if (check_rank == 1) {
        int all[2 * COUNT], code = MPI_Bcast(own, -1, MPI_INT, 0, among);
        REQUIRE(code != MPI_SUCCESS, "the call was not refused");
        code = MPI_Allgather(own, -1, MPI_INT, all, COUNT, MPI_INT, among);
        REQUIRE(code != MPI_SUCCESS, "the call was not refused");
    }
    OK(MPI_Bcast(own, COUNT, MPI_INT, 0, among));
    all_well(among);
    return check_finish();
}
