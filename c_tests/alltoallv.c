/* MPI_Alltoallv against PMPI_Alltoallv: counts of many patterns, some of them zero, some all; blocks in rank order and in
 * others, with gaps between them and below the address passed; types that differ between the sides, and between the ranks;
 * in place; canaries around, between and inside the blocks. Each call comes back with other data, and with other counts in
 * the same arrays.
 *
 * Arguments: "alltoallv" and "thin" for fewer types and sizes, as the other programs have it. */
#include "check.h"
#include "types.h"

enum { MOST_RANKS = 64, TIMES = 3 };

/* One side of a call: so many elements of a type make one unit of what both sides count in. */
typedef struct {
    MPI_Datatype type;
    int elements;
} Side;

typedef enum { UNEVEN, SPARSE, ONE_SILENT, STAR, TRIANGLE, LONG, NOTHING, PATTERNS } Pattern;
static const char *const pattern_names[] = {"uneven",   "sparse", "one rank with nothing", "all with one",
                                            "triangle", "long",   "nothing"};

typedef enum { IN_ORDER, BACKWARDS, SCATTERED, BELOW, LAYOUTS } Layout;
static const char *const layout_names[] = {"in order", "backwards", "scattered", "below"};

/* What both sides and all rounds have: arrays that keep their addresses. */
static int send_counts[MOST_RANKS], send_places[MOST_RANKS], receive_counts[MOST_RANKS], receive_places[MOST_RANKS];

static unsigned mixed(unsigned a, unsigned b, unsigned c) {
    unsigned hash = (a * 73856093u) ^ (b * 19349663u) ^ (c * 83492791u);
    hash ^= hash >> 13;
    hash *= 2654435761u;
    return hash >> 8;
}

/* Units that rank `from` sends to rank `to`. */
static int units(Pattern pattern, int from, int to, int size, unsigned turn) {
    switch (pattern) {
    case UNEVEN: return mixed(from, to, turn) % 9;
    case SPARSE: return mixed(from, to, turn) % 4 ? 0 : 5;
    case ONE_SILENT: return from == (int)(turn % size) || to == (int)(turn % size) ? 0 : 1 + (from + to) % 3;
    case STAR: return from == 0 || to == 0 ? 3 : 0;
    case TRIANGLE: return from <= to ? 4 : 0;
    case LONG: return mixed(from, to, turn) % 3 ? 700 + mixed(from, to, turn + 1) % 900 : 0;
    default: return 0;
    }
}

static int pair_units(Pattern pattern, int from, int to, int size, unsigned turn, int in_place) {
    if (!in_place || from < to) return units(pattern, from, to, size, turn);
    return units(pattern, to, from, size, turn);
}

/* Lays the blocks of one side out; the elements that they reach over, gaps included. */
static int lay_out(Layout layout, const int *counts, int *places, int size, int rank) {
    int end = 0;
    for (int i = 0; i < size; i++) {
        int block = layout == BACKWARDS ? size - 1 - i : i;
        if (layout == SCATTERED || layout == BELOW) {
            /* An odd step goes through a power of two, and 1 through everything else. */
            int step = (size & (size - 1)) == 0 ? 5 : 1;
            block = (rank + i * step) % size;
            end += (rank + i) % 3;
        }
        /* Where a block is that has nothing means nothing. */
        places[block] = counts[block] ? end : -1000000 + i;
        end += counts[block];
    }
    return end;
}

/* Bytes outside the blocks are still what `seed` filled in. */
static void check_between(Memory memory, MPI_Datatype type, const int *counts, const int *places, char *base, int size,
                          unsigned seed) {
    int bytes;
    MPI_Aint lower, extent;
    PMPI_Type_size(type, &bytes);
    PMPI_Type_get_extent(type, &lower, &extent);
    unsigned char *mask = calloc(memory.size, 1);
    for (int i = 0; i < size; i++) {
        size_t total = (size_t)bytes * (size_t)counts[i];
        if (total == 0) continue;
        unsigned char *ones = malloc(total);
        memset(ones, 0xff, total);
        int position = 0;
        char *at = base + places[i] * extent;
        PMPI_Unpack(ones, (int)total, &position, mask + (at - (char *)memory.base), counts[i], type, MPI_COMM_SELF);
        free(ones);
    }
    Memory fresh = {.base = malloc(memory.size), .size = memory.size};
    check_fill(fresh, seed);
    const size_t i = check_outside(mask, memory.base, fresh.base, memory.size);
    if (i < memory.size)
        fail("byte %zu outside the blocks was 0x%02x and is 0x%02x", i, fresh.base[i], memory.base[i]);
    free(mask);
    free(fresh.base);
}

