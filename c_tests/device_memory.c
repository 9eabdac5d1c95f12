/* Buffers in memory that a stand-in for CUDA's driver library owns: device_runtime.c, its path the first argument, loaded by
 * the ranks from the second argument on, in the middle of the first case. Each case has a communicator of its own, whose name is
 * the case's; calls with buffers in host memory come first. In as many of the next calls as the third argument says, nobody but
 * the stand-in can touch its memory, the first case left out if there is a fourth. The output says of each case whether any rank
 * then had a buffer that is owned, how many calls all ranks made before that and from then on, and of how many of the latter a
 * rank had a buffer copied; the report, whose they were. */
#define _GNU_SOURCE
#include "check.h"
#include <dlfcn.h>

#define ELEMENTS 16
#define HOST_CALLS 3
#define AFTER_CALLS 4

static void *(*device_take)(size_t), *(*managed_take)(size_t);
static void (*device_give_all_back)(void);
static long (*device_asked)(void), (*device_copied)(void);
static void (*device_lock)(int);
static int (*device_contexts)(void);
static int has_runtime;
/* Whether the memory is locked during calls. */
static int locking;
/* Calls of which this rank had a buffer copied. */
static int copies;

/* A call of MPI, during which the memory may be locked. */
#define LOCKED(call)                                                                                                               \
    do {                                                                                                                           \
        long copied = has_runtime ? device_copied() : 0;                                                                           \
        if (has_runtime) device_lock(locking);                                                                                     \
        OK(call);                                                                                                                  \
        if (has_runtime) device_lock(0);                                                                                           \
        copies += has_runtime && device_copied() > copied;                                                                         \
    } while (0)

static void load(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        PMPI_Abort(MPI_COMM_WORLD, 4);
    }
    *(void **)&device_take = dlsym(library, "device_take");
    *(void **)&managed_take = dlsym(library, "managed_take");
    *(void **)&device_give_all_back = dlsym(library, "device_give_all_back");
    *(void **)&device_asked = dlsym(library, "device_asked");
    *(void **)&device_copied = dlsym(library, "device_copied");
    *(void **)&device_contexts = dlsym(library, "device_contexts");
    *(void **)&device_lock = dlsym(library, "device_lock");
    has_runtime = 1;
}

/* Room for `count` ints that are claimed if `claimed` and this rank can, on the host otherwise. */
static int *room(int claimed, int count) {
    static int host[1 << 14];
    static int used;
    if (claimed && has_runtime) return device_take((size_t)count * sizeof(int));
    if (used + count > 1 << 14) used = 0;
    used += count;
    return host + used - count;
}

static int *filled(int *at, int count, int first) {
    for (int i = 0; i < count; i++) at[i] = first + i;
    return at;
}

static void expect(const int *found, int count, int first, int step) {
    for (int i = 0; i < count; i++) REQUIRE(found[i] == first + step * i, "element %d is %d", i, found[i]);
}

/* One call, with buffers that are claimed where that is wanted. */
static void use(int call, MPI_Comm comm, int claimed) {
    int rank, size, sum = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < size; i++) sum += 100 * i;
    int *own = filled(room(claimed, ELEMENTS), ELEMENTS, 100 * rank), *all = room(claimed, size * ELEMENTS);
    switch (call % 6) {
    case 0:
        LOCKED(MPI_Allreduce(own, all, ELEMENTS, MPI_INT, MPI_SUM, comm));
        expect(all, ELEMENTS, sum, size);
        break;
    case 1:
        LOCKED(MPI_Bcast(own, ELEMENTS, MPI_INT, 1, comm));
        expect(own, ELEMENTS, 100, 1);
        break;
    case 2:
        LOCKED(MPI_Allgather(own, ELEMENTS, MPI_INT, all, ELEMENTS, MPI_INT, comm));
        for (int i = 0; i < size; i++) expect(all + i * ELEMENTS, ELEMENTS, 100 * i, 1);
        break;
    case 3:
        LOCKED(MPI_Reduce(own, rank == 0 ? all : NULL, ELEMENTS, MPI_INT, MPI_SUM, 0, comm));
        if (rank == 0) expect(all, ELEMENTS, sum, size);
        break;
    case 4:
        LOCKED(MPI_Gather(own, ELEMENTS, MPI_INT, all, ELEMENTS, MPI_INT, 0, comm));
        for (int i = 0; i < size && rank == 0; i++) expect(all + i * ELEMENTS, ELEMENTS, 100 * i, 1);
        break;
    default:
        filled(all, size * ELEMENTS, 7);
        LOCKED(MPI_Scatter(all, ELEMENTS, MPI_INT, own, ELEMENTS, MPI_INT, 0, comm));
        expect(own, ELEMENTS, 7 + ELEMENTS * rank, 1);
    }
}

