/* What the test programs share: calls counted, differences told with rank, call, element and both values, buffers with
 * canaries, and one job's ranks parted into communicators of many sizes.
 *
 * A program compares what MPI_X gives (Collie's, under the preload) with what PMPI_X gives (the native one) in the same
 * run. It ends with `return check_finish();`: 1 on every rank if any rank met a difference. */
#ifndef CHECK_H
#define CHECK_H

#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNUSED __attribute__((unused))

enum { BCAST, REDUCE, ALLREDUCE, GATHER, SCATTER, ALLGATHER, ALLTOALL, ALLTOALLV, OPERATIONS };

static const char *const check_names[OPERATIONS] = {"bcast",   "reduce",    "allreduce", "gather",
                                                    "scatter", "allgather", "alltoall",  "alltoallv"};
static long check_calls[OPERATIONS];
static long check_failures;
static int check_rank, check_size;
static __thread char check_case[320];

static inline int check_count(int operation) {
    __atomic_add_fetch(&check_calls[operation], 1, __ATOMIC_RELAXED);
    return 0;
}

/* A macro does not expand inside itself, so every call below is the real one, counted on its way. */
#define MPI_Bcast(...) (check_count(BCAST), MPI_Bcast(__VA_ARGS__))
#define MPI_Reduce(...) (check_count(REDUCE), MPI_Reduce(__VA_ARGS__))
#define MPI_Allreduce(...) (check_count(ALLREDUCE), MPI_Allreduce(__VA_ARGS__))
#define MPI_Gather(...) (check_count(GATHER), MPI_Gather(__VA_ARGS__))
#define MPI_Scatter(...) (check_count(SCATTER), MPI_Scatter(__VA_ARGS__))
#define MPI_Allgather(...) (check_count(ALLGATHER), MPI_Allgather(__VA_ARGS__))
#define MPI_Alltoall(...) (check_count(ALLTOALL), MPI_Alltoall(__VA_ARGS__))
#define MPI_Alltoallv(...) (check_count(ALLTOALLV), MPI_Alltoallv(__VA_ARGS__))
#if MPI_VERSION >= 4
#define MPI_Bcast_c(...) (check_count(BCAST), MPI_Bcast_c(__VA_ARGS__))
#define MPI_Reduce_c(...) (check_count(REDUCE), MPI_Reduce_c(__VA_ARGS__))
#define MPI_Allreduce_c(...) (check_count(ALLREDUCE), MPI_Allreduce_c(__VA_ARGS__))
#define MPI_Gather_c(...) (check_count(GATHER), MPI_Gather_c(__VA_ARGS__))
#define MPI_Scatter_c(...) (check_count(SCATTER), MPI_Scatter_c(__VA_ARGS__))
#define MPI_Allgather_c(...) (check_count(ALLGATHER), MPI_Allgather_c(__VA_ARGS__))
#define MPI_Alltoall_c(...) (check_count(ALLTOALL), MPI_Alltoall_c(__VA_ARGS__))
#define MPI_Alltoallv_c(...) (check_count(ALLTOALLV), MPI_Alltoallv_c(__VA_ARGS__))
#endif

/* Says which call the following comparisons are about. */
#define CASE(...) snprintf(check_case, sizeof check_case, __VA_ARGS__)

/* Tells a difference; only the first few of a rank, since one mistake shows in thousands of elements. */
__attribute__((format(printf, 1, 2))) UNUSED static void fail(const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (__atomic_add_fetch(&check_failures, 1, __ATOMIC_RELAXED) <= 5)
        fprintf(stderr, "rank %d of %d: %s: %s\n", check_rank, check_size, check_case, text);
}

#define REQUIRE(condition, ...) \
    do { \
        if (!(condition)) fail(__VA_ARGS__); \
    } while (0)