static const char *label;
static int interleaved(MPI_Datatype type) {
    MPI_Aint lower, extent, true_lower, true_extent;
    PMPI_Type_get_extent(type, &lower, &extent);
    PMPI_Type_get_true_extent(type, &true_lower, &true_extent);
    return extent < true_extent;
}

static void one(Side send, Side receive, Pattern pattern, Layout layout, int in_place, unsigned turn, MPI_Comm comm,
                int rank, int size) {
    for (int i = 0; i < size; i++) {
        send_counts[i] = send.elements * pair_units(pattern, rank, i, size, turn, in_place);
        receive_counts[i] = receive.elements * pair_units(pattern, i, rank, size, turn, in_place);
    }
    int sends = lay_out(layout, send_counts, send_places, size, rank);
    int receives = lay_out(layout, receive_counts, receive_places, size, rank + 1);
    /* Elements that reach into one another have room for so many only. */
    int overlap = (interleaved(send.type) && sends > INTERLEAVE) || (interleaved(receive.type) && receives > INTERLEAVE);
    PMPI_Allreduce(MPI_IN_PLACE, &overlap, 1, MPI_INT, MPI_MAX, comm);
    if (overlap) return;
    CASE("MPI_Alltoallv of %s, %s, %s: p %d%s, turn %u", label, pattern_names[pattern], layout_names[layout], size,
         in_place ? ", in place" : "", turn);
    const unsigned send_seed = 100 + rank + 7 * turn, seed = 300 + rank + 7 * turn;
    Memory from = check_memory(send.type, sends, send_seed);
    Memory ours = check_memory(receive.type, receives, seed), native = check_memory(receive.type, receives, seed);
    MPI_Aint lower, send_extent, receive_extent;
    PMPI_Type_get_extent(send.type, &lower, &send_extent);
    PMPI_Type_get_extent(receive.type, &lower, &receive_extent);
    int send_shift = layout == BELOW ? sends / 2 : 0, receive_shift = layout == BELOW ? receives : 0;
    for (int i = 0; i < size; i++) {
        send_places[i] -= send_shift;
        receive_places[i] -= receive_shift;
    }
    char *send_at = (char *)from.at + send_shift * send_extent;
    char *ours_at = (char *)ours.at + receive_shift * receive_extent;
    char *native_at = (char *)native.at + receive_shift * receive_extent;
    if (in_place) {
        /* Not looked at. */
        OK(MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, ours_at, receive_counts, receive_places,
                         receive.type, comm));
        OK(PMPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, native_at, receive_counts, receive_places,
                          receive.type, comm));
    } else {
        OK(MPI_Alltoallv(send_at, send_counts, send_places, send.type, ours_at, receive_counts, receive_places,
                         receive.type, comm));
        OK(PMPI_Alltoallv(send_at, send_counts, send_places, send.type, native_at, receive_counts, receive_places,
                          receive.type, comm));
    }
    check_same(ours.base, native.base, ours.size, sizeof(int));
    check_between(ours, receive.type, receive_counts, receive_places, ours_at, size, seed);
    Memory fresh = check_memory(send.type, sends, send_seed);
    REQUIRE(memcmp(fresh.base, from.base, from.size) == 0, "the send buffer was written");
    check_free(fresh);
    check_free(from);
    check_free(ours);
    check_free(native);
}

static Derived types[DERIVED_MAX];
static int type_count, thin;

/* Every pattern in every layout, in place or not; in turns, so that counts change in arrays that stay where they are, and
 * come back. */