static int nobody(int rank) { return rank < 0; }
static int everybody(int rank) { return rank >= 0; }
static int the_last(int rank) { return rank == check_size - 1; }
static int root(int rank) { return rank == 0; }

static void of_operations(int call, MPI_Comm comm, int claimed) { use(call, comm, claimed); }

static void in_place(int call, MPI_Comm comm, int claimed) {
    int *own = filled(room(claimed, ELEMENTS), ELEMENTS, 5 + call);
    LOCKED(MPI_Allreduce(MPI_IN_PLACE, own, ELEMENTS, MPI_INT, MPI_MAX, comm));
    expect(own, ELEMENTS, 5 + call, 1);
}

/* With MPI_BOTTOM the address passed says nothing. */
static void derived(int call, MPI_Comm comm, int claimed) {
    int *own = room(claimed, 2 * ELEMENTS), rank;
    MPI_Datatype type, absolute;
    MPI_Aint at;
    MPI_Comm_rank(comm, &rank);
    filled(own, 2 * ELEMENTS, rank == 1 ? 30 : 500);
    MPI_Type_vector(ELEMENTS, 1, 2, MPI_INT, &type);
    MPI_Get_address(own, &at);
    int one = 1;
    MPI_Type_create_struct(1, &one, &at, &type, &absolute);
    MPI_Type_commit(&absolute);
    (void)call;
    LOCKED(MPI_Bcast(MPI_BOTTOM, 1, absolute, 1, comm));
    for (int i = 0; i < ELEMENTS; i++) {
        REQUIRE(own[2 * i] == 30 + 2 * i, "element %d is %d", i, own[2 * i]);
        int gap = (rank == 1 ? 30 : 500) + 2 * i + 1;
        REQUIRE(own[2 * i + 1] == gap, "behind element %d is %d", i, own[2 * i + 1]);
    }
    MPI_Type_free(&absolute);
    MPI_Type_free(&type);
}

/* The operations of which the root has the buffer with all ranks' blocks. */
static void at_the_root(int call, MPI_Comm comm, int claimed) { use(3 + call % 3, comm, claimed); }

static void nothing_to_send(int call, MPI_Comm comm, int claimed) {
    (void)call;
    LOCKED(MPI_Bcast(room(claimed, ELEMENTS), 0, MPI_INT, 0, comm));
}

static void of_managed(int call, MPI_Comm comm, int claimed) {
    int *own = claimed && has_runtime ? managed_take(ELEMENTS * sizeof(int)) : room(0, ELEMENTS);
    (void)call;
    filled(own, ELEMENTS, 9);
    LOCKED(MPI_Allreduce(MPI_IN_PLACE, own, ELEMENTS, MPI_INT, MPI_MAX, comm));
    expect(own, ELEMENTS, 9, 1);
}

/* The blocks received lie in as many pieces of memory as there are ranks, which differ in length. */
static void in_pieces(int call, MPI_Comm comm, int claimed) {
    int size, rank, counts[8], from[8], to[8], *blocks[8];
    (void)call;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int *own = filled(room(claimed, size * ELEMENTS), size * ELEMENTS, 1000 * rank);
    for (int i = 0; i < size; i++) {
        counts[i] = ELEMENTS - 1;
        from[i] = i * ELEMENTS;
        /* Lower and lower. */
        blocks[size - 1 - i] = filled(room(claimed, ELEMENTS), ELEMENTS, 7);
    }
    for (int i = 0; i < size; i++) to[i] = (int)(blocks[i] - blocks[0]);
    LOCKED(MPI_Alltoallv(own, counts, from, MPI_INT, blocks[0], counts, to, MPI_INT, comm));
    for (int i = 0; i < size; i++) {
        expect(blocks[i], ELEMENTS - 1, 1000 * i + rank * ELEMENTS, 1);
        REQUIRE(blocks[i][ELEMENTS - 1] == 7 + ELEMENTS - 1, "behind block %d is %d", i, blocks[i][ELEMENTS - 1]);
    }
}

