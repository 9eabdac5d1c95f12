/* Each call several times over with the same arguments and other values, short and long, in place or not, from the first
 * and the last root in turns, on several communicators in turns, and with buffers that are one where the native library takes
 * that: what Collie does again without asking must give what it gave before. Results are whole numbers and known.
 *
 * Arguments: operations with commas between them, or none for all; "thin" for fewer counts; "often" for so many rounds that
 * whoever learns while the program runs has something to learn from, without buffers that are one: the native library takes part,
 * which may take such and give a wrong result. */
#include "check.h"

enum { TIMES = 4, MOST = 3000, RANKS = 8, COMMUNICATORS = 3 };

static double own[MOST * RANKS], result[MOST * RANKS];
static MPI_Comm comm;
static int rank, size, count, root, round_number, accepts_aliases[OPERATIONS];

static double value(int of, int i) { return 1000 * round_number + 10 * of + i % 7; }

static void fill(double *to, int of) {
    for (int i = 0; i < count; i++) to[i] = value(of, i);
}

static void expect(const double *from, int of, const char *name) {
    for (int i = 0; i < count; i++)
        REQUIRE(from[i] == value(of, i), "%s: element %d of rank %d is %g, not %g", name, i, of, from[i], value(of, i));
}

static void expect_blocks(const char *name) {
    for (int of = 0; of < size; of++) expect(result + of * count, of, name);
}

static void expect_sum(const char *name) {
    for (int i = 0; i < count; i++) {
        double sum = 0;
        for (int of = 0; of < size; of++) sum += value(of, i);
        REQUIRE(result[i] == sum, "%s: element %d is %g, not %g", name, i, result[i], sum);
    }
}

/* How a contribution is passed: in a buffer of its own, as MPI_IN_PLACE, or by the address of its place in the result. */
typedef enum { APART, IN_PLACE, ALIASED } Passed;
static const char *const passed_names[] = {"apart", "in place", "aliased"};

static const void *from(Passed passed, const void *place) {
    return passed == APART ? own : passed == IN_PLACE ? MPI_IN_PLACE : place;
}

static void allreduce(Passed passed) {
    fill(own, rank);
    fill(result, rank);
    OK(MPI_Allreduce(from(passed, result), result, count, MPI_DOUBLE, MPI_SUM, comm));
    expect_sum("MPI_Allreduce");
}

static void reduce(Passed passed) {
    fill(own, rank);
    fill(result, rank);
    OK(MPI_Reduce(rank == root ? from(passed, result) : own, result, count, MPI_DOUBLE, MPI_SUM, root, comm));
    if (rank == root) expect_sum("MPI_Reduce");
}

static void bcast(Passed passed) {
    (void)passed;
    memset(result, 0, sizeof(double) * count);
    if (rank == root) fill(result, root);
    OK(MPI_Bcast(result, count, MPI_DOUBLE, root, comm));
    expect(result, root, "MPI_Bcast");
}

static void allgather(Passed passed) {
    double *mine = result + rank * count;
    memset(result, 0, sizeof(double) * count * size);
    fill(own, rank);
    fill(mine, rank);
    OK(MPI_Allgather(from(passed, mine), count, MPI_DOUBLE, result, count, MPI_DOUBLE, comm));
    expect_blocks("MPI_Allgather");
}

static void gather(Passed passed) {
    double *mine = result + rank * count;
    memset(result, 0, sizeof(double) * count * size);
    fill(own, rank);
    fill(mine, rank);
    const void *contribution = rank == root ? from(passed, mine) : own;
    OK(MPI_Gather(contribution, count, MPI_DOUBLE, result, count, MPI_DOUBLE, root, comm));
    if (rank == root) expect_blocks("MPI_Gather");
}

static void scatter(Passed passed) {
    double *into = rank == root && passed == ALIASED ? own + rank * count : result;
    for (int of = 0; of < size; of++) fill(own + of * count, of);
    memset(result, 0, sizeof(double) * count);
    void *given = rank == root && passed == IN_PLACE ? MPI_IN_PLACE : into;
    OK(MPI_Scatter(own, count, MPI_DOUBLE, given, count, MPI_DOUBLE, root, comm));
    if (given == into) expect(into, rank, "MPI_Scatter");
}

/* What rank `of` has for rank `to` is the contribution of a rank that there is not. */
static int pair(int of, int to) { return RANKS * of + to; }

static void alltoall(Passed passed) {
    double *contribution = passed == APART ? own : result;
    for (int to = 0; to < size; to++) fill(contribution + to * count, pair(rank, to));
    OK(MPI_Alltoall(from(passed, result), count, MPI_DOUBLE, result, count, MPI_DOUBLE, comm));
    for (int of = 0; of < size; of++) expect(result + of * count, pair(of, rank), "MPI_Alltoall");
}

/* Elements between two ranks, all of them in `count`: they change every second round, in arrays that stay where they are,
 * and come back. */
static int elements(int of, int to) { return count - (of + to + round_number / 6) % 3 * count / 2; }

