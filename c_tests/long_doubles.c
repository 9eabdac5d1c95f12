/* Reductions of long doubles, alone, complex, in pairs and in derived types, with something else on every rank in the six
 * bytes of each that belong to nobody. Sums are of whole numbers, so that every order of folds gives the same. */
#include "check.h"
#include <stddef.h>

enum { COUNT = 37 };

typedef struct { long double v; int i; } Pair;
typedef struct { int before; long double v[2]; int after; } Mixed;

/* Operations of the program's: sums. */
static void add_twos(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)type;
    for (int at = 0; at < 2 * *count; at++) ((long double *)inout)[at] += ((long double *)in)[at];
}

static void add_mixed(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)type;
    const Mixed *from = in;
    Mixed *into = inout;
    for (int at = 0; at < *count; at++) {
        into[at].before += from[at].before;
        into[at].v[0] += from[at].v[0];
        into[at].v[1] += from[at].v[1];
        into[at].after += from[at].after;
    }
}

/* Puts a number where a long double goes, with something around its ten bytes that depends on rank and call. */
static void set(void *at, long double value) {
    static int calls;
    memset(at, (7 * ++calls + 41 * check_rank) & 0xFF, sizeof value);
    memcpy(at, &value, 10);
}

static void reduce(const void *from, void *into, MPI_Datatype type, MPI_Op op) {
    OK(MPI_Allreduce(from, into, COUNT, type, op, MPI_COMM_WORLD));
    OK(MPI_Reduce(from, into, COUNT, type, op, check_size - 1, MPI_COMM_WORLD));
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    static long double numbers[2 * COUNT], results[2 * COUNT];
    static Pair pairs[COUNT], best[COUNT];
    static Mixed mixed[COUNT], sums[COUNT];
    memset(results, 0xA5 + check_rank, sizeof results);
    memset(best, 0x5A + check_rank, sizeof best);
    memset(sums, 0x33 + check_rank, sizeof sums);
    for (int at = 0; at < 2 * COUNT; at++) set(&numbers[at], at + check_rank);
    for (int at = 0; at < COUNT; at++) {
        set(&pairs[at].v, at % 3 == check_rank ? 99 : at);
        pairs[at].i = check_rank;
        mixed[at].before = mixed[at].after = at;
        set(&mixed[at].v[0], at);
        set(&mixed[at].v[1], check_rank);
    }
    CASE("alone, complex, in pairs");
    reduce(numbers, results, MPI_LONG_DOUBLE, MPI_SUM);
    reduce(numbers, results, MPI_LONG_DOUBLE, MPI_MAX);
    reduce(numbers, results, MPI_LONG_DOUBLE, MPI_PROD);
    reduce(numbers, results, MPI_C_LONG_DOUBLE_COMPLEX, MPI_SUM);
    reduce(pairs, best, MPI_LONG_DOUBLE_INT, MPI_MAXLOC);
    reduce(pairs, best, MPI_LONG_DOUBLE_INT, MPI_MINLOC);

    CASE("in derived types");
    const int lengths[] = {1, 1, 1};
    const MPI_Aint places[] = {offsetof(Mixed, before), offsetof(Mixed, v), offsetof(Mixed, after)};
    MPI_Datatype twos, record, resized;
    MPI_Op add;
    OK(MPI_Op_create(add_twos, 1, &add));
    OK(MPI_Type_contiguous(2, MPI_LONG_DOUBLE, &twos));
    OK(MPI_Type_commit(&twos));
    reduce(numbers, results, twos, add);
    OK(MPI_Op_free(&add));
    const MPI_Datatype types[] = {MPI_INT, twos, MPI_INT};
    OK(MPI_Op_create(add_mixed, 1, &add));
    OK(MPI_Type_create_struct(3, lengths, places, types, &record));
    OK(MPI_Type_create_resized(record, 0, sizeof(Mixed), &resized));
    OK(MPI_Type_commit(&resized));
    reduce(mixed, sums, resized, add);
    for (int at = 0; at < COUNT && check_rank == check_size - 1; at++) {
        const long double expected = at * check_size, ranks = check_size * (check_size - 1) / 2;
        REQUIRE(sums[at].v[0] == expected && sums[at].v[1] == ranks, "element %d is %Lg, %Lg", at, sums[at].v[0],
                sums[at].v[1]);
    }
    OK(MPI_Op_free(&add));
    OK(MPI_Type_free(&resized));
    OK(MPI_Type_free(&record));
    OK(MPI_Type_free(&twos));
    return check_finish();
}
