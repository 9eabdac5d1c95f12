/* Random calls, one after another without anything between: the operation, its count, root, type, reduction, communicator and
 * whether it is in place are drawn from a seed that all ranks share. Every element of every result is compared with what it has to be.
 *   random_calls [CALLS [SEED]] */
#include "check.h"

enum { BARRIER = OPERATIONS, KINDS, MOST = 300000, COMMUNICATORS = 3, SPARE = 8 };

typedef struct {
    MPI_Datatype type;
    size_t size;
} Type;

typedef struct {
    MPI_Comm comm;
    int rank, size;
} Ranks;

static uint64_t state;

static uint32_t drawn(uint32_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % below);
}

/* Short ones mostly, as programs have them; now and then one of many fills and fragments. */
static int drawn_count(void) {
    uint32_t kind = drawn(1000);
    return (int)drawn(kind < 750 ? 24 : kind < 940 ? 2048 : kind < 998 ? 24000 : MOST);
}

/* What rank `rank` has at `element` in the call, small enough for sums of all ranks to be exact in every type. */
static uint32_t value(uint32_t call, uint32_t rank, uint32_t element) {
    uint32_t mixed = (call * 0x9E3779B9u) ^ (rank * 0x85EBCA6Bu) ^ (element * 0xC2B2AE35u);
    return (mixed ^ mixed >> 15) & 0xFFF;
}

static void set(unsigned char *at, const Type *type, uint32_t to) {
    uint16_t two = (uint16_t)to;
    double eight = to;
    if (type->size == 1) *at = (unsigned char)to;
    else memcpy(at, type->size == 2 ? (void *)&two : type->size == 4 ? (void *)&to : (void *)&eight, type->size);
}

static int is(const unsigned char *at, const Type *type, uint32_t wanted) {
    unsigned char expected[8];
    set(expected, type, wanted);
    return memcmp(at, expected, type->size) == 0;
}

static void fill(unsigned char *buffer, const Type *type, uint32_t call, int rank, int from, int count) {
    for (int k = 0; k < count; k++) set(buffer + (size_t)k * type->size, type, value(call, (uint32_t)rank, (uint32_t)(from + k)));
}

/* `count` elements that rank `rank` had from `from` on. */
static void moved(const unsigned char *buffer, const Type *type, uint32_t call, int rank, int from, int count) {
    for (int k = 0; k < count; k++)
        REQUIRE(is(buffer + (size_t)k * type->size, type, value(call, (uint32_t)rank, (uint32_t)(from + k))),
                "element %d of rank %d's is wrong", k, rank);
}

