/* As many communicators alive at once as the MPI library has ids for: the private ones must not cost the program any of its own.
 * `NUMBER` of them, or with `most` as many as can be had, each with calls on it; collectives on several hundred of them,
 * also after private ones were given back. `most` prints how many there were. `after`: what an error handler of the program's
 * is told when there is no more, and whether communicators have it. */
#include "check.h"

enum { MOST = 4000, USED = 600, CALLS = 6 };
static MPI_Comm comms[MOST];
static int handled;

static void count(MPI_Comm *comm, int *code, ...) {
    (void)comm, (void)code;
    handled++;
}

static void use(int i) {
    CASE("communicator %d", i);
    for (int call = 0; call < CALLS; call++) {
        int own = i + check_rank + call, sum = -1, first = check_rank == 0 ? i : -1, all[64];
        int expected = (i + call) * check_size + check_size * (check_size - 1) / 2;
        OK(MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comms[i]));
        REQUIRE(sum == expected, "the sum is %d, not %d", sum, expected);
        OK(MPI_Bcast(&first, 1, MPI_INT, 0, comms[i]));
        REQUIRE(first == i, "%d came from the root", first);
        OK(MPI_Allgather(&own, 1, MPI_INT, all, 1, MPI_INT, comms[i]));
        for (int rank = 0; rank < check_size; rank++)
            REQUIRE(all[rank] == own - check_rank + rank, "%d came from rank %d", all[rank], rank);
    }
}

/* One more, made in this or that way; whether it could be. */
static int make(int i) {
    switch (i % 3) {
    case 0: return MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    case 1: return MPI_Comm_split(MPI_COMM_WORLD, 0, check_rank, &comms[i]);
    default: return MPI_Comm_dup(i > 10 ? comms[i - 10] : MPI_COMM_WORLD, &comms[i]);
    }
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    MPI_Errhandler own, found;
    int number = 0, wanted = argc > 1 ? atoi(argv[1]) : 0, alike, code = MPI_SUCCESS;
    OK(MPI_Comm_create_errhandler(count, &own));
    /* With a number, errors are fatal, as a program has it that sets nothing. */
    if (wanted == 0) OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, own));
    while (number < (wanted ? wanted : MOST) && (code = make(number)) == MPI_SUCCESS) {
        if (wanted == 0) {
            OK(MPI_Comm_get_errhandler(comms[number], &found));
            REQUIRE(found == own, "communicator %d has not the error handler of its parent", number);
            OK(MPI_Errhandler_free(&found));
        }
        if (number < USED) use(number);
        number++;
    }
    if (wanted == 0) {
        OK(PMPI_Allreduce(&number, &alike, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
        REQUIRE(number == alike, "%d communicators here, %d elsewhere", number, alike);
        REQUIRE(code != MPI_SUCCESS && handled == 1, "the error handler was called %d times", handled);
        if (check_rank == 0) printf("most: %d\n", number);
    }
    for (int i = 0; i < number; i += number / 100) use(i);
    while (number > 0) OK(MPI_Comm_free(&comms[--number]));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    OK(MPI_Errhandler_free(&own));
    /* There are ids again. */
    OK(make(0));
    use(0);
    OK(MPI_Comm_free(&comms[0]));
    return check_finish();
}