static void alltoallv(Passed passed) {
    static int sent[RANKS], received[RANKS], places[RANKS], far_places[RANKS];
    double *contribution = passed == APART ? own : result;
    const int whole = count;
    for (int other = 0; other < size; other++) {
        sent[other] = elements(rank, other);
        received[other] = elements(other, rank);
        places[other] = whole * other;
        far_places[other] = whole * (size - 1 - other);
    }
    const int *into = passed == APART ? far_places : places;
    memset(result, 0, sizeof(double) * count * size);
    for (int to = 0; to < size; to++) fill(contribution + places[to], pair(rank, to));
    OK(MPI_Alltoallv(from(passed, result), sent, places, MPI_DOUBLE, result, received, into, MPI_DOUBLE, comm));
    for (int of = 0; of < size; of++) {
        count = received[of];
        expect(result + into[of], pair(of, rank), "MPI_Alltoallv");
        count = whole;
        for (int i = received[of]; i < whole; i++) {
            double before = passed == APART ? 0 : value(pair(rank, of), i);
            REQUIRE(result[into[of] + i] == before, "element %d behind the block of rank %d was written", i, of);
        }
    }
}

typedef struct {
    int operation;
    void (*call)(Passed passed);
} Case;

static const Case cases[] = {{ALLREDUCE, allreduce}, {REDUCE, reduce},   {BCAST, bcast},      {ALLGATHER, allgather},
                             {GATHER, gather},       {SCATTER, scatter}, {ALLTOALL, alltoall},
                             {ALLTOALLV, alltoallv}};

/* What the native library says of one element whose place in the result is passed as the contribution. */
static void ask(void) {
    MPI_Comm alone;
    double x = 0;
    OK(MPI_Comm_dup(MPI_COMM_SELF, &alone));
    OK(MPI_Comm_set_errhandler(alone, MPI_ERRORS_RETURN));
    accepts_aliases[REDUCE] = PMPI_Reduce(&x, &x, 1, MPI_DOUBLE, MPI_SUM, 0, alone) == MPI_SUCCESS;
    accepts_aliases[ALLREDUCE] = PMPI_Allreduce(&x, &x, 1, MPI_DOUBLE, MPI_SUM, alone) == MPI_SUCCESS;
    accepts_aliases[GATHER] = PMPI_Gather(&x, 1, MPI_DOUBLE, &x, 1, MPI_DOUBLE, 0, alone) == MPI_SUCCESS;
    accepts_aliases[SCATTER] = PMPI_Scatter(&x, 1, MPI_DOUBLE, &x, 1, MPI_DOUBLE, 0, alone) == MPI_SUCCESS;
    accepts_aliases[ALLGATHER] = PMPI_Allgather(&x, 1, MPI_DOUBLE, &x, 1, MPI_DOUBLE, alone) == MPI_SUCCESS;
    /* With two arrays of counts MPICH does not see it, and ends in the middle. */
    int one = 1, place = 0;
    accepts_aliases[ALLTOALLV] =
        PMPI_Alltoallv(&x, &one, &place, MPI_DOUBLE, &x, &one, &place, MPI_DOUBLE, alone) == MPI_SUCCESS;
    OK(MPI_Comm_free(&alone));
}

static int has(Passed passed, int operation) {
    if (passed == APART) return 1;
    if (operation == BCAST) return 0;
    return passed == IN_PLACE || (count == 1 && accepts_aliases[operation]);
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    /* Around the limits of messages that travel as one, as two, and as many; the last three are those of a thin run. */
    static const int counts[] = {8, 9, 16, 17, 32, 64, 65, 125, 126, MOST, 1, 33, 300};
    const int all = sizeof counts / sizeof *counts, first = check_thin(argc, argv) ? all - 3 : 0;
    int often = 0;
    for (int i = 1; i < argc; i++) often |= strcmp(argv[i], "often") == 0;
    const int times = often ? 200 : TIMES;
    const Passed last = often ? IN_PLACE : ALIASED;
    if (check_size > RANKS) return 1;
    ask();
    /* The world, its ranks two by two, and in the opposite order: as rows and columns in turns. */
    MPI_Comm comms[COMMUNICATORS] = {MPI_COMM_WORLD};
    OK(MPI_Comm_split(MPI_COMM_WORLD, check_rank / 2, check_rank, &comms[1]));
    OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &comms[2]));
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        if (!check_wanted(argc, argv, cases[c].operation)) continue;
        for (int number = first; number < all; number++)
            for (Passed passed = APART; passed <= last; passed++)
                for (int round = 0; round < (cases[c].operation == ALLTOALLV ? 6 : 2) * times; round++)
                    for (int in_turn = 0; in_turn < COMMUNICATORS; in_turn++) {
                        comm = comms[in_turn];
                        MPI_Comm_rank(comm, &rank);
                        MPI_Comm_size(comm, &size);
                        count = counts[number];
                        round_number = 3 * round + in_turn;
                        root = round % 2 ? size - 1 : 0;
                        if (!has(passed, cases[c].operation)) continue;
                        CASE("MPI_%s of %d numbers, communicator %d, root %d, %s, round %d",
                             check_names[cases[c].operation], count, in_turn, root, passed_names[passed], round);
                        cases[c].call(passed);
                    }
    }
    OK(MPI_Comm_free(&comms[1]));
    OK(MPI_Comm_free(&comms[2]));
    return check_finish();
}
