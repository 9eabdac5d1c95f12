/* bcast, gather, scatter, allgather, alltoall against PMPI: every root, counts around the number of ranks, derived types on either
 * side, in place, about one mebibyte; canaries around and inside the receive buffer. */
#include "check.h"
#include "types.h"

typedef struct {
    int operation;
    const char *label;
    int root, in_place, send_count, receive_count;
    MPI_Datatype send_type, receive_type;
} Movement;

static int call(const Movement *m, int native, void *send, void *receive, MPI_Comm comm) {
#define CALL(name, ...) return native ? PMPI_##name(__VA_ARGS__) : MPI_##name(__VA_ARGS__)
    switch (m->operation) {
    case BCAST: CALL(Bcast, receive, m->receive_count, m->receive_type, m->root, comm);
    case GATHER:
        CALL(Gather, send, m->send_count, m->send_type, receive, m->receive_count, m->receive_type, m->root, comm);
    case SCATTER:
        CALL(Scatter, send, m->send_count, m->send_type, receive, m->receive_count, m->receive_type, m->root, comm);
    case ALLTOALL: CALL(Alltoall, send, m->send_count, m->send_type, receive, m->receive_count, m->receive_type, comm);
    default: CALL(Allgather, send, m->send_count, m->send_type, receive, m->receive_count, m->receive_type, comm);
    }
#undef CALL
}

static void one(const Movement *m, MPI_Comm comm, int rank, int size) {
    const int at_root = rank == m->root;
    int sends = m->operation == BCAST ? 0 : m->send_count, receives = m->receive_count;
    if (m->operation == SCATTER) sends = at_root ? sends * size : 0;
    if (m->operation == ALLTOALL) sends *= size;
    if (m->operation == ALLGATHER || m->operation == ALLTOALL || (m->operation == GATHER && at_root)) receives *= size;
    if (m->operation == GATHER && !at_root) receives = 0;
    CASE("MPI_%s of %s: p %d, root %d, counts %d %d%s", check_names[m->operation], m->label, size, m->root,
         m->send_count, m->receive_count, m->in_place ? ", in place" : "");
    const unsigned send_seed = 100 + rank, seed = 300 + rank;
    Memory send = check_memory(m->send_type, sends, send_seed);
    Memory ours = check_memory(m->receive_type, receives, seed), native = check_memory(m->receive_type, receives, seed);
    void *from = send.at, *into = ours.at, *native_into = native.at;
    if (m->in_place && (m->operation == ALLGATHER || m->operation == ALLTOALL)) from = MPI_IN_PLACE;
    if (m->in_place && m->operation == GATHER && at_root) from = MPI_IN_PLACE;
    if (m->in_place && m->operation == SCATTER && at_root) into = native_into = MPI_IN_PLACE;
    OK(call(m, 0, from, into, comm));
    OK(call(m, 1, from, native_into, comm));
    check_same(ours.base, native.base, ours.size, sizeof(int));
    if (!(m->operation == BCAST && at_root) && into != MPI_IN_PLACE)
        check_gaps(ours, m->receive_type, receives, seed);
    Memory fresh = check_memory(m->send_type, sends, send_seed);
    REQUIRE(memcmp(fresh.base, send.base, send.size) == 0, "the send buffer was written");
    check_free(fresh);
    check_free(send);
    check_free(ours);
    check_free(native);
}

static Derived types[DERIVED_MAX];
static int type_count;
static int wanted;

static int fits(MPI_Datatype type, long count) {
    for (int i = 0; i < type_count; i++)
        if (types[i].type == type && strcmp(types[i].name, "resized smaller") == 0) return count <= INTERLEAVE;
    return 1;
}

/* With the argument "thin": roots other than the first and the last take turns with counts of MPI_INT, all roots with
 * counts of derived types, and calls in place with others. */
static int thin;
/* Calls so far on this communicator. */
static int turn;

static void both_places(Movement m, MPI_Comm comm, int rank, int size) {
    int blocks = m.operation == BCAST ? 1 : size;
    if (!fits(m.send_type, (long)m.send_count * blocks) || !fits(m.receive_type, (long)m.receive_count * blocks)) return;
    for (m.in_place = 0; m.in_place <= (m.operation != BCAST); m.in_place++)
        if (!thin || m.operation == BCAST || m.in_place == turn % 2) one(&m, comm, rank, size);
    turn++;
}

static void body(MPI_Comm comm, int rank, int size) {
    const int roots = wanted == ALLGATHER || wanted == ALLTOALL ? 1 : size;
    const int counts[] = {0, 1, size - 1, size, size + 1, 1009};
    turn = size / 2;
    for (int root = 0; root < roots; root++) {
        Movement m = {.operation = wanted, .root = root};
        m.label = "MPI_INT";
        m.send_type = m.receive_type = MPI_INT;
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            if (thin && root != 0 && root != size - 1 && (root + c) % 3 != 0) continue;
            m.send_count = m.receive_count = counts[c];
            both_places(m, comm, rank, size);
        }
        /* Each type at one root, each root with some types. */
        for (int t = root; t < type_count; t += roots) {
            const int ints = types[t].ints;
            for (int count = 1; count <= 31; count += 30) {
                if (thin && (root + t / roots) % 2 == (count == 1)) continue;
                m.label = types[t].name;
                m.send_count = m.receive_count = count;
                m.send_type = m.receive_type = types[t].type;
                both_places(m, comm, rank, size);
                if (ints == 0 || wanted == BCAST) continue;
                m.send_type = MPI_INT;
                m.send_count = count * ints;
                both_places(m, comm, rank, size);
                m.send_type = types[t].type;
                m.receive_type = MPI_INT;
                m.send_count = count;
                m.receive_count = count * ints;
                both_places(m, comm, rank, size);
            }
        }
        if (root == 0 || root == size - 1) {
            m.label = "MPI_INT";
            m.send_type = m.receive_type = MPI_INT;
            m.send_count = m.receive_count = wanted == BCAST ? 262147 : 262147 / size;
            both_places(m, comm, rank, size);
            m.label = types[1].name;
            m.send_type = m.receive_type = types[1].type;
            m.send_count = m.receive_count = 32771 / size;
            both_places(m, comm, rank, size);
        }
    }
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    type_count = derived_types(types);
    thin = check_thin(argc, argv);
    const int operations[] = {BCAST, GATHER, SCATTER, ALLGATHER, ALLTOALL};
    for (int i = 0; i < 5; i++) {
        wanted = operations[i];
        if (check_wanted(argc, argv, wanted)) check_on_parts(body);
    }
    derived_free(types, type_count);
    return check_finish();
}
