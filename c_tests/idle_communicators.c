/* Communicators with calls on them, half of them again later, each rank in some that others are not in; then so many more
 * that private ones have to be given back. Calls on all of the first kind at the end. */
#include "check.h"

enum { USED = 20, MOST = 4000 };
static MPI_Comm used[USED], more[MOST];

static void use(int i) {
    int own = check_rank + i, first = own, sum = 0, size;
    CASE("communicator %d", i);
    PMPI_Comm_size(used[i], &size);
    OK(PMPI_Bcast(&first, 1, MPI_INT, 0, used[i]));
    OK(MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, used[i]));
    REQUIRE(sum == size * first + (size - 1) * size / 2 * (check_size / size), "the sum is %d", sum);
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    const int number = argc > 1 ? atoi(argv[1]) : 0;
    char name[64];
    /* Every third one is of all ranks, the others of half of them: even ones and odd ones. */
    for (int i = 0; i < USED; i++) {
        OK(MPI_Comm_split(MPI_COMM_WORLD, i % 3 ? check_rank % 2 : 0, check_rank, &used[i]));
        snprintf(name, sizeof name, "used %d", i);
        OK(MPI_Comm_set_name(used[i], name));
        for (int call = 0; call < 3; call++) use(i);
    }
    for (int i = 0; i < USED / 2; i++) use(i);
    for (int i = USED; i < number; i++) OK(MPI_Comm_dup(MPI_COMM_WORLD, &more[i]));
    for (int i = 0; i < USED; i++) use(i);
    for (int i = USED; i < number; i++) OK(MPI_Comm_free(&more[i]));
    for (int i = 0; i < USED; i++) OK(MPI_Comm_free(&used[i]));
    return check_finish();
}