static void patterns(Side send, Side receive, MPI_Comm comm, int rank, int size) {
    for (int pattern = 0; pattern < PATTERNS; pattern++) {
        if (thin && pattern == LONG && send.type != MPI_INT) continue;
        for (int layout = 0; layout < LAYOUTS; layout++) {
            if (thin && (layout + pattern) % 2) continue;
            for (int time = 0; time < TIMES; time++)
                for (unsigned turn = 0; turn < 2; turn++) {
                    one(send, receive, pattern, layout, 0, turn, comm, rank, size);
                    if (send.type == receive.type) one(receive, receive, pattern, layout, 1, turn, comm, rank, size);
                }
        }
    }
}

static void body(MPI_Comm comm, int rank, int size) {
    if (size > MOST_RANKS) return;
    label = "MPI_INT";
    patterns((Side){MPI_INT, 1}, (Side){MPI_INT, 1}, comm, rank, size);
    label = "MPI_DOUBLE";
    patterns((Side){MPI_DOUBLE, 1}, (Side){MPI_DOUBLE, 1}, comm, rank, size);
    for (int t = 0; t < type_count; t++) {
        const int ints = types[t].ints;
        if (thin && t % 3 != size % 3) continue;
        label = types[t].name;
        Side derived = {types[t].type, 1}, row = {MPI_INT, ints};
        for (Layout layout = 0; layout < LAYOUTS; layout++) {
            const Pattern pattern = layout % 2 ? UNEVEN : SPARSE;
            for (int time = 0; time < 2; time++) {
                one(derived, derived, pattern, layout, 0, 3, comm, rank, size);
                one(derived, derived, pattern, layout, 1, 3, comm, rank, size);
                if (ints == 0) continue;
                one(row, derived, pattern, layout, 0, 4, comm, rank, size);
                one(derived, row, pattern, layout, 0, 5, comm, rank, size);
                /* Each rank its own way to lay the same ints out. */
                Side mine = rank % 2 ? derived : row, other = rank % 3 ? row : derived;
                one(mine, other, pattern, layout, 0, 6, comm, rank, size);
            }
        }
    }
}

#if MPI_VERSION >= 4
/* The large-count form, whose arrays are of other types. */
static void large_counts(MPI_Comm comm, int rank, int size) {
    static MPI_Count counts[MOST_RANKS];
    static MPI_Aint places[MOST_RANKS];
    static int from[MOST_RANKS], into[MOST_RANKS];
    if (size > MOST_RANKS) return;
    for (int time = 0; time < 2 * TIMES; time++) {
        CASE("MPI_Alltoallv_c: p %d, time %d", size, time);
        for (int i = 0; i < size; i++) {
            counts[i] = (rank + i + time / 2) % 3 > 0;
            places[i] = size - 1 - i;
            from[size - 1 - i] = 1000 * time + 10 * rank + i;
            into[i] = -1;
        }
        OK(MPI_Alltoallv_c(from, counts, places, MPI_INT, into, counts, places, MPI_INT, comm));
        for (int i = 0; i < size; i++) {
            int expected = counts[i] ? 1000 * time + 10 * i + rank : -1;
            REQUIRE(into[places[i]] == expected, "rank %d sent %d, not %d", i, into[places[i]], expected);
        }
    }
}
#endif

/* Communicators in turns, with one set of arrays for all of them. */
static void in_turns(void) {
    MPI_Comm comms[3] = {MPI_COMM_WORLD};
    label = "MPI_INT";
    OK(MPI_Comm_split(MPI_COMM_WORLD, check_rank / 2, check_rank, &comms[1]));
    OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &comms[2]));
    for (unsigned turn = 0; turn < 24; turn++) {
        int rank, size;
        MPI_Comm_rank(comms[turn % 3], &rank);
        MPI_Comm_size(comms[turn % 3], &size);
        one((Side){MPI_INT, 1}, (Side){MPI_INT, 1}, UNEVEN, IN_ORDER, 0, turn % 2, comms[turn % 3], rank, size);
    }
    OK(MPI_Comm_free(&comms[1]));
    OK(MPI_Comm_free(&comms[2]));
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    if (check_size > MOST_RANKS) return 1;
    type_count = derived_types(types);
    thin = check_thin(argc, argv);
    check_on_parts(body);
    in_turns();
#if MPI_VERSION >= 4
    check_on_parts(large_counts);
#endif
    derived_free(types, type_count);
    return check_finish();
}