static void reduced(const unsigned char *buffer, const Type *type, uint32_t call, int size, int count, int most) {
    for (int k = 0; k < count; k++) {
        uint32_t expected = 0;
        for (int r = 0; r < size; r++) {
            uint32_t one = value(call, (uint32_t)r, (uint32_t)k);
            expected = most ? (one > expected ? one : expected) : expected + one;
        }
        REQUIRE(is(buffer + (size_t)k * type->size, type, expected), "element %d is wrong", k);
    }
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    const long calls = argc > 1 ? atol(argv[1]) : 2000;
    state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    const Type types[] = {{MPI_BYTE, 1}, {MPI_UNSIGNED_SHORT, 2}, {MPI_UNSIGNED, 4}, {MPI_DOUBLE, 8}};
    Ranks all[COMMUNICATORS] = {{.comm = MPI_COMM_WORLD}};
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &all[1].comm));
    OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &all[2].comm));
    for (int i = 0; i < COMMUNICATORS; i++) {
        OK(MPI_Comm_rank(all[i].comm, &all[i].rank));
        OK(MPI_Comm_size(all[i].comm, &all[i].size));
    }
    const size_t room = (size_t)check_size * (MOST + 1) * 8 + SPARE;
    unsigned char *send = malloc(room), *receive = malloc(room);
    int *counts = malloc(sizeof(int) * 4 * (size_t)check_size);
    int *places = counts + check_size, *theirs = places + check_size, *their_places = theirs + check_size;
    long barriers = 0;
    for (long number = 0; number < calls; number++) {
        const uint32_t call = (uint32_t)number;
        const Ranks *ranks = &all[drawn(COMMUNICATORS)];
        const int kind = (int)drawn(KINDS), p = ranks->size, r = ranks->rank, root = (int)drawn((uint32_t)p);
        const int reduces = kind == REDUCE || kind == ALLREDUCE, in_place = drawn(4) == 0, most = (int)drawn(2);
        const Type *type = &types[reduces ? 1 + drawn(3) : drawn(4)];
        /* What a rank has for all others together is as long as the message of the others. */
        int count = drawn_count();
        if (kind >= GATHER && kind < BARRIER) count /= p;
        const size_t bytes = (size_t)count * type->size;
        const MPI_Op op = most ? MPI_MAX : MPI_SUM;
        CASE("call %ld, %s of %d elements of %zu bytes, root %d", number, kind < OPERATIONS ? check_names[kind] : "barrier", count,
             type->size, root);
        unsigned char *own = in_place ? receive : send, *end = NULL;
        void *from = in_place ? MPI_IN_PLACE : send;
        switch (kind) {
        case BCAST:
            fill(receive, type, call, r, 0, count);
            end = receive + bytes;
            set(end, &types[0], 0xA5);
            OK(MPI_Bcast(receive, count, type->type, root, ranks->comm));
            moved(receive, type, call, root, 0, count);
            break;
        case REDUCE:
            if (r != root) own = send, from = send;
            fill(own, type, call, r, 0, count);
            end = receive + bytes;
            set(end, &types[0], 0xA5);
            OK(MPI_Reduce(from, receive, count, type->type, op, root, ranks->comm));
            if (r == root) reduced(receive, type, call, p, count, most);
            break;
        case ALLREDUCE:
            fill(own, type, call, r, 0, count);
            end = receive + bytes;
            set(end, &types[0], 0xA5);
            OK(MPI_Allreduce(from, receive, count, type->type, op, ranks->comm));
            reduced(receive, type, call, p, count, most);
            break;
        case GATHER:
        case ALLGATHER: {
            const int gets = kind == ALLGATHER || r == root;
            if (!gets) own = send, from = send;
            fill(own == receive ? receive + bytes * (size_t)r : send, type, call, r, 0, count);
            end = receive + bytes * (size_t)p;
            set(end, &types[0], 0xA5);
            if (kind == GATHER) OK(MPI_Gather(from, count, type->type, receive, count, type->type, root, ranks->comm));
            else OK(MPI_Allgather(from, count, type->type, receive, count, type->type, ranks->comm));
            for (int o = 0; gets && o < p; o++) moved(receive + bytes * (size_t)o, type, call, o, 0, count);
            break;
        }
        case SCATTER: {
            const int stays = in_place && r == root;
            if (r == root) fill(send, type, call, r, 0, count * p);
            end = receive + bytes;
            set(end, &types[0], 0xA5);
            OK(MPI_Scatter(send, count, type->type, stays ? MPI_IN_PLACE : receive, count, type->type, root, ranks->comm));
            if (!stays) moved(receive, type, call, root, count * r, count);
            break;
        }
        case ALLTOALL:
            fill(own, type, call, r, 0, count * p);
            end = receive + bytes * (size_t)p;
            set(end, &types[0], 0xA5);
            OK(MPI_Alltoall(from, count, type->type, receive, count, type->type, ranks->comm));
            for (int o = 0; o < p; o++) moved(receive + bytes * (size_t)o, type, call, o, count * r, count);
            break;
        case ALLTOALLV:
            /* From rank a to rank b go so many elements as depends on both. */
            for (int o = 0, sent = 0, got = 0; o < p; o++) {
                counts[o] = count * ((r + 2 * o) % 3) / 2, theirs[o] = count * ((o + 2 * r) % 3) / 2;
                places[o] = sent, their_places[o] = got;
                sent += counts[o], got += theirs[o];
                if (o == p - 1) end = receive + (size_t)got * type->size;
                fill(send + (size_t)places[o] * type->size, type, call, r, o * MOST, counts[o]);
            }
            set(end, &types[0], 0xA5);
            OK(MPI_Alltoallv(send, counts, places, type->type, receive, theirs, their_places, type->type, ranks->comm));
            for (int o = 0; o < p; o++)
                moved(receive + (size_t)their_places[o] * type->size, type, call, o, r * MOST, theirs[o]);
            break;
        default:
            OK(MPI_Barrier(ranks->comm));
            barriers++;
        }
        REQUIRE(!end || is(end, &types[0], 0xA5), "written beyond the end");
    }
    if (check_rank == 0) printf("check: barrier calls %ld\n", barriers * check_size);
    for (int i = 1; i < COMMUNICATORS; i++) OK(MPI_Comm_free(&all[i].comm));
    free(send);
    free(receive);
    free(counts);
    return check_finish();
}