/* Calls that one rank alone makes and MPI refuses: the others' next call is that rank's next one. */
static void refused(void) {
    MPI_Comm comm;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int call = 0; call < 150; call++) {
        int one = 1, sum = 0;
        OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
        REQUIRE(sum == check_size, "the sum is %d", sum);
        if (call % 10 == 5 && check_rank == 1)
            REQUIRE(MPI_Bcast(&one, -1, MPI_INT, 0, comm) != MPI_SUCCESS, "the call was not refused");
    }
    OK(MPI_Comm_free(&comm));
}

typedef void Body(int call, MPI_Comm comm, int claimed);

static const struct {
    const char *name;
    Body *body;
    int (*claims)(int rank);
    int is_managed;
    /* Calls before. */
    int host_calls;
} cases[] = {
    {"loaded late", of_operations, everybody, 0, 0}, {"host only", of_operations, nobody, 0, 0},
    {"one rank", of_operations, the_last, 0, 0},     {"all ranks", of_operations, everybody, 0, 0},
    {"in place", in_place, the_last, 0, 0},          {"derived types", derived, the_last, 0, 0},
    {"at the root", at_the_root, root, 0, 0},        {"nothing", nothing_to_send, the_last, 0, 0},
    {"managed", of_managed, everybody, 1, 0},        {"in pieces", in_pieces, everybody, 0, 0},
    {"late", in_place, the_last, 0, 130},
};

static void run(int number, const char *runtime, int locked) {
    MPI_Comm comm;
    char name[64];
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    snprintf(name, sizeof name, "%s", cases[number].name);
    MPI_Comm_set_name(comm, name);
    int claims = cases[number].claims(check_rank), calls = 0, any, copied;
    int host_calls = cases[number].host_calls ? cases[number].host_calls : 2 * HOST_CALLS;
    if (cases[number].host_calls && locked) locked = AFTER_CALLS;
    /* Twice, the second time as calls that came before. */
    for (int call = 0; call < host_calls; call++) {
        CASE("%s: host call %d", name, call);
        cases[number].body(call % HOST_CALLS, comm, 0);
    }
    OK(MPI_Barrier(comm));
    copies = 0;
    if (number == 0 && runtime != NULL) load(runtime);
    for (int call = 0; call < AFTER_CALLS; call++, calls++) {
        CASE("%s: device call %d", name, call);
        locking = call < locked;
        cases[number].body(call, comm, claims);
    }
    locking = 0;
    /* With host memory again. */
    for (int call = 0; call < AFTER_CALLS; call++, calls++) {
        CASE("%s: host call %d after", name, call);
        cases[number].body(call, comm, 0);
    }
    claims = claims && has_runtime && !cases[number].is_managed;
    PMPI_Allreduce(&claims, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    PMPI_Allreduce(&copies, &copied, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (check_rank == 0)
        printf("case %s: %s %d %d %d\n", name, any ? "claimed" : "unclaimed", host_calls * check_size, calls * check_size, copied);
    OK(MPI_Comm_free(&comm));
    if (has_runtime) device_give_all_back();
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    if (argc < 4) return check_finish();
    const char *runtime = check_rank >= atoi(argv[2]) ? argv[1] : NULL;
    for (int i = 0; i < (int)(sizeof cases / sizeof *cases); i++) run(i, runtime, i == 0 && argc > 4 ? 0 : atoi(argv[3]));
    refused();
    if (has_runtime) REQUIRE(device_contexts() == 0, "%d contexts are left", device_contexts());
    /* check.h does not count them. */
    if (check_rank == 0) printf("check: barrier calls %d\n", (int)(sizeof cases / sizeof *cases) * check_size);
    if (has_runtime) printf("rank %d was asked: %s\n", check_rank, device_asked() > 0 ? "yes" : "no");
    return check_finish();
}
