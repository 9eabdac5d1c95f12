/* Defects of MPI libraries that tests of Collie came upon, each as small as it gets. Natively, without Collie:
 *
 *   mpicc defects.c -o defects && mpirun -n 2 ./defects CASE
 *
 * The case init_after_session, of sessions, is apart from the others, which begin with MPI_Init.
 *
 * Ends with 0 where the library is right; with 1 where its result is wrong; or it crashes. docs/native-defects.md has what came
 * out on which. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 20 };

static int rank, size;

/* The sum over three ints that lie backwards: each element's first one is its last in memory. */
static void add_backwards(void *in, void *inout, int *count, MPI_Datatype *type) {
    const int *left = in;
    int *right = inout;
    (void)type;
    for (int i = 0; i < *count; i++)
        for (int j = 0; j < 3; j++) right[3 * i - j] += left[3 * i - j];
}

/* A reduction by an operation of the program's over a type whose lower bound is negative. */
static int negative_bound(void) {
    int own[MOST], sum[MOST], wrong = 0;
    MPI_Datatype type;
    MPI_Op op;
    MPI_Type_create_hvector(3, 1, -(MPI_Aint)sizeof(int), MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(add_backwards, 1, &op);
    /* Often, since what is written beside a buffer may be missed by nobody for a while. */
    for (int call = 0; call < 50; call++) {
        for (int i = 0; i < MOST; i++) own[i] = 100 * rank + i, sum[i] = -7;
        MPI_Allreduce(own + 5, sum + 5, 3, type, op, MPI_COMM_WORLD);
        for (int i = 0; i < MOST; i++) {
            const int right = i >= 3 && i < 12 ? 100 * size * (size - 1) / 2 + size * i : -7;
            if (sum[i] != right) wrong = 1;
        }
    }
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    return wrong;
}

/* An allgather that sends ints one by one and receives them in threes. */
static int differing_maps(void) {
    enum { THREES = 31, INTS = 3 * THREES };
    int *own = malloc(INTS * sizeof(int)), *all = calloc((size_t)(INTS * size), sizeof(int)), wrong = 0;
    MPI_Datatype three;
    MPI_Type_contiguous(3, MPI_INT, &three);
    MPI_Type_commit(&three);
    for (int i = 0; i < INTS; i++) own[i] = 1000 * rank + i;
    MPI_Allgather(own, INTS, MPI_INT, all, THREES, three, MPI_COMM_WORLD);
    for (int i = 0; i < INTS * size; i++)
        if (all[i] != 1000 * (i / INTS) + i % INTS) wrong = 1;
    MPI_Type_free(&three);
    free(own);
    free(all);
    return wrong;
}

/* An error of the program's that the standard's error handling is for. */
static int null_datatype(void) {
    int own = 1, sum = 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    return MPI_Allreduce(&own, &sum, 1, MPI_DATATYPE_NULL, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS;
}

/* A reduction in place at another root than rank 0. */
static int reduce_in_place(void) {
    enum { INTS = 4000 };
    int *values = malloc(INTS * sizeof(int)), wrong = 0;
    const int root = size - 1;
    for (int i = 0; i < INTS; i++) values[i] = rank + i;
    MPI_Reduce(rank == root ? MPI_IN_PLACE : values, rank == root ? values : NULL, INTS, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    for (int i = 0; i < INTS && rank == root; i++)
        if (values[i] != size * (size - 1) / 2 + size * i) wrong = 1;
    free(values);
    return wrong;
}

/* Sums of bytes that wrap around alike wherever they stand in a vector. */
static int byte_sums(void) {
    enum { BYTES = 77 };
    signed char own[BYTES], sum[BYTES];
    int wrong = 0;
    memset(own, 100, sizeof own);
    MPI_Allreduce(own, sum, BYTES, MPI_SIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < BYTES; i++)
        if (sum[i] != (signed char)(100 * size)) wrong = 1;
    return wrong;
}

/* Ranks with no elements, told by a count of zero on some and by a type without data on others: the signatures are equal. */
static int nothing_in_two_ways(void) {
    MPI_Datatype none;
    int value = 1;
    MPI_Type_contiguous(0, MPI_INT, &none);
    MPI_Type_commit(&none);
    MPI_Bcast(&value, rank % 2, rank % 2 ? none : MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Type_free(&none);
    return 0;
}

/* The least of unsigned numbers of which one has the highest bit. */
static int unsigned_minimum(void) {
    unsigned long long own = rank == 0 ? 1ull << 63 : 5, least = 0;
    MPI_Allreduce(&own, &least, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    return least != 5;
}

/* A communicator is made of one that is being duplicated, in the same order on all ranks. Hangs where that is not possible. */
static int made_beside_duplicate(void) {
    for (int round = 0; round < 100; round++) {
        MPI_Comm duplicate, made;
        MPI_Request request;
        int one = 1, sum = 0;
        MPI_Comm_idup(MPI_COMM_WORLD, &duplicate, &request);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Comm_dup(MPI_COMM_WORLD, &made);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, duplicate);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, made);
        MPI_Comm_free(&duplicate);
        MPI_Comm_free(&made);
    }
    return 0;
}

static void look_away(MPI_Comm *comm, int *code, ...) { (void)comm, (void)code; }

/* A broadcast of -1 elements after which an error handler of the program's returns. */
static int error_after_handler(void) {
    MPI_Comm own;
    MPI_Errhandler handler;
    MPI_Comm_dup(MPI_COMM_SELF, &own);
    MPI_Comm_create_errhandler(look_away, &handler);
    MPI_Comm_set_errhandler(own, handler);
    const int code = MPI_Bcast(NULL, -1, MPI_INT, 0, own);
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&own);
    return code == MPI_SUCCESS;
}

/* A message of pairs with bytes between them that are nobody's. */
static int pair_messages(void) {
    struct {
        double value;
        int place;
    } own[20] = {{0}}, met[20];
    memset(met, -1, sizeof met);
    for (int i = 0; i < 20; i++) own[i].value = i / 4.0, own[i].place = i;
    MPI_Request request;
    MPI_Isend(own, 20, MPI_DOUBLE_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, &request);
    MPI_Recv(met, 20, MPI_DOUBLE_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    int wrong = 0;
    for (int i = 0; i < 20; i++) wrong |= met[i].value != i / 4.0 || met[i].place != i;
    return wrong;
}

/* The sum of Fortran's reals, as C programs may pass them. */
static int real_sum(void) {
    float own = 1.5f + rank, sum = -1;
    MPI_Allreduce(&own, &sum, 1, MPI_REAL, MPI_SUM, MPI_COMM_WORLD);
    return sum != 1.5f * size + size * (size - 1) / 2;
}

enum { FAR = 4096, APART = 16 };

/* The sum of one int in sixteen bytes, the first of them so many bytes beyond the address of the buffer. */
static void add_far(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *count; i++) {
        int left, right;
        memcpy(&left, (char *)in + FAR + APART * i, sizeof left);
        memcpy(&right, (char *)inout + FAR + APART * i, sizeof right);
        right += left;
        memcpy((char *)inout + FAR + APART * i, &right, sizeof right);
    }
}

/* A long reduction by an operation of the program's over a type whose data begin beyond the buffer's address. */
static int far_data(void) {
    const int count = 6000, one = 1, bytes = FAR + APART * count;
    const MPI_Aint far = FAR;
    char *own = calloc((size_t)bytes, 1), *sum = calloc((size_t)bytes, 1);
    int wrong = 0;
    MPI_Datatype block, type;
    MPI_Op op;
    MPI_Type_create_hindexed(1, &one, &far, MPI_INT, &block);
    MPI_Type_create_resized(block, FAR, APART, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(add_far, 1, &op);
    /* Often, as in negative_bound. */
    for (int call = 0; call < 20; call++) {
        for (int i = 0; i < count; i++) {
            const int value = rank + i;
            memcpy(own + FAR + APART * i, &value, sizeof value);
        }
        MPI_Allreduce(own, sum, count, type, op, MPI_COMM_WORLD);
        for (int i = 0; i < count; i++) {
            int found;
            memcpy(&found, sum + FAR + APART * i, sizeof found);
            if (found != size * (size - 1) / 2 + size * i) wrong = 1;
        }
    }
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    MPI_Type_free(&block);
    free(own);
    free(sum);
    return wrong;
}

/* The sum of Fortran's reals of quadruple precision, on machines on which long double is not as long. */
static int quadruple_sum(void) {
#if defined(__SIZEOF_FLOAT128__)
    __float128 own = (__float128)(1 + 3 * rank) / 3, sum = -1, right = 0;
    if (MPI_REAL16 == MPI_DATATYPE_NULL) return 0;
    MPI_Allreduce(&own, &sum, 1, MPI_REAL16, MPI_SUM, MPI_COMM_WORLD);
    for (int other = 0; other < size; other++) right += (__float128)(1 + 3 * other) / 3;
    const double apart = (double)(sum - right);
    return apart > 1e-30 || apart < -1e-30;
#else
    return 0;
#endif
}

/* A session that is there before MPI_Init, which is not its business: not yet called, and free to be. */
static int init_after_session(void) {
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
    int initialized = 1, failed;
    MPI_Session session;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Initialized(&initialized);
    failed = MPI_Init(NULL, NULL);
    MPI_Finalize();
    MPI_Session_finalize(&session);
    return initialized || failed;
#else
    return 2;
#endif
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "init_after_session") == 0) return init_after_session();
    static const struct {
        const char *name;
        int (*run)(void);
    } cases[] = {
        {"negative_bound", negative_bound}, {"differing_maps", differing_maps},           {"null_datatype", null_datatype},
        {"reduce_in_place", reduce_in_place}, {"byte_sums", byte_sums},                   {"nothing_in_two_ways", nothing_in_two_ways},
        {"unsigned_minimum", unsigned_minimum},   {"made_beside_duplicate", made_beside_duplicate},
        {"error_after_handler", error_after_handler}, {"pair_messages", pair_messages}, {"real_sum", real_sum},
        {"far_data", far_data},                   {"quadruple_sum", quadruple_sum},
    };
    const int number = (int)(sizeof cases / sizeof cases[0]);
    int wrong = 2, anywhere = 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < number; i++)
        if (argc == 2 && strcmp(argv[1], cases[i].name) == 0) wrong = cases[i].run();
    if (wrong == 2 && rank == 0) {
        fprintf(stderr, "defects: name one case:");
        for (int i = 0; i < number; i++) fprintf(stderr, " %s", cases[i].name);
        fprintf(stderr, "\n");
    }
    MPI_Allreduce(&wrong, &anywhere, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return anywhere;
}