/* The call returned success, or the job ends: the ranks would no longer agree on what comes next. */
#define OK(call) \
    do { \
        int code_ = (call); \
        if (code_ != MPI_SUCCESS) { \
            fprintf(stderr, "rank %d of %d: %s: %s returned %d\n", check_rank, check_size, check_case, #call, code_); \
            PMPI_Abort(MPI_COMM_WORLD, 2); \
        } \
    } while (0)

/* Two results of `bytes` bytes, told by elements of `element` bytes. */
UNUSED static void check_same(const void *ours, const void *native, size_t bytes, size_t element) {
    const unsigned char *a = ours, *b = native;
    if (bytes == 0 || memcmp(a, b, bytes) == 0) return;
    size_t first = 0;
    while (a[first] == b[first]) first++;
    size_t start = first / element * element, end = start + element < bytes ? start + element : bytes;
    char left[80] = "", right[80] = "";
    for (size_t i = start, at = 0; i < end && at + 4 < sizeof left; i++, at += 2) {
        snprintf(left + at, 3, "%02x", a[i]);
        snprintf(right + at, 3, "%02x", b[i]);
    }
    fail("element %zu (of %zu bytes): ours 0x%s, native 0x%s", start / element, element, left, right);
}

UNUSED static void check_start_thread(int *argc, char ***argv, int level) {
    int provided;
    if (level == MPI_THREAD_SINGLE) MPI_Init(argc, argv);
    else MPI_Init_thread(argc, argv, level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
}

UNUSED static void check_start(int *argc, char ***argv) { check_start_thread(argc, argv, MPI_THREAD_SINGLE); }

/* 1 on every rank if any rank failed. Rank 0 prints how many calls all ranks made, for the report's check. */
UNUSED static int check_tell(void) {
    long failures = 0, calls[OPERATIONS];
    PMPI_Allreduce(&check_failures, &failures, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    PMPI_Reduce(check_calls, calls, OPERATIONS, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (check_rank == 0) {
        for (int i = 0; i < OPERATIONS; i++)
            if (calls[i]) printf("check: %s calls %ld\n", check_names[i], calls[i]);
        printf("check: %ld differences\n", failures);
        fflush(stdout);
    }
    return failures != 0;
}

/* The same, and finalizes. */
UNUSED static int check_finish(void) {
    const int differ = check_tell();
    MPI_Finalize();
    return differ;
}

/* Memory for `count` elements of a type, canaries around and in its gaps. `at` is what the call gets. */
typedef struct {
    unsigned char *base;
    size_t size;
    void *at;
} Memory;

/* Eight bytes at a time, each from its place alone: no step waits for the one before it. */
UNUSED static void check_fill(Memory memory, unsigned seed) {
    for (size_t i = 0; i < memory.size; i += 8) {
        uint64_t word = (i + 1) * 0x9e3779b97f4a7c15u ^ (seed + 1) * 0xd1342543de82ef95u;
        word = (word ^ word >> 32) * 0xbf58476d1ce4e5b9u;
        word ^= word >> 29;
        memcpy(memory.base + i, &word, memory.size - i < 8 ? memory.size - i : 8);
    }
}

/* The first byte of `size` that `mask` leaves out and that the other has differently; `size` without one. */
UNUSED static size_t check_outside(const unsigned char *mask, const unsigned char *one, const unsigned char *other,
                                   size_t size) {
    size_t i = 0;
    for (; i + 8 <= size; i += 8) {
        uint64_t a, b, m;
        memcpy(&a, one + i, 8);
        memcpy(&b, other + i, 8);
        memcpy(&m, mask + i, 8);
        if ((a ^ b) & ~m) break;
    }
    while (i < size && (mask[i] || one[i] == other[i])) i++;
    return i;
}

UNUSED static Memory check_memory(MPI_Datatype type, long count, unsigned seed) {
    MPI_Aint lower, extent, true_lower, true_extent;
    PMPI_Type_get_extent(type, &lower, &extent);
    PMPI_Type_get_true_extent(type, &true_lower, &true_extent);
    MPI_Aint first = true_lower, last = true_lower + true_extent;
    if (count > 1) {
        MPI_Aint shift = (count - 1) * extent;
        if (shift < 0) first += shift;
        else last += shift;
    }
    if (count <= 0) first = last = 0;
    const size_t margin = 64;
    Memory memory = {.size = (size_t)(last - first) + 2 * margin};
    /* Elements stay aligned to 16 bytes whatever the lower bound is. */
    size_t shift = (size_t)((first % 16 + 16) % 16);
    memory.base = aligned_alloc(64, (memory.size + shift + 63) / 64 * 64);
    if (memory.base == NULL) {
        fprintf(stderr, "no memory for %zu bytes\n", memory.size);
        PMPI_Abort(MPI_COMM_WORLD, 3);
    }
    memory.size += shift;
    memory.at = memory.base + margin + shift - first;
    check_fill(memory, seed);
    return memory;
}

UNUSED static void check_free(Memory memory) { free(memory.base); }

/* Bytes outside the type map of `count` elements are still what `seed` filled in. */
UNUSED static void check_gaps(Memory memory, MPI_Datatype type, long count, unsigned seed) {
    int bytes;
    PMPI_Type_size(type, &bytes);
    size_t total = (size_t)bytes * (size_t)count;
    unsigned char *ones = malloc(total + 1), *mask = calloc(memory.size, 1);
    Memory fresh = {.base = malloc(memory.size), .size = memory.size};
    memset(ones, 0xff, total);
    int position = 0;
    if (total)
        PMPI_Unpack(ones, (int)total, &position, mask + ((unsigned char *)memory.at - memory.base), (int)count, type,
                    MPI_COMM_SELF);
    check_fill(fresh, seed);
    const size_t i = check_outside(mask, memory.base, fresh.base, memory.size);
    if (i < memory.size)
        fail("byte %ld outside the type map was 0x%02x and is 0x%02x",
             (long)(memory.base + i - (unsigned char *)memory.at), fresh.base[i], memory.base[i]);
    free(ones);
    free(mask);
    free(fresh.base);
}

/* The bytes of the type signature in type map order; the caller frees them. */
UNUSED static unsigned char *check_packed(const void *at, int count, MPI_Datatype type, int *bytes) {
    PMPI_Type_size(type, bytes);
    *bytes *= count;
    unsigned char *packed = malloc((size_t)*bytes + 1);
    int position = 0;
    if (*bytes) PMPI_Pack(at, count, type, packed, *bytes, &position, MPI_COMM_SELF);
    return packed;
}

/* Runs `body` on MPI_COMM_WORLD and on its parts; of 8 ranks: 8, 7 1, 5 3 (reversed), 4 2 2, so that one job covers
 * communicators of 1, 2, 3, 4, 5, 7 and 8 ranks. */
UNUSED static void check_on_parts(void (*body)(MPI_Comm comm, int rank, int size)) {
    for (int layout = 0; layout < 4; layout++) {
        const int least[] = {0, 8, 6, 5};
        if (check_size < least[layout]) continue;
        int color = layout == 0 ? 0 : layout == 1 ? check_rank >= 7 : layout == 2 ? check_rank >= 5 : 0;
        if (layout == 3) color = check_rank < 4 ? 0 : 1 + (check_rank - 4) / 2;
        MPI_Comm comm = MPI_COMM_WORLD;
        if (layout) OK(MPI_Comm_split(MPI_COMM_WORLD, color, layout == 2 ? -check_rank : check_rank, &comm));
        int rank, size;
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        body(comm, rank, size);
        if (layout) OK(MPI_Comm_free(&comm));
    }
}

/* The operations named on the command line, with commas between them, or all of them. */
UNUSED static int check_wanted(int argc, char **argv, int operation) {
    char names[128], name[32];
    if (argc < 2) return 1;
    snprintf(names, sizeof names, ",%s,", argv[1]);
    snprintf(name, sizeof name, ",%s,", check_names[operation]);
    return strstr(names, name) != NULL;
}

/* Whether the command line has the word "thin": fewer cases, since all of them are in another job. */
UNUSED static int check_thin(int argc, char **argv) {
    int thin = 0;
    for (int i = 1; i < argc; i++) thin |= strcmp(argv[i], "thin") == 0;
    return thin;
}

#endif
